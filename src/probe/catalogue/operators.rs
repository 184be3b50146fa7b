//! The sets of operators for the condition fields of contract 4.2.4.

use super::entry::{ConditionField, ConditionKind};
use crate::probe::fact::Fact;
use crate::probe::operator::Operator;

/// Operators for durations, which are never compared for equality.
pub(super) const ORDERED: &[Operator] = &[Operator::Gt, Operator::Gte, Operator::Lt, Operator::Lte];

/// Operators for counts and other whole numbers.
pub(super) const NUMERIC: &[Operator] =
    &[Operator::Eq, Operator::Neq, Operator::Gt, Operator::Gte, Operator::Lt, Operator::Lte];

/// Operators for texts that may be compared as a whole.
pub(super) const TEXTUAL: &[Operator] =
    &[Operator::Eq, Operator::Neq, Operator::Contains, Operator::NotContains];

/// Operators for lists, and for texts too long to be compared as a whole.
pub(super) const CONTAINING: &[Operator] = &[Operator::Contains, Operator::NotContains];

/// The condition field that every type with a measurement has.
pub(super) const RESPONSE_TIME: ConditionField =
    ConditionField::plain(Fact::ResponseTimeMs, "Response time", ConditionKind::Number, ORDERED)
        .measured_in("ms");
