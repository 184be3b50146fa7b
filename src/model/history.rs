//! The recorded history: finished checks and changes of the measured status.

use crate::clock::Timestamp;
use crate::model::check::Measurement;
use crate::model::location::LocationCode;
use crate::model::service::{ProbeRole, ServiceKey};
use crate::model::verdict::Verdict;
use crate::model::word_enum::words;

/// One finished check of one location, represented by its deciding attempt (contract 4.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRecord {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The location that made the check.
    pub location: LocationCode,
    /// The role of the location, which decides how the result counts.
    pub role: ProbeRole,
    /// The time at which the check was due.
    pub scheduled_at: Timestamp,
    /// The time at which the deciding attempt started.
    pub checked_at: Timestamp,
    /// Number of the deciding attempt, from 1.
    pub attempt: u8,
    /// The result of the deciding attempt.
    pub measurement: Measurement,
}

/// A finished check as read from the history, with the code of its location, which may have been deleted since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCheck {
    /// Start of the deciding attempt.
    pub checked_at: Timestamp,
    /// Code of the location.
    pub probe: String,
    /// The time at which the check was due.
    pub scheduled_at: Timestamp,
    /// Number of the deciding attempt, from 1.
    pub attempt: u8,
    /// The result of the deciding attempt.
    pub measurement: Measurement,
}

/// The parts of a finished check from which figures such as percentiles are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSample {
    /// Start of the deciding attempt.
    pub checked_at: Timestamp,
    /// Number of the location (`LocationNumbers`).
    pub location: i32,
    /// True if the result was `down`.
    pub is_down: bool,
    /// Response time in microseconds; `None` if the target did not answer, or the role of the location is not `full`.
    pub response_us: Option<u32>,
}

words! {
    /// The measured status of a service. Only time in `Up`, `Degraded` and `Down` counts as measured.
    #[derive(Default, strum::FromRepr)]
    #[repr(u8)]
    pub enum MeasuredStatus {
        /// Not known yet: just configured, resumed, or without fresh results.
        #[default]
        Unknown = 0,
        /// The verdict was up.
        Up = 1,
        /// The verdict was degraded.
        Degraded = 2,
        /// The verdict was down.
        Down = 3,
        /// No check was made (the process was down, or every location failed to check).
        NoData = 4,
    }
}

impl MeasuredStatus {
    /// The number of this status in the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The status with this database number; `None` for an unknown number.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        u8::try_from(code).ok().and_then(Self::from_repr)
    }

    /// The verdict of this status; `NoData` gives `Unknown`.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Unknown | Self::NoData => Verdict::Unknown,
            Self::Up => Verdict::Up,
            Self::Degraded => Verdict::Degraded,
            Self::Down => Verdict::Down,
        }
    }
}

impl From<Verdict> for MeasuredStatus {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Unknown => Self::Unknown,
            Verdict::Up => Self::Up,
            Verdict::Degraded => Self::Degraded,
            Verdict::Down => Self::Down,
        }
    }
}

words! {
    /// The reason why the measured status changed.
    #[derive(strum::FromRepr)]
    #[repr(u8)]
    pub enum ChangeCause {
        /// The votes of the locations.
        Votes = 0,
        /// No result came when one was due: the time since is no data.
        Gap = 1,
        /// All results became too old to count.
        Stale = 2,
        /// The service was paused or removed from checking.
        Paused = 3,
        /// Target or settings changed: older results no longer count.
        Reconfigured = 4,
        /// Imported results of another tool determine the status.
        Imported = 5,
        /// The wall clock was set back: the part of the timeline that now lies in the future ends, and the status continues
        /// from the present time.
        Clock = 6,
        /// Results that came late determine the status of a period that was no data.
        Filled = 7,
        /// The service started to flap; its status does not change.
        Flapping = 8,
        /// The service stopped flapping; its status does not change.
        Settled = 9,
    }
}

impl ChangeCause {
    /// Returns true if an entry with this cause records the start or end of flapping, not a change of the status.
    #[must_use]
    pub const fn is_about_flapping(self) -> bool {
        matches!(self, Self::Flapping | Self::Settled)
    }

    /// The number of this cause in the database.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The cause with this database number; `None` for an unknown number.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        u8::try_from(code).ok().and_then(Self::from_repr)
    }
}

/// A change of the measured status. Each change is a row in the database; uptime is computed from these rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The time of the change.
    pub at: Timestamp,
    /// Measured status before the change.
    pub from: MeasuredStatus,
    /// Measured status after the change.
    pub to: MeasuredStatus,
    /// The reason for the change.
    pub cause: ChangeCause,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_the_database() {
        for status in MeasuredStatus::ALL {
            assert_eq!(MeasuredStatus::from_code(status.code()), Some(status));
        }
        for cause in ChangeCause::ALL {
            assert_eq!(ChangeCause::from_code(cause.code()), Some(cause));
        }
        assert_eq!(MeasuredStatus::from_code(5), None);
        assert_eq!(ChangeCause::from_code(10), None);
    }
}
