//! Periods in which something other than measurements decides how the time of a service counts.

use crate::clock::Timestamp;
use crate::model::service::{OverrideStatus, ServiceKey};

/// Why the time of a window counts differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// The service was paused.
    Pause,
    /// A person set the status.
    Override(OverrideStatus),
    /// A planned maintenance of the service was in progress. Windows of several maintenances may overlap.
    Maintenance,
    /// A dependency was down, so it cannot be known whether the service itself worked.
    Unreachable,
}

impl WindowKind {
    /// The word for the kind in the database.
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

/// A period in which the time of a service counts differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceWindow {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The kind of the window.
    pub kind: WindowKind,
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive; `None` while the window is open.
    pub to: Option<Timestamp>,
}
