//! The rules by which the status of a service is decided: settings of the service, each with a default.
//!
//! They are data, used by the watch (`model::watch`), by heartbeats (`model::heartbeat`), and by replays of stored
//! results.

use std::ops::RangeInclusive;

use crate::model::quorum::Quorum;

/// Number of good results in a row that may be required after an outage.
pub const RECOVERY_CHECKS: RangeInclusive<u8> = 1..=10;

/// The rules of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusRules {
    /// The votes that make a verdict.
    pub quorum: Quorum,
    /// Good results in a row that end an outage, over all locations together; within [`RECOVERY_CHECKS`].
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

/// Transitions that a service may make before it counts as flapping; 0 = it never does.
pub const CHANGES: RangeInclusive<u8> = 0..=100;
/// Minutes in which transitions are counted.
pub const MINUTES: RangeInclusive<u16> = 1..=1_440;

/// The rule for flapping of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlappingRule {
    /// More transitions than these start it, at most half as many end it; 0 = it never starts. Within [`CHANGES`].
    pub changes: u8,
    /// Minutes in which transitions are counted; within [`MINUTES`].
    pub minutes: u16,
}

impl Default for FlappingRule {
    fn default() -> Self {
        Self { changes: 6, minutes: 30 }
    }
}

impl FlappingRule {
    /// The milliseconds in which transitions are counted.
    #[must_use]
    pub const fn window_ms(self) -> i64 {
        self.minutes as i64 * 60_000
    }
}
