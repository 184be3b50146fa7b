//! The catalogue entry of `tcp`.

use super::addressing::{IP_VERSION, SMART_DUALSTACK};
use super::entry::{CheckTypeDefinition, ConditionField, ConditionKind};
use super::operators::{NUMERIC, RESPONSE_TIME};
use crate::model::check::CheckType;
use crate::probe::fact::Fact;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Tcp,
    label: "TCP port",
    description: "Opens a TCP connection to a host and port and closes it again.",
    target_required: true,
    fields: &[IP_VERSION, SMART_DUALSTACK],
    condition_fields: &[
        RESPONSE_TIME,
        ConditionField::plain(Fact::ResolvedIpCount, "Resolved addresses", ConditionKind::Number, NUMERIC),
    ],
    default_conditions: &[],
    always_conditions: &[],
    by_subtype: None,
    interval: None,
};
