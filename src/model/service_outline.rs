//! A service without its configuration. Enough for status pages, and for decisions about many services.
//!
//! The configuration of a service may be large. Code that goes through many services reads outlines, so that its cost does
//! not depend on the size of configurations.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{ServiceAddress, ServiceKey, ServicePause, StatusFacts, StatusOverride};

/// A service without its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOutline {
    /// Key of the row.
    pub key: ServiceKey,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the service.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// Check type, which never changes.
    pub check_type: CheckType,
    /// The target as the client wrote it; `None` only for manual services.
    pub target: Option<String>,
    /// The settings; `None` for manual services, and until the service is configured.
    pub settings: Option<SettingsOutline>,
    /// The pause; `None` while the service is not paused.
    pub pause: Option<ServicePause>,
    /// The status that a person has set instead of the measured one, if any.
    pub status_override: Option<StatusOverride>,
    /// Creation time, by which lists are sorted.
    pub created_at: Timestamp,
}

/// The settings of a service that all check types share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsOutline {
    /// Seconds between two checks of one location.
    pub interval_seconds: u32,
    /// Seconds that one attempt may take, 1..60.
    pub timeout_seconds: u8,
    /// Further attempts before a bad result counts, 0..5.
    pub retries: u8,
    /// Codes of the checking locations, in the order of the client; `None` = all locations.
    pub assigned_probes: Option<Vec<String>>,
    /// Number of good results in a row that end an outage.
    pub recovery_checks: u8,
}

impl ServiceOutline {
    /// Returns true if the service can be monitored: `is_configured` of contract 4.3.1.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.settings.is_some() || !self.check_type.is_probed()
    }

    /// Returns the id and the key by which the engine finds the service.
    #[must_use]
    pub const fn address(&self) -> ServiceAddress {
        ServiceAddress { id: self.id, key: self.key }
    }

    /// Returns the facts other than measurements that decide the status.
    #[must_use]
    pub fn status_facts(&self) -> StatusFacts {
        StatusFacts {
            check_type: self.check_type,
            is_paused: self.pause.is_some(),
            stated: self.status_override.as_ref().map(|stated| stated.status),
        }
    }
}
