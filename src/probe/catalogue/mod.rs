//! The catalogue of check types (contract 4.2): one set of definitions, from which the API shows the types, validates
//! requests, and fills in defaults.
//!
//! The catalogue holds the shapes and limits of configuration fields and conditions. `entry` defines the form
//! of an entry, each type has its entry in a file of its own, and [`admission`] has the rules that follow from
//! the entries. No check is run here.

mod addressing;
pub mod admission;
mod dns;
mod entry;
mod heartbeat;
mod http;
mod icmp;
mod manual;
mod operators;
mod ssl;
mod tcp;

use crate::model::check::CheckType;

pub use entry::{
    CheckTypeDefinition, ConditionField, ConditionKind, ConfigField, ConfigFieldKind, DefaultCondition,
    FieldParameter, IntervalBounds, SubtypeRules,
};

/// Returns the catalogue's entry for a type.
#[must_use]
pub const fn definition(check_type: CheckType) -> &'static CheckTypeDefinition {
    match check_type {
        CheckType::Http => &http::DEFINITION,
        CheckType::Tcp => &tcp::DEFINITION,
        CheckType::Dns => &dns::DEFINITION,
        CheckType::Icmp => &icmp::DEFINITION,
        CheckType::Ssl => &ssl::DEFINITION,
        CheckType::Manual => &manual::DEFINITION,
        CheckType::Heartbeat => &heartbeat::DEFINITION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::fact::Fact;

    #[test]
    fn every_type_has_its_own_definition() {
        for check_type in CheckType::ALL {
            assert_eq!(definition(check_type).check_type, check_type);
        }
    }

    /// A condition on a field without a fact could be stored, but its value would never be found.
    #[test]
    fn every_plain_condition_field_is_a_fact_and_every_fact_a_field() {
        let fields = || {
            let definitions = CheckType::ALL.into_iter().map(definition);
            definitions.flat_map(|definition| definition.condition_fields)
        };
        for field in fields().filter(|field| field.parametric.is_none()) {
            assert!(field.field.parse::<Fact>().is_ok(), "{}", field.field);
        }
        for fact in Fact::ALL {
            assert!(fields().any(|field| field.field == fact.as_str()), "{fact:?}");
        }
    }

    #[test]
    fn the_subtypes_of_dns_are_the_options_of_its_field() {
        let dns = definition(CheckType::Dns);
        let subtypes = dns.by_subtype.unwrap();
        let ConfigFieldKind::Select { options, .. } = dns.field(subtypes.field).unwrap().kind else {
            panic!("{} is not a select", subtypes.field);
        };
        let named: Vec<_> = subtypes.fields.iter().map(|(value, _)| *value).collect();
        assert_eq!(named, options);
    }
}
