//! Reads `settings.config.conditions` (contract 4.2.4), and adapts the stored conditions when the DNS record type changes.
//!
//! The catalogue decides which conditions are valid; this module adds the path and the text of an error. `probe::condition`
//! evaluates conditions.

use serde_json::{Value, json};

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::model::check::CheckStatus;
use crate::model::vault::ServiceVault;
use crate::probe::catalogue::admission::{default_conditions, field_of, value_fits};
use crate::probe::catalogue::{CheckTypeDefinition, ConditionField, ConditionKind};
use crate::probe::operator::Operator;

const MAX_CONDITIONS: usize = 20;
const KEYS: [&str; 4] = ["field", "operator", "value", "status"];
const STATUSES: [&str; 2] = [CheckStatus::Down.as_str(), CheckStatus::Degraded.as_str()];

/// Check type and subtype of a service, on which the validity of its conditions depends.
#[derive(Clone, Copy, Debug)]
pub struct ConditionContext<'a> {
    /// Definition of the service's check type.
    pub definition: &'static CheckTypeDefinition,
    /// Value of the field on which the condition fields depend (`dns_type`); `None` if the check type has no such field.
    pub subtype: Option<&'a str>,
}

impl ConditionContext<'_> {
    /// Returns the conditions that are stored when the client sends none.
    #[must_use]
    pub fn defaults(&self) -> Vec<Value> {
        default_conditions(self.definition.check_type, self.subtype)
    }

    fn field(&self, name: &str) -> Option<&'static ConditionField> {
        field_of(self.definition, self.subtype, name).map(|found| found.field)
    }

    fn missing_field(&self) -> FieldRule {
        if self.definition.by_subtype.is_some() {
            FieldRule::ConditionFieldOfRecord
        } else {
            FieldRule::ConditionField
        }
    }

    /// Reads a list of conditions; an empty list means the defaults.
    #[must_use]
    pub fn read(&self, field: &BodyField<'_>, vault: &ServiceVault<'_>) -> Option<Vec<Value>> {
        let entries = field.list(MAX_CONDITIONS)?;
        if entries.is_empty() {
            return Some(self.defaults());
        }
        // All entries are read before the first error ends reading, so that every error is reported.
        let conditions: Vec<_> = entries.iter().map(|entry| self.read_one(entry, vault)).collect();
        conditions.into_iter().collect()
    }

    fn read_one(&self, entry: &BodyField<'_>, vault: &ServiceVault<'_>) -> Option<Value> {
        let record = ConditionFields { members: member_of(entry, vault)?.object()?, vault };
        let field = record.text("field");
        let known = field
            .as_ref()
            .and_then(|(field, name)| self.field(name).or_else(|| field.refuse(self.missing_field())));
        let operator = record.operator(known);
        let value = record.value(known, operator);
        let status = record.word("status", &STATUSES);
        record.members.refuse_unknown(&KEYS);
        known?;
        Some(json!({"field": field?.1, "operator": operator?.as_str(), "value": value?, "status": status?}))
    }

    /// Returns the stored conditions after a change of the subtype from `before`, if no conditions were sent. Old defaults
    /// are replaced by new defaults. A condition that is no longer valid adds an error under `path`.
    #[must_use]
    pub fn refit(
        &self,
        stored: &[Value],
        before: &ConditionContext<'_>,
        path: &str,
        errors: &ErrorCollector,
    ) -> Vec<Value> {
        if before.subtype == self.subtype {
            return stored.to_vec();
        }
        if stored == before.defaults() {
            return self.defaults();
        }
        for (at, condition) in stored.iter().enumerate() {
            let name = condition["field"].as_str().unwrap_or_default();
            if self.field(name).is_none() {
                errors.add(format!("{path}.{at}.field"), self.missing_field());
            }
        }
        stored.to_vec()
    }
}

/// The members of one condition.
struct ConditionFields<'a> {
    members: BodyFields<'a>,
    vault: &'a ServiceVault<'a>,
}

impl<'a> ConditionFields<'a> {
    fn member(&self, name: &str) -> Option<BodyField<'a>> {
        let field = self.members.required(name)?;
        member_of(&field, self.vault)?;
        Some(field)
    }

    fn text(&self, name: &str) -> Option<(BodyField<'a>, &'a str)> {
        let field = self.member(name)?;
        let text = field.string()?;
        Some((field, text))
    }

    fn word(&self, name: &str, allowed: &[&str]) -> Option<&'a str> {
        self.member(name)?.word(allowed)
    }

    /// Reads an operator of the field, or any operator if the field is unknown.
    fn operator(&self, field: Option<&ConditionField>) -> Option<Operator> {
        let known = field.map_or(&Operator::ALL[..], |field| field.operators);
        let words: Vec<&str> = known.iter().map(|operator| operator.as_str()).collect();
        self.word("operator", &words)?.parse().ok()
    }

    /// Reads a value that is valid for field and operator; if either is unknown, the value cannot be checked.
    fn value(&self, field: Option<&ConditionField>, operator: Option<Operator>) -> Option<Value> {
        let given = self.member("value")?;
        if given
            .value()
            .as_array()
            .is_some_and(|items| items.iter().any(|item| self.vault.is_placeholder(item)))
        {
            return given.refuse(FieldRule::SecretMisplaced);
        }
        let (field, operator) = (field?, operator?);
        let value = trimmed(field.kind, given.value());
        if self.vault.is_placeholder(&value) {
            return given.refuse(FieldRule::SecretMisplaced);
        }
        if value_fits(field.kind, operator, &value) {
            Some(value)
        } else {
            given.refuse(FieldRule::ConditionValue)
        }
    }
}

/// Returns the field, unless its value is the placeholder, which is an error.
fn member_of<'f, 'a>(field: &'f BodyField<'a>, vault: &ServiceVault<'_>) -> Option<&'f BodyField<'a>> {
    if vault.is_placeholder(field.value()) {
        return field.refuse(FieldRule::SecretMisplaced);
    }
    Some(field)
}

/// Trims texts. JSON values are not changed, because they are compared with the response of the target.
fn trimmed(kind: ConditionKind, value: &Value) -> Value {
    match (kind, value) {
        (ConditionKind::Json | ConditionKind::Number, _) => value.clone(),
        (_, Value::String(text)) => text.trim().into(),
        (_, Value::Array(items)) => items.iter().map(|item| trimmed(kind, item)).collect(),
        _ => value.clone(),
    }
}
