//! Pacing of echo requests: at most 20,000 per second leave one location.
//!
//! An unpaced burst overruns the kernel's receive buffer and looks like packet loss. Short bursts pass; packets beyond
//! them wait. Nothing is ever refused.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Time between two packets at full rate.
const INTERVAL_US: u64 = 50;

/// The time, in microseconds, by which a burst may run ahead of the rate: 100 packets may leave at once.
const BURST_US: u64 = 5_000;

/// Limits the rate at which echo requests leave.
#[derive(Debug)]
pub(in crate::probe) struct PacketPacer {
    born: Instant,
    /// The moment at which the next packet would leave at full rate, in microseconds after `born`.
    next_us: AtomicU64,
}

impl PacketPacer {
    pub(super) fn new() -> Self {
        Self { born: Instant::now(), next_us: AtomicU64::new(0) }
    }

    /// Waits until one more packet may leave.
    pub(in crate::probe) async fn wait(&self) {
        let now_us = u64::try_from(self.born.elapsed().as_micros()).unwrap_or(u64::MAX);
        let claim = |next_us: u64| Some(next_us.max(now_us) + INTERVAL_US);
        // The closure always has a value, so both arms hold the previous one.
        let previous_us = match self.next_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim) {
            Ok(previous_us) | Err(previous_us) => previous_us,
        };
        let due_us = previous_us.max(now_us);
        if due_us > now_us + BURST_US {
            sleep_until(self.born + Duration::from_micros(due_us - BURST_US)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_is_spread() {
        let pace = PacketPacer::new();
        let start = Instant::now();
        for _ in 0..100 {
            pace.wait().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..20_000 {
            pace.wait().await;
        }
        let elapsed = start.elapsed();
        assert!((Duration::from_millis(995)..Duration::from_millis(1010)).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_time_is_not_saved_up() {
        let pace = PacketPacer::new();
        tokio::time::advance(Duration::from_secs(60)).await;
        let start = Instant::now();
        for _ in 0..2_000 {
            pace.wait().await;
        }
        assert!(start.elapsed() >= Duration::from_millis(90));
    }
}
