//! The first edge into each kind of trouble since a service was last up.
//!
//! The kinds that count depend on the policy, so all of them are kept, and the earliest wanted one decides when an
//! incident started and when it is due.

use crate::clock::Timestamp;
use crate::model::incident_policy::OutageKind;

/// The first edge into each kind of trouble since the service was last up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstEdges {
    /// Start of flapping; `None` without it.
    pub unstable: Option<Timestamp>,
    /// The first time at which it was degraded.
    pub degraded: Option<Timestamp>,
    /// The first time at which it was down.
    pub down: Option<Timestamp>,
}

impl FirstEdges {
    /// Trouble of this kind that starts at `at`, and nothing before it.
    #[must_use]
    pub const fn starting(kind: OutageKind, at: Timestamp) -> Self {
        Self { unstable: None, degraded: None, down: None }.with(kind, at)
    }

    /// Adds trouble of this kind at `at`, unless there was such trouble before.
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

    /// The start of flapping alone: the service was up meanwhile, which does not end that.
    #[must_use]
    pub const fn of_flapping(self) -> Self {
        Self { unstable: self.unstable, degraded: None, down: None }
    }

    /// The earliest edge into a wanted kind.
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
