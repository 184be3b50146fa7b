//! Conditions: what a service's owner calls `degraded` or `down` (contract 4.2.4).
//!
//! A [`Condition`] is compiled once from its stored record; testing it allocates nothing but for headers that occur
//! several times. A missing value matches `neq`, `not_in` and `not_contains` only. Which records are allowed is
//! decided by `catalogue`; where the facts come from, by each probe.

mod comparison;
mod operator;

use std::borrow::Cow;
use std::fmt;

use http::HeaderMap;
use http::header::HeaderName;
use serde_json::Value;

use crate::model::check::CheckStatus;
use crate::probe::catalogue::{ConditionKind, Definition, FieldRef, field_of, value_fits};
use crate::probe::fact::{Fact, Facts};
use crate::probe::json_path::JsonPath;
use comparison::{Observed, Operand};

pub use operator::Operator;

/// One condition, ready to be tested.
#[derive(Clone, Debug)]
pub struct Condition {
    subject: Subject,
    operator: Operator,
    operand: Operand,
    status: CheckStatus,
}

/// The finding that a condition looks at.
#[derive(Clone, Debug)]
enum Subject {
    Number(Fact),
    Text(Fact),
    List(Fact),
    Json(JsonPath),
    Header(HeaderName),
}

/// A stored condition does not fit the catalogue. Carries no value: it may be one of a secret header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// Not available for this type and subtype.
    #[error("the field of a condition is not available here")]
    Field,
    /// Unknown, or not one of the field's operators.
    #[error("the operator of a condition is not available here")]
    Operator,
    /// Not of the form that field and operator need.
    #[error("the value of a condition does not fit its field and operator")]
    Value,
    /// Neither `down` nor `degraded`.
    #[error("the status of a condition is neither down nor degraded")]
    Status,
}

impl Condition {
    /// Compiles a stored record `{"field", "operator", "value", "status"}`.
    ///
    /// # Errors
    /// When the record is not one that `catalogue` admits for this type and subtype.
    pub fn compile(
        definition: &Definition,
        subtype: Option<&str>,
        record: &Value,
    ) -> Result<Self, ConditionError> {
        let word = |key: &str| record.get(key).and_then(Value::as_str);
        let field = word("field").and_then(|name| field_of(definition, subtype, name));
        let field = field.ok_or(ConditionError::Field)?;
        let operator = word("operator").and_then(|text| text.parse().ok());
        let operator = operator.ok_or(ConditionError::Operator)?;
        if !field.field.operators.contains(&operator) {
            return Err(ConditionError::Operator);
        }
        let value = record.get("value").ok_or(ConditionError::Value)?;
        if !value_fits(field.field.kind, operator, value) {
            return Err(ConditionError::Value);
        }
        Ok(Self {
            subject: Subject::of(&field).ok_or(ConditionError::Field)?,
            operator,
            operand: Operand::of(value).ok_or(ConditionError::Value)?,
            status: word("status").and_then(status_of).ok_or(ConditionError::Status)?,
        })
    }

    /// The status that a match means: `Degraded` or `Down`.
    #[must_use]
    pub const fn status(&self) -> CheckStatus {
        self.status
    }

    /// Returns true when the response body must be kept for this condition.
    #[must_use]
    pub const fn needs_body(&self) -> bool {
        matches!(self.subject, Subject::Json(_) | Subject::Text(Fact::Body))
    }

    /// Returns true when the response body must be read as JSON for this condition.
    #[must_use]
    pub const fn needs_json(&self) -> bool {
        matches!(self.subject, Subject::Json(_))
    }

    /// Returns true for `<fact> eq 0`, which names the lack of something rather than a wrong value.
    #[must_use]
    pub fn is_none_of(&self, fact: Fact) -> bool {
        matches!(self.subject, Subject::Number(own) if own == fact)
            && self.operator == Operator::Eq
            && matches!(self.operand, Operand::Number(number) if number == 0.0)
    }

