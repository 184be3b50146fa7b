//! The pace of restarts: at most ten a second, so that a process that is overloaded does not spend its time on restarts.
//!
//! The generic cell rate algorithm (ITU-T I.371): a bucket of [`BURST`] restarts that fills up by [`PER_SECOND`].

use std::time::Duration;

use tokio::time::Instant;

/// Restarts in a second, on average.
const PER_SECOND: u32 = 10;
/// Restarts at once, after a calm second.
const BURST: u32 = 10;
/// The time of one restart.
const SHARE: Duration = Duration::from_millis(1_000 / PER_SECOND as u64);
/// A process whose restarts wait for longer is overloaded.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// The pace of restarts.
#[derive(Debug, Default)]
pub(super) struct RestartPace {
    /// The time at which the bucket is full again.
    full_at: Option<Instant>,
}

impl RestartPace {
    /// Returns the wait before a restart that is due now.
    pub(super) fn next_wait(&mut self, now: Instant) -> Duration {
        let full_at = self.full_at.unwrap_or(now).max(now) + SHARE;
        self.full_at = Some(full_at);
        full_at.duration_since(now).saturating_sub(SHARE * BURST)
    }

    /// The wait of a restart that would be due now, if the process is overloaded with restarts.
    pub(super) fn overload(&self, now: Instant) -> Option<Duration> {
        let wait = self.full_at?.saturating_duration_since(now).saturating_sub(SHARE * BURST);
        (wait > LONG_WAIT).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_at_once_then_ten_a_second() {
        let (mut pace, now) = (RestartPace::default(), Instant::now());
        let waits: Vec<u128> = (0..12).map(|_| pace.next_wait(now).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200]);
        let later = now + Duration::from_secs(60);
        assert_eq!(pace.next_wait(later), Duration::ZERO, "after a calm time the bucket is full");
    }

    #[test]
    fn long_waits_are_an_overload() {
        let (mut pace, now) = (RestartPace::default(), Instant::now());
        for _ in 0..20 {
            pace.next_wait(now);
        }
        assert_eq!(pace.overload(now), None);
        for _ in 0..1_000 {
            pace.next_wait(now);
        }
        assert_eq!(pace.overload(now), Some(Duration::from_secs(101)));
        assert_eq!(pace.overload(now + Duration::from_secs(101)), None);
    }
}
