//! The guard of the wall clock: code that deletes, expires or finally fails something consults it first.
//!
//! A clock that is ahead makes everything seem old, and what is deleted does not come back when the clock is set right.
//! So nothing ends by its age while the guard doubts the clock; everything else continues. The decision is made by
//! `clock::judgement`. Every query reads the clock again, so that no caller acts on an unchecked time. Changes are
//! logged, each once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::judgement::{
    ClockDoubt, ClockJudgement, ClockMark, ClockReading, DoubtCause, JudgementChange,
};
use crate::clock::{Clock, Timestamp};

/// The guard of the wall clock. There is one per process, shared by reference.
#[derive(Debug)]
pub struct ClockGuard {
    clock: Clock,
    judgement: Mutex<ClockJudgement>,
}

/// A wall time, and how far it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedTime {
    /// The time that was read.
    pub at: Timestamp,
    /// The best known time, for stored times from which an age is computed later. After a jump it is exact, by steady
    /// time; after a doubted start it is the later one of wall time and expected time.
    pub best: Timestamp,
    /// The earliest time that it may really be: whatever has ended by then has certainly ended.
    pub earliest: Timestamp,
    /// True if the wall time may be used to delete, expire or fail something for good.
    pub is_trusted: bool,
}

impl JudgedTime {
    /// Creates a time that is trusted.
    #[must_use]
    pub const fn trusted(at: Timestamp) -> Self {
        Self { at, best: at, earliest: at, is_trusted: true }
    }

    /// Returns the time `ms` milliseconds of steady time later.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        let Self { at, best, earliest, is_trusted } = self;
        Self { at: at.plus_ms(ms), best: best.plus_ms(ms), earliest: earliest.plus_ms(ms), is_trusted }
    }
}

/// The state of the wall clock as it is shown to operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// Current time of the wall clock.
    pub now: Timestamp,
    /// The time that a trusted clock would show, as far as it is known.
    pub expected: Timestamp,
    /// The doubt; `None` while the clock is trusted.
    pub doubt: Option<ClockDoubt>,
}

impl ClockStatus {
    /// Returns one sentence for an operator: the doubt, the work that waits, and the remedy. `None` while the clock is
    /// trusted.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let ClockDoubt { cause, ahead_ms, trusted_in } = self.doubt?;
        let distance = distance(ahead_ms);
        let finding = match cause {
            DoubtCause::Jump => format!("the clock was set and is {distance} the time that has passed"),
            DoubtCause::Start => {
                format!("the clock is {distance} the newest time that this installation has seen")
            }
        };
        let hours = trusted_in.as_secs().div_ceil(3_600);
        Some(format!(
            "{finding}: nothing is deleted, expired or failed by its age for {hours} hours; set the clock right, or, if {now} is \
             right, wait or start with --trust-clock",
            now = self.now
        ))
    }
}

impl ClockGuard {
    /// Creates a guard of this clock, which starts from the mark in the database. Without a mark the clock is trusted: the
    /// installation is new, or the operator has declared the clock right.
    #[must_use]
    pub fn new(clock: Clock, mark: Option<&ClockMark>) -> Self {
        let judgement = ClockJudgement::start(read(&clock), mark);
        let guard = Self { clock, judgement: Mutex::new(judgement) };
        log_doubt(guard.state());
        guard
    }

    /// Returns the current wall time, trusted or not.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the current wall time and whether it is trusted.
    #[must_use]
    pub fn judged_now(&self) -> JudgedTime {
        let (judgement, now) = self.judge_now();
        let expected = judgement.expected(now);
        let cause = judgement.doubt(now).map(|doubt| doubt.cause);
        let best = match cause {
            None => now.wall,
            Some(DoubtCause::Jump) => expected,
            Some(DoubtCause::Start) => now.wall.max(expected),
        };
        let earliest = if cause.is_some() { now.wall.min(expected) } else { now.wall };
        JudgedTime { at: now.wall, best, earliest, is_trusted: cause.is_none() }
    }

    /// Returns the current wall time, if it may be used to delete, expire or fail something for good.
    #[must_use]
    pub fn trusted_now(&self) -> Option<Timestamp> {
        let now = self.judged_now();
        now.is_trusted.then_some(now.at)
    }

    /// Returns the state of the clock.
    #[must_use]
    pub fn state(&self) -> ClockStatus {
        let (judgement, now) = self.judge_now();
        ClockStatus { now: now.wall, expected: judgement.expected(now), doubt: judgement.doubt(now) }
    }

    /// Returns the mark to store in the database.
    #[must_use]
    pub fn mark(&self) -> ClockMark {
        let (judgement, now) = self.judge_now();
        judgement.mark(now)
    }

