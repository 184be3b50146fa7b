//! The first status change into each kind of trouble since a service was last up.
//!
//! Policies want different kinds, so all kinds are stored. The earliest kind that the policy wants decides when an incident
//! started and when it is due.

use crate::clock::Timestamp;
use crate::model::incident_policy::OutageKind;

/// The first status change into each kind of trouble since the service was last up; `None` for kinds that did not occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstEdges {
    /// Start of flapping; `None` if the service is not flapping.
    pub unstable: Option<Timestamp>,
    /// The first time at which it was degraded; `None` if it was not.
    pub degraded: Option<Timestamp>,
    /// The first time at which it was down; `None` if it was not.
    pub down: Option<Timestamp>,
}

impl FirstEdges {
    /// Edges of an outage that starts with this kind at `at`.
    #[must_use]
    pub const fn starting(kind: OutageKind, at: Timestamp) -> Self {
        Self { unstable: None, degraded: None, down: None }.with(kind, at)
    }

    /// Adds trouble of this kind at `at`, unless an earlier time of this kind is stored.
    #[must_use]
    pub const fn with(self, kind: OutageKind, at: Timestamp) -> Self {
        const fn first(known: Option<Timestamp>, at: Timestamp) -> Option<Timestamp> {
            match known {
                Some(known) => Some(known),
                None => Some(at),
            }
        }
        match kind {
            OutageKind::Unstable => Self { unstable: first(self.unstable, at), ..self },
            OutageKind::Degraded => Self { degraded: first(self.degraded, at), ..self },
            OutageKind::Down => Self { down: first(self.down, at), ..self },
        }
    }

    /// Keeps only the start of flapping: the service was up for a moment, which does not end flapping.
    #[must_use]
    pub const fn of_flapping(self) -> Self {
        Self { unstable: self.unstable, degraded: None, down: None }
    }

    /// The earliest time among the wanted kinds; `None` if none of these occurred.
    #[must_use]
    pub fn earliest(&self, is_wanted: impl Fn(OutageKind) -> bool) -> Option<Timestamp> {
        let edges = [
            (OutageKind::Unstable, self.unstable),
            (OutageKind::Degraded, self.degraded),
            (OutageKind::Down, self.down),
        ];
        edges.into_iter().filter(|(kind, _)| is_wanted(*kind)).filter_map(|(_, edge)| edge).min()
    }
}
