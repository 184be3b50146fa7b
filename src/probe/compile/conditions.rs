//! Compiles the conditions of a check. Nearly all services have the default ones, which are compiled once and shared.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::model::check::CheckType;
use crate::probe::catalogue::admission::{always_conditions, default_conditions};
use crate::probe::catalogue::{CheckTypeDefinition, definition};
use crate::probe::condition::{Condition, ConditionError};

/// The default conditions of a check type or of one of its subtypes.
struct DefaultConditions {
    check_type: CheckType,
    subtype: Option<&'static str>,
    /// The conditions in their stored form.
    records: Vec<Value>,
    compiled: Arc<[Condition]>,
}

static DEFAULTS: LazyLock<Box<[DefaultConditions]>> = LazyLock::new(|| {
    let types = CheckType::ALL.iter().map(|check_type| definition(*check_type));
    types.flat_map(defaults_of).collect()
});

fn defaults_of(definition: &'static CheckTypeDefinition) -> Vec<DefaultConditions> {
    let check_type = definition.check_type;
    let compiled = |subtype| {
        let records = default_conditions(check_type, subtype);
        let compiled = compile_each(definition, subtype, &records).ok()?;
        Some(DefaultConditions { check_type, subtype, records, compiled })
    };
    subtypes(definition).into_iter().filter_map(compiled).collect()
}

/// The subtypes of a check type, or `None` alone for a type without subtypes.
fn subtypes(definition: &'static CheckTypeDefinition) -> Vec<Option<&'static str>> {
    match definition.by_subtype {
        Some(rules) => rules.fields.iter().map(|(subtype, _)| Some(*subtype)).collect(),
        None => vec![None],
    }
}

/// Compiles stored conditions, or the default ones if there are none. The ones that always apply come last.
pub(super) fn compile_conditions(
    definition: &CheckTypeDefinition,
    subtype: Option<&str>,
    records: &[Value],
) -> Result<Arc<[Condition]>, ConditionError> {
    let check_type = definition.check_type;
    let default = DEFAULTS.iter().find(|known| known.check_type == check_type && known.subtype == subtype);
    match default {
        Some(default) if records.is_empty() || records == default.records => {
            Ok(Arc::clone(&default.compiled))
        }
        None if records.is_empty() => {
            compile_each(definition, subtype, &default_conditions(check_type, subtype))
        }
        _ => compile_each(definition, subtype, records),
    }
}

fn compile_each(
    definition: &CheckTypeDefinition,
    subtype: Option<&str>,
    records: &[Value],
) -> Result<Arc<[Condition]>, ConditionError> {
    let always = always_conditions(definition.check_type);
    let is_tested = |always: &Value| records.iter().any(|record| record["field"] == always["field"]);
    let additional = always.iter().filter(|always| !is_tested(always));
    records.iter().chain(additional).map(|record| Condition::compile(definition, subtype, record)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_conditions_are_shared() {
        for known in DEFAULTS.iter() {
            let definition = definition(known.check_type);
            for records in [&[], known.records.as_slice()] {
                let compiled = compile_conditions(definition, known.subtype, records).unwrap();
                assert!(Arc::ptr_eq(&compiled, &known.compiled), "{:?}", known.check_type);
            }
        }
    }

    #[test]
    fn all_default_conditions_can_be_compiled() {
        let all = CheckType::ALL.iter().map(|check_type| subtypes(definition(*check_type)).len());
        assert_eq!(DEFAULTS.len(), all.sum::<usize>());
    }
}
