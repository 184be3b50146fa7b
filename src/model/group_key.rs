//! Common properties by which failures of services are grouped into one incident.

use crate::model::service::ServiceKey;

/// A property that services share: failures of services with the same key belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// They carry the tag of this row.
    Tag(i64),
    /// They depend on this service, or are it.
    Service(ServiceKey),
}

impl GroupKey {
    /// The [`kind`](Self::kind) of keys by tag.
    pub const TAG: &'static str = "tag";
    /// The [`kind`](Self::kind) of keys by service.
    pub const SERVICE: &'static str = "service";

    /// The word for the kind of the key.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Tag(_) => Self::TAG,
            Self::Service(_) => Self::SERVICE,
        }
    }

    /// The key of the row that it names.
    #[must_use]
    pub const fn row(self) -> i64 {
        match self {
            Self::Tag(row) | Self::Service(row) => row,
        }
    }

    /// The key of this kind; `None` when the word is unknown.
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
