//! Reads the rules that decide on the status of a service (an addition to the contract): `confirmation`, `recovery_checks`,
//! `flapping_changes` and `flapping_minutes` in its settings.

use serde_json::Value;

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::BodyFields;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::services::settings::number::read_number;
use crate::model::quorum::{LOCATIONS, Quorum};
use crate::model::status_rules::{CHANGES, FlappingRule, MINUTES};
use crate::model::status_rules::{RECOVERY_CHECKS, StatusRules};

/// Returns the rules after a write: the sent ones, else the stored ones. Adds an error for an invalid rule.
pub(super) fn read_rules(members: &BodyFields<'_>, stored: StatusRules) -> StatusRules {
    let quorum = members.optional("confirmation").and_then(|field| read_quorum(&field));
    let FlappingRule { changes, minutes } = stored.flapping;
    StatusRules {
        quorum: quorum.unwrap_or(stored.quorum),
        recovery_checks: read_number(members, "recovery_checks", &RECOVERY_CHECKS, stored.recovery_checks),
        flapping: FlappingRule {
            changes: read_number(members, "flapping_changes", &CHANGES, changes),
            minutes: read_number(members, "flapping_minutes", &MINUTES, minutes),
        },
    }
}

/// Reads the quorum, which is a word or a number of locations.
fn read_quorum(field: &BodyField<'_>) -> Option<Quorum> {
    match field.value() {
        Value::Number(_) => {
            let number = field.integer((*LOCATIONS.start()).into()..=(*LOCATIONS.end()).into())?;
            u8::try_from(number).ok().map(Quorum::AtLeast)
        }
        Value::String(word) if Quorum::WORDS.contains(&word.as_str()) => word.parse().ok(),
        _ => {
            let number = format!("{} to {}", LOCATIONS.start(), LOCATIONS.end());
            field.refuse(FieldRule::unknown_word(&[Quorum::WORDS, &[&number]].concat()))
        }
    }
}
