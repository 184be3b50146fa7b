//! The access scope: a set of tags to which tokens can be confined.
//!
//! A confined token sees the services that carry at least one of the tags, and the resources that depend on them.

use crate::clock::Timestamp;
use crate::id::Id;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: std::ops::RangeInclusive<usize> = 1..=255;
/// Maximum number of tags of a scope.
pub const TAGS_MAX: usize = 50;

/// An access scope without its tags, which are stored separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessScope {
    /// Database key.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of its organisation.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl AccessScope {
    /// Returns the name in lower case, the form in which the names of an organisation are compared.
    #[must_use]
    pub fn folded(name: &str) -> String {
        name.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case() {
        assert_eq!(AccessScope::folded("Shop Team"), AccessScope::folded("shop TEAM"));
        assert_eq!(AccessScope::folded("ÄRZTE"), "ärzte");
    }
}