    /// Returns true when the facts are such that this condition's status applies.
    #[must_use]
    pub fn matches(&self, facts: &impl Facts) -> bool {
        match self.subject.observe(facts, &self.operand) {
            Some(seen) => seen.satisfies(self.operator, &self.operand),
            None => self.operator.is_negative(),
        }
    }

    /// One sentence for people. Numbers that were measured are shown; texts, headers and bodies never are.
    #[must_use]
    pub fn explain(&self, facts: &impl Facts) -> String {
        match self.subject {
            Subject::Number(fact) => match facts.number(fact) {
                Some(number) => format!("Condition met: {self} (measured {})", Rounded(number)),
                None => format!("Condition met: {self} (nothing measured)"),
            },
            _ => format!("Condition met: {self}"),
        }
    }
}

/// The condition with the worst status among those that match; the first of equals.
pub fn worst_condition<'a>(conditions: &'a [Condition], facts: &impl Facts) -> Option<&'a Condition> {
    let mut worst: Option<&Condition> = None;
    for condition in conditions {
        let is_worse = worst.is_none_or(|other| condition.status > other.status);
        if is_worse && condition.matches(facts) {
            worst = Some(condition);
        }
    }
    worst
}

/// The worst status among the conditions that match, with one sentence for people; `None` means `up`.
pub fn worst_match(conditions: &[Condition], facts: &impl Facts) -> Option<(CheckStatus, String)> {
    worst_condition(conditions, facts).map(|worst| (worst.status, worst.explain(facts)))
}

/// The condition as its owner wrote it, without the value where that might repeat what a target answered or
/// a secret.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = self.operator.as_str();
        match &self.subject {
            Subject::Json(path) => write!(f, "json.{path} {operator} the configured value"),
            Subject::Header(name) => write!(f, "header.{name} {operator} the configured value"),
            Subject::Text(Fact::Body) => write!(f, "body {operator} the configured text"),
            Subject::Number(fact) | Subject::Text(fact) | Subject::List(fact) => {
                write!(f, "{} {operator} {}", fact.as_str(), self.operand)
            }
        }
    }
}

/// A number with at most three decimals, and none where it is whole.
struct Rounded(f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 1000.0).round() / 1000.0)
    }
}

fn status_of(word: &str) -> Option<CheckStatus> {
    match word {
        "down" => Some(CheckStatus::Down),
        "degraded" => Some(CheckStatus::Degraded),
        _ => None,
    }
}

impl Subject {
    fn of(field: &FieldRef<'_>) -> Option<Self> {
        let fact = field.field.field.parse::<Fact>();
        match field.field.kind {
            ConditionKind::Number => fact.ok().map(Self::Number),
            ConditionKind::String => fact.ok().map(Self::Text),
            ConditionKind::Array => fact.ok().map(Self::List),
            ConditionKind::Json => JsonPath::new(field.parameter?).map(Self::Json),
            ConditionKind::Header => field.parameter?.parse().ok().map(Self::Header),
        }
    }

    fn observe<'a>(&self, facts: &'a impl Facts, operand: &Operand) -> Option<Observed<'a>> {
        match self {
            Self::Number(fact) => facts.number(*fact).map(Observed::Number),
            Self::Text(fact) => facts.text(*fact).map(Observed::Text),
            Self::List(fact) => facts.list(*fact).map(|items| Observed::List(*fact, items)),
            Self::Json(path) => {
                path.find(facts.json()?, operand.as_text().unwrap_or_default()).map(Observed::Json)
            }
            Self::Header(name) => joined(facts.headers()?, name).map(Observed::Text),
        }
    }
}

/// The values of a header as one text, joined as RFC 9110 5.2 says.
fn joined<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Cow<'a, str>> {
    let values = headers.get_all(name).iter();
    values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .reduce(|all, next| Cow::Owned(format!("{all}, {next}")))
}

#[cfg(test)]
mod tests;
