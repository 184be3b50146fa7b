//! The part of everything that a caller may see: its organisation, or what an access scope shows of it.
//!
//! Finders of the store take a visibility instead of an organisation, so that none of them can return more than its caller
//! may see. The rows of a scope are decided in the store (`store::scope_filter`).

use crate::model::access::ApiToken;

/// The rows that a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visibility {
    organisation: i64,
    scope: Option<i64>,
}

impl Visibility {
    /// The whole of an organisation, by its database key: for work on behalf of the organisation itself, such as its
    /// public pages. A request of the API has the visibility of its caller.
    #[must_use]
    pub const fn whole(organisation: i64) -> Self {
        Self { organisation, scope: None }
    }

    /// The sight of a token: its organisation, as far as its access scope shows it.
    #[must_use]
    pub const fn of(token: &ApiToken) -> Self {
        Self { organisation: token.organisation, scope: token.access_scope }
    }

    /// Returns the database key of the organisation.
    #[must_use]
    pub const fn organisation(self) -> i64 {
        self.organisation
    }

    /// Returns the database key of the access scope that it is confined to; `None` = it shows the whole organisation.
    #[must_use]
    pub const fn scope(self) -> Option<i64> {
        self.scope
    }

    /// Returns true if an access scope confines it.
    #[must_use]
    pub const fn is_confined(self) -> bool {
        self.scope.is_some()
    }
}
