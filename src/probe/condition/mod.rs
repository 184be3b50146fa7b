//! Conditions: the owner's definition of `degraded` and `down` for a service (contract 4.2.4).
//!
//! A [`Condition`] is compiled once from its stored record; testing it allocates only for headers that occur several
//! times. A missing value matches `neq`, `not_in` and `not_contains` only; a truncated value may leave the result
//! undecided. `catalogue` decides which records are allowed; each probe supplies the facts.

mod comparison;
pub mod report;

use std::borrow::Cow;
use std::fmt;

use http::HeaderMap;
use http::header::HeaderName;
use serde_json::Value;

use crate::model::check::CheckStatus;
use crate::probe::catalogue::admission::{ConditionFieldRef, field_of, value_fits};
use crate::probe::catalogue::{CheckTypeDefinition, ConditionKind};
use crate::probe::fact::{Fact, FactSource, TextPresence};
use crate::probe::finding::FindingValue;
use crate::probe::json_path::{JsonPath, JsonSearch};
use crate::probe::operator::Operator;
use comparison::{ObservedValue, Operand};

/// One condition, ready to be tested.
#[derive(Clone, Debug)]
pub struct Condition {
    subject: ConditionSubject,
    operator: Operator,
    operand: Operand,
    status: CheckStatus,
}

/// The finding that a condition tests.
#[derive(Clone, Debug)]
enum ConditionSubject {
    Number(Fact),
    Text(Fact),
    Body,
    List(Fact),
    Json(JsonPath),
    Header(HeaderName),
}

/// The result of testing a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionState {
    /// The status of the condition applies.
    Met,
    /// The status of the condition does not apply.
    Unmet,
    /// The result depends on data that were not read.
    Undecided,
}

impl ConditionState {
    /// The words of the states.
    pub const WORDS: &'static [&'static str] = &["met", "unmet", "undecided"];

    /// Returns the word of the state.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Unmet => "unmet",
            Self::Undecided => "undecided",
        }
    }

    const fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Unmet }
    }
}

/// A stored condition does not fit the catalogue. The error carries no value, because the value may be that of
/// a secret header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The field is not available for this type and subtype.
    #[error("the field of a condition is not available here")]
    Field,
    /// The operator is unknown, or not allowed for the field.
    #[error("the operator of a condition is not available here")]
    Operator,
    /// The value does not have the form that field and operator need.
    #[error("the value of a condition does not fit its field and operator")]
    Value,
    /// The status is neither `down` nor `degraded`.
    #[error("the status of a condition is neither down nor degraded")]
    Status,
}

/// What a condition says about an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionReport {
    /// The condition, without a value that might be a secret.
    pub condition: String,
    /// The status of a match.
    pub status: CheckStatus,
    /// Whether the condition is met.
    pub state: ConditionState,
    /// The value that the condition compares with; `None` if it might be a secret.
    pub expected: Option<String>,
    /// The value that was found; `None` if there was none, or for bodies, headers and addresses, which might hold secrets.
    pub found: Option<FindingValue>,
}

impl Condition {
    /// Compiles a stored record `{"field", "operator", "value", "status"}`.
    ///
    /// # Errors
    ///
    /// When the record is not permitted for this type and subtype.
    pub fn compile(
        definition: &CheckTypeDefinition,
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
            subject: ConditionSubject::of(&field).ok_or(ConditionError::Field)?,
            operator,
            operand: Operand::of(value).ok_or(ConditionError::Value)?,
            status: word("status").and_then(status_of).ok_or(ConditionError::Status)?,
        })
    }

    /// The status of a match: `Degraded` or `Down`.
    #[must_use]
    pub const fn status(&self) -> CheckStatus {
        self.status
    }

    /// Returns what the condition says about these facts.
    #[must_use]
    pub fn report(&self, facts: &impl FactSource) -> ConditionReport {
        let (expected, found) = match &self.subject {
            ConditionSubject::Number(fact) => (true, facts.number(*fact).map(FindingValue::Number)),
            // An address at which a request has ended may hold a secret.
            ConditionSubject::Text(Fact::FinalUrl) => (true, None),
            ConditionSubject::Text(fact) => {
                (true, facts.text(*fact).map(|text| FindingValue::Text(text.into_owned())))
            }
            ConditionSubject::List(fact) => {
                (true, facts.list(*fact).map(|items| FindingValue::List(items.to_vec())))
            }
            ConditionSubject::Body | ConditionSubject::Json(_) | ConditionSubject::Header(_) => (false, None),
        };
        ConditionReport {
            condition: self.to_string(),
            status: self.status,
            state: self.state(facts),
            expected: expected.then(|| self.operand.to_string()),
            found,
        }
    }

    /// Returns true when the response body must be kept for this condition.
    #[must_use]
    pub const fn needs_body(&self) -> bool {
        matches!(self.subject, ConditionSubject::Json(_) | ConditionSubject::Body)
    }

    /// Returns true when the response body must be read as JSON for this condition.
    #[must_use]
    pub const fn needs_json(&self) -> bool {
        matches!(self.subject, ConditionSubject::Json(_))
    }

    /// Returns true for `<fact> eq 0`, which means that something is missing rather than wrong.
    #[must_use]
    pub fn is_none_of(&self, fact: Fact) -> bool {
        matches!(self.subject, ConditionSubject::Number(own) if own == fact)
            && self.operator == Operator::Eq
            && matches!(self.operand, Operand::Number { value, .. } if value == 0.0)
    }

    /// Returns the state of the condition for these facts.
    #[must_use]
    pub fn state(&self, facts: &impl FactSource) -> ConditionState {
        let compare =
            |seen: &ObservedValue<'_>| ConditionState::of(seen.satisfies(self.operator, &self.operand));
        match self.subject.observe(facts, &self.operand) {
            SubjectObservation::Seen(seen) => compare(&seen),
            SubjectObservation::AtLeast(least) => match &self.operand {
                // The real number is at least `least`, which is larger than the value.
                Operand::Number { value, .. } if *value < least => compare(&ObservedValue::Number(least)),
                _ => ConditionState::Undecided,
            },
            SubjectObservation::Cut => ConditionState::Undecided,
            SubjectObservation::Missing => ConditionState::of(self.operator.is_negative()),
        }
    }

    /// Explains a match in one sentence for people, with measured numbers but without texts, headers and bodies.
    #[must_use]
    pub fn explain(&self, facts: &impl FactSource) -> String {
        match self.subject {
            ConditionSubject::Number(fact) => match facts.number(fact) {
                Some(number) => format!("Condition met: {self} (measured {})", RoundedNumber(number)),
                None => format!("Condition met: {self} (nothing measured)"),
            },
            _ => format!("Condition met: {self}"),
        }
    }
}

