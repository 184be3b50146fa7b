//! The rules by which the status of a service is decided. They are settings of the service, and each has a default.
//!
//! The rules are plain data, used by the watch (`model::watch`), by heartbeats (`model::heartbeat`), and by replays of
//! stored results.

use std::ops::RangeInclusive;

use crate::model::quorum::Quorum;

/// Permitted number of good results in a row that end an outage.
pub const RECOVERY_CHECKS: RangeInclusive<u8> = 1..=10;

/// The rules by which the status of one service is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusRules {
    /// The number of votes that decide the verdict.
    pub quorum: Quorum,
    /// Number of good results in a row that end an outage, counted over all locations together; within [`RECOVERY_CHECKS`].
    pub recovery_checks: u8,
    /// The rule by which flapping is detected.
    pub flapping: FlappingRule,
}

impl Default for StatusRules {
    fn default() -> Self {
        Self {
            quorum: Quorum::default(),
            recovery_checks: *RECOVERY_CHECKS.start(),
            flapping: FlappingRule::default(),
        }
    }
}

/// Permitted number of transitions before a service is flapping; 0 switches the detection off.
pub const CHANGES: RangeInclusive<u8> = 0..=100;
/// Permitted number of minutes over which transitions are counted.
pub const MINUTES: RangeInclusive<u16> = 1..=1_440;

/// The rule by which flapping of a service is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlappingRule {
    /// More transitions than this start flapping, at most half as many end it; 0 = never. Within [`CHANGES`].
    pub changes: u8,
    /// Minutes over which transitions are counted; within [`MINUTES`].
    pub minutes: u16,
}

impl Default for FlappingRule {
    fn default() -> Self {
        Self { changes: 6, minutes: 30 }
    }
}

impl FlappingRule {
    /// Milliseconds over which transitions are counted.
    #[must_use]
    pub const fn window_ms(self) -> i64 {
        self.minutes as i64 * 60_000
    }
}
