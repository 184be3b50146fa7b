//! The state machine of one service: checked, reporting itself by pings, or idle.

use crate::clock::Timestamp;
use crate::engine::definition::WatchDefinition;
use crate::model::heartbeat::Heartbeat;
use crate::model::history::ChangeCause;
use crate::model::listening_gap::ListeningGap;
use crate::model::status_rules::FlappingRule;
use crate::model::status_timeline::{CurrentStatus, MeasuredStatusChange};
use crate::model::status_tracker::StatusTracker;
use crate::model::verdict::Verdict;
use crate::model::watch::{WatchEffect, WatchMemory, WatchState};

/// The state machine of one service.
#[derive(Debug, Default)]
pub(in crate::engine) enum WatchMachine {
    /// Paused, manual, or not configured.
    #[default]
    Idle,
    /// Checked by its locations.
    Checked(WatchState),
    /// Reports itself by pings.
    Reporting(Heartbeat),
}

impl WatchMachine {
    /// Starts the machine for this definition, with the memory from before and the times in which this process
    /// did not listen for pings.
    pub(super) fn begin(
        definition: &WatchDefinition,
        memory: WatchMemory,
        now: Timestamp,
        absences: &[ListeningGap],
    ) -> (Self, Vec<WatchEffect>) {
        match (&definition.task, &definition.heartbeat) {
            (Some(task), _) => {
                let (watch, effects) = WatchState::begin(task.plan.clone(), memory, now);
                (Self::Checked(watch), effects)
            }
            (None, Some(plan)) => {
                let (heartbeat, effects) = Heartbeat::begin(*plan, memory, now, absences);
                (Self::Reporting(heartbeat), effects)
            }
            (None, None) => {
                // Earlier measurements are no longer valid.
                let current = CurrentStatus::new(memory.status, memory.status_since);
                let mut tracker = StatusTracker::new(current, memory.flapping, FlappingRule::default());
                (Self::Idle, tracker.end(ChangeCause::Paused, now).map(WatchEffect::Change).collect())
            }
        }
    }

    /// Moves all times after the wall clock was set by `jump_ms`; `now` is the new time.
    pub(super) fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<MeasuredStatusChange> {
        match self {
            Self::Idle => Vec::new(),
            Self::Checked(watch) => watch.shift(jump_ms, now),
            Self::Reporting(heartbeat) => heartbeat.shift(jump_ms, now),
        }
    }

    /// Handles everything that is due at `now`, given the times in which this process did not listen for pings.
    pub(super) fn wake(&mut self, now: Timestamp, absences: &[ListeningGap]) -> Vec<WatchEffect> {
        match self {
            Self::Idle => Vec::new(),
            Self::Checked(watch) => watch.wake(now),
            Self::Reporting(heartbeat) => heartbeat.wake(now, absences),
        }
    }

    /// Returns the time of the next call of [`Self::wake`].
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        match self {
            Self::Idle => None,
            Self::Checked(watch) => watch.next_wake(),
            Self::Reporting(heartbeat) => heartbeat.next_wake(),
        }
    }

    /// Returns the time until which the current status is backed, if no other result comes.
    pub(in crate::engine) fn measured_until(&self) -> Option<Timestamp> {
        match self {
            Self::Idle => None,
            Self::Checked(watch) => watch.measured_until(),
            Self::Reporting(heartbeat) => heartbeat.measured_until(),
        }
    }

    /// Returns the number of good results in a row of a service that is down and needs several of them; `None` otherwise.
    pub(super) fn good_results(&self) -> Option<u8> {
        match self {
            Self::Checked(watch) => watch.good_results(),
            Self::Idle | Self::Reporting(_) => None,
        }
    }

    pub(super) const fn verdict(&self) -> Verdict {
        match self {
            Self::Idle => Verdict::Unknown,
            Self::Checked(watch) => watch.verdict(),
            Self::Reporting(heartbeat) => heartbeat.verdict(),
        }
    }
}