    fn judge_now(&self) -> (ClockJudgement, ClockReading) {
        let mut judgement = self.judgement.lock().unwrap_or_else(PoisonError::into_inner);
        let now = read(&self.clock);
        let change = judgement.take_reading(now);
        let judged = judgement.clone();
        drop(judgement);
        if let Some(change) = change {
            log_change(change, &judged, now);
        }
        (judged, now)
    }
}

fn read(clock: &Clock) -> ClockReading {
    ClockReading { wall: clock.now(), steady: clock.steady() }
}

fn log_change(change: JudgementChange, judgement: &ClockJudgement, now: ClockReading) {
    let state = ClockStatus { now: now.wall, expected: judgement.expected(now), doubt: judgement.doubt(now) };
    match change {
        JudgementChange::Doubted => log_doubt(state),
        JudgementChange::Returned => {
            tracing::info!(now = %now.wall, "wall clock trusted again: it shows the expected time");
        }
        JudgementChange::Steady => {
            tracing::info!(now = %now.wall, "wall clock trusted again: it was steady for a day");
        }
    }
}

/// Logs why the clock is in doubt; logs nothing while the clock is trusted.
fn log_doubt(ClockStatus { now, expected, doubt }: ClockStatus) {
    let Some(ClockDoubt { cause, ahead_ms, trusted_in }) = doubt else { return };
    let reason = match cause {
        DoubtCause::Jump => "set while running",
        DoubtCause::Start => "differs from the stored time",
    };
    let trusted_in_seconds = trusted_in.as_secs();
    tracing::warn!(
        %now,
        %expected,
        ahead_ms,
        reason,
        trusted_in_seconds,
        "wall clock in doubt: nothing expires by age; correct it, or wait or use --trust-clock if it is right"
    );
}

/// Returns a distance in words: `3 days ahead of`, `5 hours behind`.
fn distance(ahead_ms: i64) -> String {
    let hours = Duration::from_millis(ahead_ms.unsigned_abs()).as_secs() / 3_600;
    let amount = if hours >= 48 { format!("{} days", hours / 24) } else { format!("{hours} hours") };
    let side = if ahead_ms < 0 { "behind" } else { "ahead of" };
    format!("{amount} {side}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DAY_MS;

    const START: Timestamp = Timestamp::from_ms(20_000 * DAY_MS);

    #[tokio::test(start_paused = true)]
    async fn a_jump_is_detected_at_the_next_call() {
        let clock = Clock::driven(START);
        let guard = ClockGuard::new(clock.clone(), None);
        assert_eq!(guard.trusted_now(), Some(START));
        clock.set_ahead(365 * DAY_MS);
        assert_eq!(guard.trusted_now(), None);
        clock.set_ahead(-365 * DAY_MS);
        assert_eq!(guard.trusted_now(), Some(START));
        clock.set_ahead(365 * DAY_MS);
        assert_eq!(guard.trusted_now(), None);
        tokio::time::advance(Duration::from_secs(86_400)).await;
        assert_eq!(guard.trusted_now(), Some(START.plus_ms(366 * DAY_MS)));
    }

    #[test]
    fn the_warning_names_the_remedy() {
        let clock = Clock::fixed(START);
        let mark = ClockMark { newest: START.plus_ms(-21 * DAY_MS), doubted: None };
        let warning = ClockGuard::new(clock.clone(), Some(&mark)).state().warning();
        let expected = "the clock is 21 days ahead of the newest time that this installation has seen: nothing is deleted, \
            expired or failed by its age for 24 hours; set the clock right, or, if 2024-10-04T00:00:00.000Z is right, wait or \
            start with --trust-clock";
        assert_eq!(warning.as_deref(), Some(expected));
        assert_eq!(ClockGuard::new(clock, None).state().warning(), None);
    }

    #[test]
    fn a_jump_of_the_wall_clock_does_not_change_the_best_time() {
        let clock = Clock::fixed(START);
        let guard = ClockGuard::new(clock.clone(), None);
        for ahead_ms in [DAY_MS, -2 * DAY_MS, DAY_MS] {
            clock.set_ahead(ahead_ms);
            assert_eq!(guard.judged_now().best, START, "steady time has not moved");
        }
        let mark = |days: i64| ClockMark { newest: START.plus_ms(days * DAY_MS), doubted: None };
        assert_eq!(ClockGuard::new(clock.clone(), Some(&mark(-400))).judged_now().best, START);
        assert_eq!(ClockGuard::new(clock, Some(&mark(400))).judged_now().best, START.plus_ms(400 * DAY_MS));
    }
}
