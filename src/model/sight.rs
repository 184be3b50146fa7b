//! The part of everything that a caller may see: its organisation.
//!
//! Finders of the store take a sight instead of an organisation, so that none of them can be asked for more than its caller
//! may see.

/// The rows that a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sight {
    organisation: i64,
}

impl Sight {
    /// The whole of an organisation, by its database key: for whoever acts for the organisation itself, such as its public
    /// pages. A request of the API sees what its caller sees.
    #[must_use]
    pub const fn whole(organisation: i64) -> Self {
        Self { organisation }
    }

    /// Returns the database key of the organisation.
    #[must_use]
    pub const fn organisation(self) -> i64 {
        self.organisation
    }
}
