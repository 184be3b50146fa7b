//! The rules by which the status of a service is decided: settings of the service, each with a default.
//!
//! They are data. Whoever decides takes them along: the watch (`model::watch`), heartbeats (`model::heartbeat`), and what
//! goes through stored results again.

use std::ops::RangeInclusive;

use crate::model::flapping::FlappingRule;
use crate::model::verdict::quorum::Quorum;

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
