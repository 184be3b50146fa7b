//! A service without its configuration: the part needed by decisions about many services, and by status pages.
//!
//! The configuration of a service may be large. Code that works through many services reads outlines, so that its
//! cost does not depend on the size of configurations.

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
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// Check type, which never changes.
    pub check_type: CheckType,
    /// As the client wrote it; `None` only for manual services.
    pub target: Option<String>,
    /// `None` while the service is not configured, and for manual services.
    pub settings: Option<SettingsOutline>,
    /// Set exactly while the service is paused.
    pub pause: Option<ServicePause>,
    /// The status that a person states for the service.
    pub status_override: Option<StatusOverride>,
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
    /// Codes of the locations in the order of the client; `None` = all.
    pub assigned_probes: Option<Vec<String>>,
    /// Good results in a row that end an outage.
    pub recovery_checks: u8,
}

impl ServiceOutline {
    /// `is_configured` of contract 4.3.1.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.settings.is_some() || !self.check_type.is_probed()
    }

    /// Returns the address by which the engine finds it.
    #[must_use]
    pub const fn address(&self) -> ServiceAddress {
        ServiceAddress { id: self.id, key: self.key }
    }

    /// Returns the facts that decide its status beside measurements.
    #[must_use]
    pub fn status_facts(&self) -> StatusFacts {
        StatusFacts {
            check_type: self.check_type,
            is_paused: self.pause.is_some(),
            stated: self.status_override.as_ref().map(|stated| stated.status),
        }
    }
}
