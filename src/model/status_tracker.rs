//! The status tracker of a service: its status timeline up to now, and whether it flaps.
//!
//! Both checks and pings extend it. The start and the end of flapping are recorded as changes from the present status
//! to itself: they change no status, and readers of a status timeline leave them out.

use crate::clock::Timestamp;
use crate::model::flapping::{FlappingState, is_transition};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::status_rules::FlappingRule;
use crate::model::status_timeline::{CurrentStatus, MeasuredStatusChange};

/// The end of a status timeline, and the transitions that lead up to it.
#[derive(Clone, Debug, Default)]
pub struct StatusTracker {
    current: CurrentStatus,
    /// `None` while there are no transitions, which is nearly always the case.
    flapping: Option<Box<FlappingState>>,
    rule: FlappingRule,
}

impl StatusTracker {
    /// Continues a line and its transitions.
    #[must_use]
    pub fn new(current: CurrentStatus, flapping: FlappingState, rule: FlappingRule) -> Self {
        let flapping = (flapping != FlappingState::default()).then(|| Box::new(flapping));
        Self { current, flapping, rule }
    }

    /// The present status and its start.
    #[must_use]
    pub const fn current(&self) -> CurrentStatus {
        self.current
    }

    /// The present measured status.
    #[must_use]
    pub const fn status(&self) -> MeasuredStatus {
        self.current.status()
    }

    /// The transitions that lead up to it.
    #[must_use]
    pub fn flapping(&self) -> FlappingState {
        self.flapping.as_deref().cloned().unwrap_or_default()
    }

    /// Sets another rule for flapping from now on.
    pub const fn judge_by(&mut self, rule: FlappingRule) {
        self.rule = rule;
    }

    /// Continues with another status from `at` on: no change when it is the present one, and a second change when
    /// that makes it flap.
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

    /// Returns the time at which it ceases to flap without further transitions; `None` while it does not flap.
    #[must_use]
    pub fn settles_at(&self) -> Option<Timestamp> {
        self.flapping.as_ref()?.settles_at(self.rule)
    }

    /// Ends flapping, if it is over by `now`.
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

    /// Handles a wall clock that was set back by `-jump_ms` to `now`; see [`CurrentStatus::set_back`]. The times of the
    /// past move back with it.
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
