//! Operators of conditions: their words and what a missing value means to them (contract 4.2.4).

use std::str::FromStr;

/// The comparisons that conditions make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal.
    Lte,
    /// One of a list.
    In,
    /// None of a list.
    NotIn,
    /// The text or list contains the value.
    Contains,
    /// The text or list does not contain the value.
    NotContains,
}

impl Operator {
    /// All operators in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::Eq,
        Self::Neq,
        Self::Gt,
        Self::Gte,
        Self::Lt,
        Self::Lte,
        Self::In,
        Self::NotIn,
        Self::Contains,
        Self::NotContains,
    ];

    /// The word that the API uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Neq => "neq",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::In => "in",
            Self::NotIn => "not_in",
            Self::Contains => "contains",
            Self::NotContains => "not_contains",
        }
    }

    /// Returns true when a missing value matches.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::Neq | Self::NotIn | Self::NotContains)
    }
}

impl FromStr for Operator {
    type Err = UnknownOperator;

    fn from_str(text: &str) -> Result<Self, UnknownOperator> {
        Self::ALL.into_iter().find(|operator| operator.as_str() == text).ok_or(UnknownOperator)
    }
}

/// The text names no operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operator")]
pub struct UnknownOperator;
