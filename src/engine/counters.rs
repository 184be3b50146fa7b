//! Counters of the engine, by reason: scheduled = measured + unmeasured + dropped + running. Finished checks, including
//! those received from remote locations, are counted at their location (`engine::registry`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::check::{CheckOutcome, LocalFault};
use crate::telemetry::{Exposition, MetricCollector};

/// Upper bounds of the lateness histogram in milliseconds.
const LATENESS_BOUNDS_MS: [i64; 12] = [1, 2, 5, 10, 20, 50, 100, 250, 500, 1_000, 5_000, 60_000];

/// A count that only grows.
#[derive(Debug, Default)]
pub struct AtomicCounter(AtomicU64);

impl AtomicCounter {
    /// Adds `amount` to the count.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Returns the current count.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A running attempt. Dropping it without settling it (the service was deleted, a check queue was closed, a task was
/// cancelled) counts the attempt as dropped, so that every attempt is counted.
#[derive(Debug)]
pub struct AttemptTicket {
    counters: Arc<EngineCounters>,
    is_settled: bool,
}

impl AttemptTicket {
    /// Counts an attempt as scheduled.
    #[must_use]
    pub fn issue(counters: &Arc<EngineCounters>) -> Self {
        counters.scheduled.add(1);
        Self { counters: Arc::clone(counters), is_settled: false }
    }

    /// Counts the attempt by its outcome.
    pub fn settle(mut self, outcome: &CheckOutcome) {
        self.is_settled = true;
        match outcome {
            CheckOutcome::Measured(_) => self.counters.measured.add(1),
            CheckOutcome::Unmeasured(trouble) => self.counters.unmeasured(*trouble).add(1),
        }
    }
}

impl Drop for AttemptTicket {
    fn drop(&mut self) {
        if !self.is_settled {
            self.counters.dropped.add(1);
        }
    }
}

/// All counts of an engine.
#[derive(Debug, Default)]
pub struct EngineCounters {
    /// Attempts that were handed to a location.
    pub scheduled: AtomicCounter,
    /// Attempts that ended with a measurement.
    pub measured: AtomicCounter,
    /// Attempts whose service changed or ended before the outcome arrived: the outcome was dropped.
    pub dropped: AtomicCounter,
    /// Runs that were due while an earlier one was still running, or while the process was suspended.
    pub missed: AtomicCounter,
    /// Finished checks that could not be recorded: the batch towards the recorder was full.
    pub unrecorded: AtomicCounter,
    /// Service actors that panicked or froze, and were started again.
    pub restarts: AtomicCounter,
    /// Times that a service started to flap.
    pub flapping: AtomicCounter,
    unmeasured: [AtomicCounter; LocalFault::ALL.len()],
    lateness: [AtomicCounter; LATENESS_BOUNDS_MS.len() + 1],
    late_sum_us: AtomicCounter,
}

impl EngineCounters {
    /// Attempts that ended without a measurement for this reason.
    #[must_use]
    pub fn unmeasured(&self, trouble: LocalFault) -> &AtomicCounter {
        &self.unmeasured[trouble as usize]
    }

    /// Records that a check started `late_us` microseconds after it was due.
    pub fn started_late(&self, late_us: i64) {
        let bucket = LATENESS_BOUNDS_MS.partition_point(|bound_ms| bound_ms * 1_000 < late_us);
        self.lateness[bucket].add(1);
        self.late_sum_us.add(u64::try_from(late_us).unwrap_or(0));
    }

    /// The 99th percentile of start lateness in milliseconds, rounded up to a bound of the histogram; the largest bound
    /// includes everything above it. `None` before the first start.
    #[must_use]
    pub fn lateness_p99_ms(&self) -> Option<u64> {
        let counts = self.lateness.each_ref().map(AtomicCounter::get);
        let starts: u64 = counts.iter().sum();
        let mut within = 0;
        let index = counts.iter().position(|count| {
            within += count;
            starts > 0 && within * 100 >= starts * 99
        });
        let bound = LATENESS_BOUNDS_MS[index?.min(LATENESS_BOUNDS_MS.len() - 1)];
        u64::try_from(bound).ok()
    }

    #[expect(clippy::cast_precision_loss, reason = "bounds and sums are far below 2^53")]
    fn collect_lateness(&self, out: &mut Exposition) {
        let mut within = 0;
        let bounds: Vec<(f64, u64)> = LATENESS_BOUNDS_MS
            .iter()
            .zip(&self.lateness)
            .map(|(bound_ms, count)| {
                within += count.get();
                (*bound_ms as f64 / 1_000.0, within)
            })
            .collect();
        let count = self.lateness.iter().map(AtomicCounter::get).sum();
        let sum_seconds = self.late_sum_us.get() as f64 / 1_000_000.0;
        out.histogram("check_lateness_seconds", "Start of a check minus its due time.").buckets(
            bounds,
            sum_seconds,
            count,
        );
    }
}

impl MetricCollector for EngineCounters {
    fn collect(&self, out: &mut Exposition) {
        out.counter("attempts_scheduled_total", "Attempts handed to a location.").value(self.scheduled.get());
        out.counter("attempts_measured_total", "Attempts that ended with a measurement.")
            .value(self.measured.get());
        let mut shed = out.counter("attempts_shed_total", "Attempts without a measurement by reason.");
        for trouble in LocalFault::ALL {
            shed.labelled(&[("reason", trouble.as_str())], self.unmeasured(trouble).get());
        }
        shed.labelled(&[("reason", "redefined")], self.dropped.get());
        out.counter("runs_missed_total", "Runs skipped because an earlier one was under way or we slept.")
            .value(self.missed.get());
        out.counter("results_unrecorded_total", "Finished checks that no batch had room for.")
            .value(self.unrecorded.get());
        out.counter("restarts_total", "Service actors started again after a panic.")
            .value(self.restarts.get());
        out.counter("flapping_total", "Times that a service started to flap.").value(self.flapping.get());
        self.collect_lateness(out);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Numbers of starts with their lateness in milliseconds, and the expected 99th percentile.
    #[rstest]
    #[case::none(&[], None)]
    #[case::on_time(&[(100, 0)], Some(1))]
    #[case::one_of_a_hundred(&[(99, 1), (1, 400)], Some(1))]
    #[case::two_of_a_hundred(&[(98, 1), (2, 400)], Some(500))]
    #[case::beyond_all_bounds(&[(1, 100_000)], Some(60_000))]
    fn lateness_p99_is_the_bound_met_by_99_of_100_starts(
        #[case] starts: &[(u32, i64)],
        #[case] bound_ms: Option<u64>,
    ) {
        let counters = EngineCounters::default();
        for (count, late_ms) in starts {
            (0..*count).for_each(|_| counters.started_late(late_ms * 1_000));
        }
        assert_eq!(counters.lateness_p99_ms(), bound_ms);
    }
}
