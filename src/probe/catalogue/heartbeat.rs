//! The catalogue entry of `heartbeat`.

use super::entry::{CheckTypeDefinition, ConfigField, ConfigFieldKind, IntervalBounds};
use crate::model::check::CheckType;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Heartbeat,
    label: "Heartbeat",
    description: "The job calls an address; a call that does not arrive in time is a failure.",
    target_required: false,
    fields: &[ConfigField {
        name: "grace_seconds",
        kind: ConfigFieldKind::Number { default: 60, min: 0, max: 86_400 },
        label: "Grace",
        required: false,
        secret: false,
        help: Some("Extra seconds before a missed ping counts."),
    }],
    condition_fields: &[],
    default_conditions: &[],
    always_conditions: &[],
    by_subtype: None,
    interval: Some(IntervalBounds { default: 300, min: 30, max: 604_800 }),
};
