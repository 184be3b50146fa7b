//! Spans in which members decided how the time of a service counts.

use crate::clock::Timestamp;
use crate::model::service::{OverrideStatus, ServiceKey};

/// The kind of a window: the event during it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// The service was paused.
    Pause,
    /// A member stated its status.
    Override(OverrideStatus),
    /// Planned maintenance that covers it was in progress. Several may be open at a time, one for each maintenance.
    Maintenance,
    /// One of its dependencies was down: whether it works by itself cannot be known.
    Unreachable,
}

impl WindowKind {
    /// The word that the database uses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Override(_) => "override",
            Self::Maintenance => "maintenance",
            Self::Unreachable => "unreachable",
        }
    }
}

/// A window of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceWindow {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The kind of the window.
    pub kind: WindowKind,
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive; `None` while it lasts.
    pub to: Option<Timestamp>,
}
