//! One check of a series, and the part of it for figures.

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Measurement};
use crate::model::history::{self, CheckRecord, StoredCheck};
use crate::model::location::LocationCode;
use crate::model::service::{ProbeRole, ServiceKey};
use std::num::NonZeroU32;

/// One check of a series: a [`CheckRecord`] without its service and location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEntry {
    /// The start of the deciding attempt; names the check within its series.
    pub checked_at: Timestamp,
    /// The moment at which the check was due.
    pub scheduled_at: Timestamp,
    /// The deciding attempt, from 1.
    pub attempt: u8,
    /// The role of the location, which decides how the result counts.
    pub role: ProbeRole,
    /// Findings about the target.
    pub measurement: Measurement,
}

impl CheckEntry {
    /// Returns the part that figures need.
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

    /// The record of this check in its series.
    #[must_use]
    pub fn into_record(self, service: ServiceKey, location: LocationCode) -> CheckRecord {
        let Self { checked_at, scheduled_at, attempt, role, measurement } = self;
        CheckRecord { service, location, role, scheduled_at, checked_at, attempt, measurement }
    }

    /// The entry of the check history, with the code of its location.
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