/// The conditions that decide the status of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecidingConditions<'a> {
    /// The met condition with the worst status; the first one of several.
    pub worst: Option<&'a Condition>,
    /// The first undecided condition that could have had a worse status.
    pub undecided: Option<&'a Condition>,
}

impl<'a> DecidingConditions<'a> {
    /// Tests the conditions; those that could not make the status worse are skipped.
    pub fn of(conditions: &'a [Condition], facts: &impl FactSource) -> Self {
        let mut deciding = Self::default();
        for condition in conditions {
            if deciding.worst.is_some_and(|worst| condition.status <= worst.status) {
                continue;
            }
            match condition.state(facts) {
                ConditionState::Met => deciding.worst = Some(condition),
                ConditionState::Undecided => deciding.undecided = deciding.undecided.or(Some(condition)),
                ConditionState::Unmet => {}
            }
        }
        deciding
    }
}

/// The condition as configured, without the value where it might contain a secret or part of the target's answer.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = self.operator.as_str();
        match &self.subject {
            ConditionSubject::Json(path) => write!(f, "json.{path} {operator} the configured value"),
            ConditionSubject::Header(name) => write!(f, "header.{name} {operator} the configured value"),
            ConditionSubject::Body => write!(f, "body {operator} the configured text"),
            ConditionSubject::Number(fact) | ConditionSubject::Text(fact) | ConditionSubject::List(fact) => {
                write!(f, "{} {operator} {}", fact.as_str(), self.operand)
            }
        }
    }
}

/// A number with at most three decimals, without trailing zeros.
struct RoundedNumber(f64);

impl fmt::Display for RoundedNumber {
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

impl ConditionSubject {
    fn of(field: &ConditionFieldRef<'_>) -> Option<Self> {
        let fact = field.field.field.parse::<Fact>();
        match field.field.kind {
            ConditionKind::Number => fact.ok().map(Self::Number),
            ConditionKind::String => {
                fact.ok().map(|fact| if fact == Fact::Body { Self::Body } else { Self::Text(fact) })
            }
            ConditionKind::Array => fact.ok().map(Self::List),
            ConditionKind::Json => JsonPath::new(field.parameter?).map(Self::Json),
            ConditionKind::Header => field.parameter?.parse().ok().map(Self::Header),
        }
    }

    fn observe<'a>(&self, facts: &'a impl FactSource, operand: &Operand) -> SubjectObservation<'a> {
        let text = operand.as_text().unwrap_or_default();
        let seen = match self {
            Self::Number(fact) => match (facts.number(*fact), facts.at_least(*fact)) {
                (None, Some(least)) => return SubjectObservation::AtLeast(least),
                (number, _) => number.map(ObservedValue::Number),
            },
            Self::Text(fact) => facts.text(*fact).map(ObservedValue::Text),
            Self::Body => match facts.search_body(text) {
                Some(TextPresence::Undecided) => return SubjectObservation::Cut,
                Some(presence) => Some(ObservedValue::Body { holds: presence == TextPresence::Present }),
                None => None,
            },
            Self::List(fact) => facts.list(*fact).map(|items| ObservedValue::List(*fact, items)),
            Self::Json(path) => match facts.json().map(|document| path.find(document, text)) {
                Some(JsonSearch::Undecided) => return SubjectObservation::Cut,
                Some(JsonSearch::Found(found)) => Some(ObservedValue::Json(found)),
                Some(JsonSearch::Missing) | None => None,
            },
            Self::Header(name) => {
                facts.headers().and_then(|headers| joined(headers, name)).map(ObservedValue::Text)
            }
        };
        seen.map_or(SubjectObservation::Missing, SubjectObservation::Seen)
    }
}

/// The value that a condition tests, or what is known about it.
enum SubjectObservation<'a> {
    Seen(ObservedValue<'a>),
    /// The exact number is unknown, but is at least this.
    AtLeast(f64),
    /// Unknown: the value may be beyond the end of the data that were read.
    Cut,
    Missing,
}

/// Returns the values of a header as one text, joined as in RFC 9110, section 5.2.
fn joined<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Cow<'a, str>> {
    let values = headers.get_all(name).iter();
    values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .reduce(|all, next| Cow::Owned(format!("{all}, {next}")))
}

#[cfg(test)]
mod tests;
