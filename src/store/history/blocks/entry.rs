//! One check as an entry of a block, and its conversions to and from the types of the model.

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Measurement};
use crate::model::history::{self, CheckRecord, StoredCheck};
use crate::model::location::LocationCode;
use crate::model::service::{ProbeRole, ServiceKey};
use std::num::NonZeroU32;

/// One check of a series: a [`CheckRecord`] without its service and location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEntry {
    /// Start of the deciding attempt; identifies the check within its series.
    pub checked_at: Timestamp,
    /// Time at which the check was due.
    pub scheduled_at: Timestamp,
    /// Number of the deciding attempt, from 1.
    pub attempt: u8,
    /// The role of the location, which decides how the result counts.
    pub role: ProbeRole,
    /// Measured status, times and failure.
    pub measurement: Measurement,
}

impl CheckEntry {
    /// Returns the part that uptime and response time figures need.
    #[must_use]
    pub fn sample(&self, location: i32) -> history::CheckSample {
        let counts = self.role == ProbeRole::Full;
        history::CheckSample {
            checked_at: self.checked_at,
            location,
            is_down: self.measurement.status == CheckStatus::Down,
            response_us: self.measurement.response_time.filter(|_| counts).map(NonZeroU32::get),
        }
    }

    /// Converts the entry to the record of a check of this service from this location.
    #[must_use]
    pub fn into_record(self, service: ServiceKey, location: LocationCode) -> CheckRecord {
        let Self { checked_at, scheduled_at, attempt, role, measurement } = self;
        CheckRecord { service, location, role, scheduled_at, checked_at, attempt, measurement }
    }

    /// Converts the entry to an item of the check history; `probe` is the code of its location.
    #[must_use]
    pub fn into_stored(self, probe: String) -> StoredCheck {
        let Self { checked_at, scheduled_at, attempt, measurement, .. } = self;
        StoredCheck { checked_at, probe, scheduled_at, attempt, measurement }
    }
}

impl From<CheckRecord> for CheckEntry {
    fn from(record: CheckRecord) -> Self {
        let CheckRecord { role, scheduled_at, checked_at, attempt, measurement, .. } = record;
        Self { checked_at, scheduled_at, attempt, role, measurement }
    }
}
