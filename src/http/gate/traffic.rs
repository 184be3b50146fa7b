//! Counts answered requests by status class and duration, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::telemetry::{Exposition, MetricCollector};

/// Upper bounds of the latency histogram in milliseconds.
const BOUNDS_MS: [u64; 9] = [1, 2, 5, 10, 20, 50, 100, 500, 2_000];
/// Status classes of responses.
const CLASSES: [&str; 4] = ["2xx", "4xx", "5xx", "other"];

/// Counters of responses, for `/metrics`.
#[derive(Debug, Default)]
pub struct TrafficCounters {
    answers: [AtomicU64; CLASSES.len()],
    within: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_us: AtomicU64,
}

impl TrafficCounters {
    /// Counts a response with this status and duration.
    pub fn record_answer(&self, status: u16, elapsed: Duration) {
        let class = match status / 100 {
            2 => 0,
            4 => 1,
            5 => 2,
            _ => 3,
        };
        let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.partition_point(|bound_ms| bound_ms * 1_000 < elapsed_us);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
        self.within[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(elapsed_us, Ordering::Relaxed);
    }
}

impl MetricCollector for TrafficCounters {
    #[expect(clippy::cast_precision_loss, reason = "bounds and sums are far below 2^53")]
    fn collect(&self, out: &mut Exposition) {
        let mut answers = out.counter("http_responses_total", "Answers of the API by class of status.");
        for (class, count) in CLASSES.into_iter().zip(&self.answers) {
            answers.labelled(&[("class", class)], count.load(Ordering::Relaxed));
        }
        let mut within = 0;
        let bounds: Vec<(f64, u64)> = BOUNDS_MS
            .iter()
            .zip(&self.within)
            .map(|(bound_ms, count)| {
                within += count.load(Ordering::Relaxed);
                (*bound_ms as f64 / 1_000.0, within)
            })
            .collect();
        let count = self.within.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let sum_seconds = self.sum_us.load(Ordering::Relaxed) as f64 / 1_000_000.0;
        out.histogram("http_latency_seconds", "Time from the head of a request to its answer.").buckets(
            bounds,
            sum_seconds,
            count,
        );
    }
}
