//! Flapping: a service goes up and down again and again, which is detected in addition to its measured status.
//!
//! A transition is a change of the measured status from up to degraded or down, or back; changes to or from no data and
//! unknown are not transitions. Flapping starts with more than `changes` transitions within the window of the rule, and
//! ends when at most half of `changes` are left in the window. The status timeline continues independently.

use std::collections::VecDeque;

use crate::clock::Timestamp;
use crate::model::history::MeasuredStatus;
use crate::model::status_rules::{CHANGES, FlappingRule, MINUTES};

/// The flapping state of a service: its recent transitions, oldest first, and whether the service flaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlappingState {
    transitions: VecDeque<Timestamp>,
    is_flapping: bool,
    /// Time of the last recorded start or end of flapping; the next start or end is recorded with a later time.
    recorded_at: Option<Timestamp>,
}

/// Returns true if this change of the status is a transition.
#[must_use]
pub const fn is_transition(from: MeasuredStatus, to: MeasuredStatus) -> bool {
    const fn is_bad(status: MeasuredStatus) -> bool {
        matches!(status, MeasuredStatus::Degraded | MeasuredStatus::Down)
    }
    matches!(from, MeasuredStatus::Up) && is_bad(to) || is_bad(from) && matches!(to, MeasuredStatus::Up)
}

impl FlappingState {
    /// Restores an earlier state: the transitions, oldest first, and whether the service was flapping.
    #[must_use]
    pub fn resumed(transitions: impl IntoIterator<Item = Timestamp>, is_flapping: bool) -> Self {
        Self { transitions: transitions.into_iter().collect(), is_flapping, recorded_at: None }
    }

    /// Returns true while the service flaps.
    #[must_use]
    pub const fn is_flapping(&self) -> bool {
        self.is_flapping
    }

    /// Adds a transition, which must not be older than the last one. Returns the start of flapping if the service
    /// starts to flap with this transition.
    pub fn note_transition(&mut self, rule: FlappingRule, at: Timestamp) -> Option<Timestamp> {
        self.transitions.push_back(at);
        // Only the newest `changes + 1` transitions are needed.
        let needless = self.transitions.len().saturating_sub(usize::from(rule.changes) + 1);
        self.transitions.drain(..needless);
        let in_window =
            self.transitions.iter().filter(|transition| at.ms_since(**transition) < rule.window_ms()).count();
        let begins = !self.is_flapping && rule.changes > 0 && in_window > usize::from(rule.changes);
        self.is_flapping |= begins;
        begins.then(|| self.note_report_time(at))
    }

    /// Returns the time at which flapping ends if no further transition comes; `None` while the service does not flap.
    #[must_use]
    pub fn settles_at(&self, rule: FlappingRule) -> Option<Timestamp> {
        let newest = self.transitions.back().copied().max(self.recorded_at).unwrap_or_default();
        self.is_flapping.then(|| self.lasts_until(rule).unwrap_or(newest))
    }

    /// Returns the time until which enough transitions for flapping are in the window; `None` if there are too few, or
    /// the rule is off.
    fn lasts_until(&self, rule: FlappingRule) -> Option<Timestamp> {
        // Flapping lasts while the newest `changes / 2 + 1` transitions are in the window, so until the oldest of these
        // leaves it.
        let last = self.transitions.len().checked_sub(usize::from(rule.changes / 2) + 1)?;
        let until = self.transitions.get(last)?.plus_ms(rule.window_ms());
        (rule.changes > 0).then_some(until)
    }

    /// Drops transitions that are too old at `now`. Returns the time at which flapping ended, if it has ended.
    pub fn settle(&mut self, rule: FlappingRule, now: Timestamp) -> Option<Timestamp> {
        let until = self.lasts_until(rule).unwrap_or(now);
        self.transitions.retain(|transition| now.ms_since(*transition) < rule.window_ms());
        let is_over = self.is_flapping && until <= now;
        self.is_flapping &= !is_over;
        is_over.then(|| self.note_report_time(until))
    }

    fn note_report_time(&mut self, at: Timestamp) -> Timestamp {
        let at = self.recorded_at.map_or(at, |before| at.max(before.plus_ms(1)));
        self.recorded_at = Some(at);
        at
    }

    /// Adds a transition without applying a rule, and drops transitions that are too old for every rule.
    pub fn remember(&mut self, at: Timestamp) {
        self.transitions.push_back(at);
        let window = FlappingRule { changes: *CHANGES.end(), minutes: *MINUTES.end() }.window_ms();
        let most = usize::from(*CHANGES.end()) + 1;
        while self.transitions.len() > most
            || self.transitions.front().is_some_and(|transition| at.ms_since(*transition) >= window)
        {
            self.transitions.pop_front();
        }
    }

