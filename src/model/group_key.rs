//! Common properties by which failures of services are grouped into one incident.

use crate::model::service::ServiceKey;

/// A property that services share: failures of services with the same key belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// Services that carry the tag with this database key.
    Tag(i64),
    /// The service with this database key, and the services that depend on it.
    Service(ServiceKey),
}

impl GroupKey {
    /// The [`kind`](Self::kind) of keys by tag.
    pub const TAG: &'static str = "tag";
    /// The [`kind`](Self::kind) of keys by service.
    pub const SERVICE: &'static str = "service";

    /// Returns the kind of the key as a word, as the database stores it.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Tag(_) => Self::TAG,
            Self::Service(_) => Self::SERVICE,
        }
    }

    /// Returns the database key of the tag or the service.
    #[must_use]
    pub const fn row(self) -> i64 {
        match self {
            Self::Tag(row) | Self::Service(row) => row,
        }
    }

    /// Returns the key of this kind for the tag or service with the database key `row`; `None` for an unknown kind.
    #[must_use]
    pub fn from_row(kind: &str, row: i64) -> Option<Self> {
        match kind {
            Self::TAG => Some(Self::Tag(row)),
            Self::SERVICE => Some(Self::Service(row)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_the_database() {
        for key in [GroupKey::Tag(7), GroupKey::Service(7)] {
            assert_eq!(GroupKey::from_row(key.kind(), key.row()), Some(key));
        }
        assert_eq!(GroupKey::from_row("page", 7), None);
    }
}
