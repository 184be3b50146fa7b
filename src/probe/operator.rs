//! Operators of conditions: their names and their result for a missing value (contract 4.2.4).

use crate::model::word_enum::words;

words! {
    /// The comparisons that conditions make.
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
}

impl Operator {
    /// Returns true when a missing value matches.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::Neq | Self::NotIn | Self::NotContains)
    }
}
