//! The decision whether the wall clock can be trusted: a pure state machine over readings of two clocks.
//!
//! The reference is a wall time that was trusted, and the steady time that has passed since. While the process runs the
//! reference is exact, and a wall clock that differs from it by more than [`JUMP_MS`] has jumped. The duration of a stop
//! is unknown: the reference is then the newest time that the database has recorded, and a clock that differs from it by
//! more than [`START_MS`] at a start is doubted. A doubted clock is trusted again when it comes back to the reference, or
//! when it has been steady for [`STEADY_FOR`]: then it was right, or will not be corrected.

use std::time::Duration;

use crate::clock::{DAY_MS, Timestamp};

/// The difference from steady time, in milliseconds, beyond which a running wall clock has jumped. Mistakes about daylight
/// saving stay below it, so data expires at most two hours too early.
pub const JUMP_MS: i64 = 2 * 3_600_000;
/// The difference from the newest known time, in milliseconds, beyond which the clock of a start is doubted.
pub const START_MS: i64 = DAY_MS;
/// The steady time without a further jump after which a doubted clock is trusted again.
pub const STEADY_FOR: Duration = Duration::from_secs(86_400);

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Time of the wall clock.
    pub wall: Timestamp,
    /// Steady time since some fixed moment, independent of the wall clock.
    pub steady: Duration,
}

impl ClockReading {
    /// Returns the wall time at `steady`, if the wall clock continues from this reading without being set.
    fn wall_at(self, steady: Duration) -> Timestamp {
        let passed = steady.saturating_sub(self.steady);
        self.wall.plus_ms(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns the milliseconds by which `now` is ahead of a clock that continued from this reading; negative when it is
    /// behind.
    fn ahead_ms(self, now: Self) -> i64 {
        now.wall.ms_since(self.wall_at(now.steady))
    }
}

/// The reason for a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubtCause {
    /// The wall clock was set while the process ran.
    Jump,
    /// The wall clock of a start is far from the newest time that the database has seen.
    Start,
}

impl DoubtCause {
    const fn bound_ms(self) -> i64 {
        match self {
            Self::Jump => JUMP_MS,
            Self::Start => START_MS,
        }
    }
}

/// A doubt at the time of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDoubt {
    /// Reason for the doubt.
    pub cause: DoubtCause,
    /// Milliseconds by which the wall clock is ahead of the reference; negative when it is behind.
    pub ahead_ms: i64,
    /// The steady time after which the clock is trusted again, if nothing happens meanwhile.
    pub trusted_in: Duration,
}

/// A change of the judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgementChange {
    /// The clock is doubted from now on.
    Doubted,
    /// The clock is trusted again, because it has come back to the reference.
    Returned,
    /// The clock is trusted again, because it has been steady for [`STEADY_FOR`].
    Steady,
}

/// The part of a judgement that is stored in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockMark {
    /// The newest time that was trusted.
    pub newest: Timestamp,
    /// The doubted clock, if it was doubted.
    pub doubted: Option<DoubtedMark>,
}

/// The part of a doubt that is stored in the database, so that a machine that is switched off every night also completes
/// its day of steady time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubtedMark {
    /// The time that the clock showed.
    pub at: Timestamp,
    /// The steady time without a further jump, until `at`.
    pub steady: Duration,
}

#[derive(Clone, Copy, Debug)]
struct OngoingDoubt {
    cause: DoubtCause,
    /// The first reading of the current stretch without a jump.
    since: ClockReading,
    /// The steady time of earlier runs of the process.
    before: Duration,
}

impl OngoingDoubt {
    const fn begin(cause: DoubtCause, since: ClockReading) -> Self {
        Self { cause, since, before: Duration::ZERO }
    }

    fn steady(&self, now: ClockReading) -> Duration {
        self.before + now.steady.saturating_sub(self.since.steady)
    }
}

/// The judgement over one wall clock.
#[derive(Clone, Debug)]
pub struct ClockJudgement {
    reference: ClockReading,
    doubted: Option<OngoingDoubt>,
}

impl ClockJudgement {
    /// Judges the clock of a start by the mark in the database; without a mark the clock is trusted.
    #[must_use]
    pub fn start(now: ClockReading, mark: Option<&ClockMark>) -> Self {
        let newest = mark.map_or(now.wall, |mark| mark.newest);
        let reference = ClockReading { wall: newest, ..now };
        if reference.ahead_ms(now).abs() <= START_MS {
            return Self { reference: now, doubted: None };
        }
        // The doubt of an earlier run continues if the clock has kept the same time since.
        let earlier = mark.and_then(|mark| mark.doubted);
        let earlier = earlier.filter(|earlier| now.wall.ms_since(earlier.at).abs() <= START_MS);
        let before = earlier.map_or(Duration::ZERO, |earlier| earlier.steady);
        Self {
            reference,
            doubted: Some(OngoingDoubt { before, ..OngoingDoubt::begin(DoubtCause::Start, now) }),
        }
    }

    /// Processes a reading, and returns the change that it causes.
    pub fn take_reading(&mut self, now: ClockReading) -> Option<JudgementChange> {
        let ahead_ms = self.reference.ahead_ms(now).abs();
        let Some(doubted) = &mut self.doubted else {
            if ahead_ms > JUMP_MS {
                self.reference = ClockReading { wall: self.expected(now), ..now };
                self.doubted = Some(OngoingDoubt::begin(DoubtCause::Jump, now));
                return Some(JudgementChange::Doubted);
            }
            // Both clocks drift apart slowly, so the reference is renewed only once a day: jumps that add up within a day
            // are not drift.
            if now.steady.saturating_sub(self.reference.steady) >= STEADY_FOR {
                self.reference = now;
            }
            return None;
        };
        if ahead_ms <= doubted.cause.bound_ms() {
            return Some(self.trust(now, JudgementChange::Returned));
        }
        if doubted.since.ahead_ms(now).abs() > JUMP_MS {
            *doubted = OngoingDoubt::begin(doubted.cause, now);
        } else if doubted.steady(now) >= STEADY_FOR {
            return Some(self.trust(now, JudgementChange::Steady));
        }
        None
    }

    const fn trust(&mut self, now: ClockReading, change: JudgementChange) -> JudgementChange {
        self.reference = now;
        self.doubted = None;
        change
    }

    /// Returns the doubt at `now`; `None` while the clock is trusted.
    #[must_use]
    pub fn doubt(&self, now: ClockReading) -> Option<ClockDoubt> {
        let doubted = self.doubted.as_ref()?;
        let trusted_in = STEADY_FOR.saturating_sub(doubted.steady(now));
        Some(ClockDoubt { cause: doubted.cause, ahead_ms: self.reference.ahead_ms(now), trusted_in })
    }

    /// Returns the time that a trusted clock would show at `now`. After a stop it is too early by the duration of the
    /// stop.
    #[must_use]
    pub fn expected(&self, now: ClockReading) -> Timestamp {
        self.reference.wall_at(now.steady)
    }

    /// Returns the mark to store in the database.
    #[must_use]
    pub fn mark(&self, now: ClockReading) -> ClockMark {
        match &self.doubted {
            None => ClockMark { newest: now.wall, doubted: None },
            Some(doubted) => ClockMark {
                newest: self.reference.wall,
                doubted: Some(DoubtedMark { at: now.wall, steady: doubted.steady(now) }),
            },
        }
    }
}

#[cfg(test)]
mod tests;
