//! The status tracker of a service: the present end of its status timeline, and whether it is flapping.
//!
//! Both checks and pings use it. Start and end of flapping are recorded as changes from the present status to itself. They
//! change no status, and readers of a status timeline leave them out.

use crate::clock::Timestamp;
use crate::model::flapping::{FlappingState, is_transition};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::status_rules::FlappingRule;
use crate::model::status_timeline::{CurrentStatus, MeasuredStatusChange};

/// The present end of a status timeline, with the recent transitions.
#[derive(Clone, Debug, Default)]
pub struct StatusTracker {
    current: CurrentStatus,
    /// Recent transitions; `None` while there are none, which is nearly always the case.
    flapping: Option<Box<FlappingState>>,
    rule: FlappingRule,
}

impl StatusTracker {
    /// Continues a status timeline and its transitions.
    #[must_use]
    pub fn new(current: CurrentStatus, flapping: FlappingState, rule: FlappingRule) -> Self {
        let flapping = (flapping != FlappingState::default()).then(|| Box::new(flapping));
        Self { current, flapping, rule }
    }

    /// The present status and the time since which it lasts.
    #[must_use]
    pub const fn current(&self) -> CurrentStatus {
        self.current
    }

    /// The present measured status.
    #[must_use]
    pub const fn status(&self) -> MeasuredStatus {
        self.current.status()
    }

    /// The recent transitions, and whether the service is flapping.
    #[must_use]
    pub fn flapping(&self) -> FlappingState {
        self.flapping.as_deref().cloned().unwrap_or_default()
    }

    /// Replaces the rule for flapping, from now on.
    pub const fn judge_by(&mut self, rule: FlappingRule) {
        self.rule = rule;
    }

    /// Changes the status at `at`. Returns no change if the status is the present one, and a second change if flapping
    /// starts.
    pub fn change_to(
        &mut self,
        to: MeasuredStatus,
        cause: ChangeCause,
        at: Timestamp,
    ) -> impl Iterator<Item = MeasuredStatusChange> + use<> {
        let change = self.current.change_to(to, cause, at);
        let turn = change.filter(|change| self.rule.changes > 0 && is_transition(change.from, change.to));
        let begun =
            turn.and_then(|turn| self.flapping.get_or_insert_default().note_transition(self.rule, turn.at));
        [change, begun.map(|at| self.flapping_change(ChangeCause::Flapping, at))].into_iter().flatten()
    }

    /// Returns the time at which flapping ends if there are no further transitions; `None` while the service is not
    /// flapping.
    #[must_use]
    pub fn settles_at(&self) -> Option<Timestamp> {
        self.flapping.as_ref()?.settles_at(self.rule)
    }

    /// Ends flapping if it is over by `now`; returns the change that records this.
    pub fn settle(&mut self, now: Timestamp) -> Option<MeasuredStatusChange> {
        let flapping = self.flapping.as_mut()?;
        let settled = flapping.settle(self.rule, now);
        if flapping.is_idle(self.rule, now) {
            self.flapping = None;
        }
        settled.map(|at| self.flapping_change(ChangeCause::Settled, at))
    }

    /// Ends the monitoring: the status is unknown from `at` on, and flapping ends.
    pub fn end(
        &mut self,
        cause: ChangeCause,
        at: Timestamp,
    ) -> impl Iterator<Item = MeasuredStatusChange> + use<> {
        let ended = self.current.change_to(MeasuredStatus::Unknown, cause, at);
        let flapped = self.flapping.take().is_some_and(|mut flapping| flapping.end());
        [ended, flapped.then(|| self.flapping_change(ChangeCause::Settled, at))].into_iter().flatten()
    }

    /// Handles a wall clock that was set back by `-jump_ms` to `now`; see [`CurrentStatus::set_back`]. The times of past
    /// transitions are moved by the same amount.
    pub fn set_back(&mut self, jump_ms: i64, now: Timestamp) -> Vec<MeasuredStatusChange> {
        if let Some(flapping) = &mut self.flapping {
            flapping.shift(jump_ms);
        }
        self.current.set_back(now.plus_ms(-jump_ms), now)
    }

    const fn flapping_change(&self, cause: ChangeCause, at: Timestamp) -> MeasuredStatusChange {
        let status = self.current.status();
        MeasuredStatusChange { at, from: status, to: status, cause }
    }
}
