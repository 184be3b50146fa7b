//! The only reader of the wall clock, and the guard that decides whether it can be trusted.
//!
//! A [`Timestamp`] is Unix time in milliseconds, the resolution of the API. Code that needs "now" takes a [`Clock`];
//! pure functions take a `Timestamp` instead. Durations are measured with `tokio::time::Instant`, never by
//! subtracting two timestamps.

pub mod guard;
pub mod judgement;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use nix::time::{ClockId, clock_gettime};
use serde::{Serialize, Serializer};
use tokio::time::Instant;

/// Milliseconds of one calendar day (UTC has no leap seconds in Unix time).
pub const DAY_MS: i64 = 86_400_000;

/// The largest difference, in milliseconds, between the progress of wall clock and steady time from one reading to the
/// next that does not count as setting the wall clock: slewing and slow scheduling stay below it.
pub const STEP_MS: i64 = 2_000;

/// The steady clock. It includes the time that a suspended machine sleeps, so that waking up is not a jump of the wall
/// clock.
#[cfg(target_os = "linux")]
const STEADY_CLOCK: ClockId = ClockId::CLOCK_BOOTTIME;
#[cfg(not(target_os = "linux"))]
const STEADY_CLOCK: ClockId = ClockId::CLOCK_MONOTONIC;

/// Unix time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `ms` milliseconds after 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// This instant moved by `ms` milliseconds; saturates.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant; negative when `earlier` is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Days from 1970-01-01 to the calendar day (UTC) of this instant.
    #[must_use]
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MS)
    }

    /// Returns the UTC date as `YYYY-MM-DD`.
    #[must_use]
    pub fn date(self) -> String {
        self.to_chrono().format("%Y-%m-%d").to_string()
    }

    /// Formats the time (UTC) by a `strftime` pattern of chrono; the names of days and months are English.
    #[must_use]
    pub fn format(self, pattern: &str) -> String {
        self.to_chrono().format(pattern).to_string()
    }

    fn to_chrono(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// Formats the time as RFC 3339 in UTC, with exactly three fraction digits and `Z` (contract 1.6).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_chrono().to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at.timestamp_millis())
    }
}

/// A source of wall time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The operating system's wall clock.
    System,
    /// A clock that moves with tokio's (possibly paused) time.
    Driven {
        /// Wall time at `origin`.
        base: Timestamp,
        /// The runtime's instant that corresponds to `base`.
        origin: Instant,
        /// The milliseconds by which the clock has been set ahead since.
        moved_ms: Arc<AtomicI64>,
    },
    /// A fixed clock: it moves only when it is set, or when simulated time passes.
    Fixed {
        /// Wall time in milliseconds since 1970.
        at_ms: Arc<AtomicI64>,
        /// The milliseconds that have passed.
        passed_ms: Arc<AtomicI64>,
    },
}

impl Clock {
    /// Creates a clock that reads `base` now and then follows tokio's time.
    #[must_use]
    pub fn driven(base: Timestamp) -> Self {
        Self::Driven { base, origin: Instant::now(), moved_ms: Arc::default() }
    }

    /// Creates a clock fixed at `at`.
    #[must_use]
    pub fn fixed(at: Timestamp) -> Self {
        Self::Fixed { at_ms: Arc::new(AtomicI64::new(at.ms())), passed_ms: Arc::default() }
    }

    /// Sets the clock, and every clone of it, ahead by `ms` milliseconds (back, when negative), as an operator or a time
    /// server would. The operating system's clock is left alone.
    pub fn set_ahead(&self, ms: i64) {
        match self {
            Self::System => {}
            Self::Driven { moved_ms: set, .. } | Self::Fixed { at_ms: set, .. } => {
                set.fetch_add(ms, Ordering::Relaxed);
            }
        }
    }

    /// Advances a fixed clock, and every clone of it, by `ms` milliseconds: its steady time moves with its wall time,
    /// as in a simulation that runs faster than real time. Other clocks are left alone.
    pub fn pass(&self, ms: i64) {
        if let Self::Fixed { at_ms, passed_ms } = self {
            at_ms.fetch_add(ms, Ordering::Relaxed);
            passed_ms.fetch_add(ms, Ordering::Relaxed);
        }
    }

    /// Returns the steady time since some fixed moment, including sleep of the machine, independent of the wall clock.
    #[must_use]
    pub fn steady(&self) -> Duration {
        match self {
            Self::System => clock_gettime(STEADY_CLOCK).map_or(Duration::ZERO, Duration::from),
            Self::Driven { origin, .. } => origin.elapsed(),
            Self::Fixed { passed_ms, .. } => {
                Duration::from_millis(u64::try_from(passed_ms.load(Ordering::Relaxed)).unwrap_or(0))
            }
        }
    }

    /// Returns the current wall time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.now_us().div_euclid(1_000))
    }

    /// Returns the current wall time in microseconds since 1970-01-01T00:00:00Z, for measuring lateness.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        match self {
            Self::System => {
                #[expect(clippy::disallowed_methods, reason = "this is the one reader of the wall clock")]
                let now = Utc::now();
                now.timestamp_micros()
            }
            Self::Driven { base, origin, moved_ms } => {
                let elapsed_us = i64::try_from(origin.elapsed().as_micros()).unwrap_or(i64::MAX);
                let start = base.plus_ms(moved_ms.load(Ordering::Relaxed));
                start.ms().saturating_mul(1_000).saturating_add(elapsed_us)
            }
            Self::Fixed { at_ms, .. } => at_ms.load(Ordering::Relaxed).saturating_mul(1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_with_three_fraction_digits() {
        assert_eq!(Timestamp::from_ms(1_795_193_460_000).to_string(), "2026-11-20T16:51:00.000Z");
        assert_eq!(Timestamp::from_ms(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_ms(-1).day(), -1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_driven_clock_follows_the_runtime() {
        let clock = Clock::driven(Timestamp::from_ms(1_000));
        tokio::time::advance(std::time::Duration::from_millis(250)).await;
        assert_eq!(clock.now().ms(), 1_250);
        clock.clone().set_ahead(-500);
        assert_eq!(clock.now().ms(), 750, "a clone is the same clock");
    }

    #[test]
    fn a_fixed_clock_moves_only_on_request() {
        let clock = Clock::fixed(Timestamp::from_ms(7));
        clock.set_ahead(3);
        assert_eq!((clock.now().ms(), clock.steady()), (10, Duration::ZERO));
        clock.clone().pass(5);
        assert_eq!((clock.now().ms(), clock.steady()), (15, Duration::from_millis(5)));
    }
}
