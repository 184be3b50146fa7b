//! The counters of the recorder, for `/metrics`. Every received result is counted in one of them, or is still waiting.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::telemetry::{Exposition, MetricCollector};

/// Numbers of the recorder, for `/metrics`.
#[derive(Debug, Default)]
pub struct RecordCounters {
    /// Results that are durable in the database.
    pub acked: AtomicU64,
    /// Results that were dropped for lack of space.
    pub shed: AtomicU64,
    /// Results that are, or were, durable in the spool.
    pub spooled: AtomicU64,
    /// Size of the spool in bytes.
    pub spool_bytes: AtomicU64,
    /// Number of unreadable places in the spool.
    pub spool_damages: AtomicU64,
    /// Number of transactions that were committed.
    pub commits: AtomicU64,
    /// Writes that failed and were tried again.
    pub failures: AtomicU64,
    /// Results that wait in memory now.
    pub waiting: AtomicU64,
    /// True if the last write has failed.
    pub is_failing: AtomicBool,
}

impl MetricCollector for RecordCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        out.counter("results_acked_total", "Results that are durable in the history database.")
            .value(get(&self.acked));
        out.counter(
            "results_shed_total",
            "Results lost because the history database was unavailable for too long.",
        )
        .value(get(&self.shed));
        out.counter(
            "results_spooled_total",
            "Results put into the spool on disk until the database is back.",
        )
        .value(get(&self.spooled));
        out.gauge("spool_bytes", "Bytes on disk that wait for the history database.")
            .value(get(&self.spool_bytes));
        out.counter("spool_damages_total", "Places of the spool that could not be read and were skipped.")
            .value(get(&self.spool_damages));
        out.counter("history_commits_total", "Transactions of the recorder.").value(get(&self.commits));
        out.counter("history_failures_total", "Writes that failed and were tried again.")
            .value(get(&self.failures));
        out.gauge("results_waiting", "Results that wait in memory for the history database.")
            .value(get(&self.waiting));
    }
}
