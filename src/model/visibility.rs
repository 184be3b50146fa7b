//! What a caller may see: a whole organisation, or the part that an access scope shows.
//!
//! Queries of the store take a visibility instead of an organisation, so that none returns more than the caller may see.
//! Which rows a scope contains is decided in the store (`store::scope_filter`).

use crate::model::access::ApiToken;

/// The rows that a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visibility {
    organisation: i64,
    scope: Option<i64>,
}

impl Visibility {
    /// The whole organisation with this database key. For work on behalf of the organisation itself, such as its public
    /// pages; a request of the API has the visibility of its caller.
    #[must_use]
    pub const fn whole(organisation: i64) -> Self {
        Self { organisation, scope: None }
    }

    /// The visibility of a token: its organisation, or the part that its access scope shows.
    #[must_use]
    pub const fn of(token: &ApiToken) -> Self {
        Self { organisation: token.organisation, scope: token.access_scope }
    }

    /// Returns the database key of the organisation.
    #[must_use]
    pub const fn organisation(self) -> i64 {
        self.organisation
    }

    /// Returns the database key of the access scope; `None` if the whole organisation is visible.
    #[must_use]
    pub const fn scope(self) -> Option<i64> {
        self.scope
    }

    /// Returns true if only a part of the organisation is visible.
    #[must_use]
    pub const fn is_confined(self) -> bool {
        self.scope.is_some()
    }
}