    /// Sets whether the service flaps, after another process has detected a start or an end.
    pub const fn set(&mut self, is_flapping: bool) {
        self.is_flapping = is_flapping;
    }

    /// Resets the state; returns true if the service was flapping.
    pub fn end(&mut self) -> bool {
        std::mem::take(self).is_flapping
    }

    /// Returns true if the state can be dropped at `now`: the service does not flap, and all times are out of the window.
    #[must_use]
    pub fn is_idle(&self, rule: FlappingRule, now: Timestamp) -> bool {
        let newest = self.transitions.back().copied().max(self.recorded_at);
        !self.is_flapping && newest.is_none_or(|at| now.ms_since(at) >= rule.window_ms())
    }

    /// Moves all times by `jump_ms`, the step by which the wall clock was set back.
    pub fn shift(&mut self, jump_ms: i64) {
        self.transitions.iter_mut().chain(&mut self.recorded_at).for_each(|at| *at = at.plus_ms(jump_ms));
    }

    /// Returns the state without transitions after `until`, which were recorded while the clock was wrong.
    #[must_use]
    pub fn until(mut self, until: Timestamp) -> Self {
        self.transitions.retain(|transition| *transition <= until);
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The simple model of the tests: counts all past transitions each time.
    fn naive(rule: FlappingRule, transitions: &[i64], was_flapping: bool, now: i64) -> bool {
        let window = i64::from(rule.minutes) * 60_000;
        let count = transitions
            .iter()
            .filter(|transition| **transition <= now && now - **transition < window)
            .count();
        match was_flapping {
            _ if rule.changes == 0 => false,
            true => count > usize::from(rule.changes) / 2,
            false => count > usize::from(rule.changes),
        }
    }

    proptest! {
        /// Each step is a wait in milliseconds, followed by a transition or only by a check of the time.
        #[test]
        fn flapping_equals_counting_all_transitions(
            changes in 0_u8..8, minutes in 1_u16..4,
            steps in prop::collection::vec((0_i64..60_000, prop::bool::weighted(0.8)), 1..200),
        ) {
            let rule = FlappingRule { changes, minutes };
            let (mut flapping, mut transitions, mut expected, mut now) = (FlappingState::default(), Vec::new(), false, 0);
            for (wait_ms, is_transition) in steps {
                let before = now;
                now += wait_ms + 1;
                // Flapping ends between two steps, at the time at which a transition leaves the window.
                let window_ms = i64::from(minutes) * 60_000;
                let ends = transitions.iter().map(|transition| transition + window_ms).filter(|end| (before..=now).contains(end));
                let ended = ends.filter(|at| expected && !naive(rule, &transitions, true, *at)).min();
                expected &= ended.is_none();
                prop_assert_eq!(flapping.settle(rule, Timestamp::from_ms(now)).map(Timestamp::ms), ended);
                if is_transition {
                    transitions.push(now);
                    let begins = !expected && naive(rule, &transitions, false, now);
                    expected |= begins;
                    let began_at = flapping.note_transition(rule, Timestamp::from_ms(now)).map(Timestamp::ms);
                    prop_assert_eq!(began_at, begins.then_some(now));
                }
                prop_assert_eq!(flapping.is_flapping(), expected);
                if flapping.is_idle(rule, Timestamp::from_ms(now)) {
                    flapping = FlappingState::default();
                }
                // A restarted process knows only the transitions in the window.
                let window = Timestamp::from_ms(now - window_ms);
                let known = transitions.iter().map(|transition| Timestamp::from_ms(*transition)).filter(|transition| *transition > window);
                flapping = FlappingState::resumed(known, flapping.is_flapping());
            }
        }
    }

    #[test]
    fn gaps_and_pauses_are_not_transitions() {
        use MeasuredStatus::{Degraded, Down, NoData, Unknown, Up};
        let transitions = [(Up, Down), (Up, Degraded), (Down, Up), (Degraded, Up)];
        for from in MeasuredStatus::ALL {
            for to in MeasuredStatus::ALL {
                assert_eq!(is_transition(from, to), transitions.contains(&(from, to)), "{from} to {to}");
            }
        }
        assert!(!is_transition(Up, NoData) && !is_transition(Unknown, Down));
    }
}
