//! The catalogue entry of `manual`.

use super::entry::CheckTypeDefinition;
use crate::model::check::CheckType;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Manual,
    label: "Manual",
    description: "Is not checked; its status is set by hand.",
    target_required: false,
    fields: &[],
    condition_fields: &[],
    default_conditions: &[],
    always_conditions: &[],
    by_subtype: None,
    interval: None,
};
