//! The rules by which the status of a service is decided: settings of the service, each with a default.
//!
//! They are data. Whoever decides takes them along: the watch (`model::watch`), heartbeats (`model::heartbeat`), and what
//! goes through stored results again.

use std::ops::RangeInclusive;

use crate::model::quorum::Quorum;

/// Good results in a row that may be asked for after an outage.
pub const RECOVERY_CHECKS: RangeInclusive<u8> = 1..=10;

/// The rules of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The votes that make a verdict.
    pub quorum: Quorum,
    /// Good results in a row that end an outage, over all locations together; within [`RECOVERY_CHECKS`].
    pub recovery_checks: u8,
    /// When it counts as unstable.
    pub flapping: FlappingRule,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            quorum: Quorum::default(),
            recovery_checks: *RECOVERY_CHECKS.start(),
            flapping: FlappingRule::default(),
        }
    }
}

/// Turns that a service may make before it counts as flapping; 0 = it never does.
pub const CHANGES: RangeInclusive<u8> = 0..=100;
/// Minutes in which turns are counted.
pub const MINUTES: RangeInclusive<u16> = 1..=1_440;

/// When a service counts as flapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlappingRule {
    /// More turns than these begin it, at most half as many end it; 0 = it never begins. Within [`CHANGES`].
    pub changes: u8,
    /// Minutes in which turns are counted; within [`MINUTES`].
    pub minutes: u16,
}

impl Default for FlappingRule {
    fn default() -> Self {
        Self { changes: 6, minutes: 30 }
    }
}

impl FlappingRule {
    /// The milliseconds in which turns are counted.
    #[must_use]
    pub const fn window_ms(self) -> i64 {
        self.minutes as i64 * 60_000
    }
}
