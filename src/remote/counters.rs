//! Counters of messages from remote locations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::engine::counters::AtomicCounter;
use crate::model::word_enum::words;
use crate::telemetry::{Exposition, MetricCollector};

words! {
    /// The reason why a result, or a whole message, is refused.
    pub enum ResultRefusal {
        /// The message is not a batch of results, or names another sender.
        Malformed,
        /// The service is not assigned to the location, or was deleted.
        NotAssigned,
        /// The result was measured before target or configuration changed.
        OldVersion,
        /// The times of the result are implausible.
        Implausible,
        /// There are more results than the location can have measured.
        TooMany,
    }
}

/// Counters of messages from and to remote locations.
#[derive(Debug, Default)]
pub struct RemoteCounters {
    /// Number of accepted results.
    pub taken: AtomicCounter,
    /// Batches that were acknowledged after their results were stored.
    pub acknowledged: AtomicCounter,
    /// Batches that were delivered again.
    pub redelivered: AtomicCounter,
    /// Definitions that were written for locations, or deleted.
    pub distributed: AtomicCounter,
    /// Definitions that were not written, because they are too large.
    pub too_large: AtomicCounter,
    /// Requests of locations for all their definitions.
    pub deliveries: AtomicCounter,
    /// Number of machines enrolled as locations.
    pub enrolled: AtomicCounter,
    /// Batches on the bus that this node has not received yet.
    pub pending: AtomicU64,
    /// Milliseconds from the bus to the history for the last batch.
    pub lag_ms: AtomicU64,
    /// Refused results, by reason.
    refused: [AtomicCounter; ResultRefusal::ALL.len()],
}

impl RemoteCounters {
    /// Results refused for this reason; a malformed message counts as one.
    #[must_use]
    pub const fn refused(&self, reason: ResultRefusal) -> &AtomicCounter {
        &self.refused[reason as usize]
    }
}

impl MetricCollector for RemoteCounters {
    fn collect(&self, out: &mut Exposition) {
        out.counter("remote_results_total", "Results received from remote locations.")
            .value(self.taken.get());
        let mut refused =
            out.counter("remote_refused_total", "Results of remote locations that were rejected.");
        for reason in ResultRefusal::ALL {
            refused.labelled(&[("reason", reason.as_str())], self.refused(reason).get());
        }
        out.counter("remote_batches_total", "Batches of results that are stored and acknowledged.")
            .value(self.acknowledged.get());
        out.counter("remote_redeliveries_total", "Batches of results that were redelivered.")
            .value(self.redelivered.get());
        out.counter("remote_definitions_total", "Definitions written or deleted for locations.")
            .value(self.distributed.get());
        out.counter(
            "remote_too_large_total",
            "Definitions too large for the bus: the service is not checked there.",
        )
        .value(self.too_large.get());
        out.counter("remote_deliveries_total", "Requests of locations for all their definitions.")
            .value(self.deliveries.get());
        out.counter("remote_enrolments_total", "Machines enrolled as locations.").value(self.enrolled.get());
        out.gauge("remote_pending_batches", "Batches of results that wait on the bus.")
            .value(self.pending.load(Ordering::Relaxed));
        let lag_ms = Duration::from_millis(self.lag_ms.load(Ordering::Relaxed));
        out.gauge("remote_lag_seconds", "Time from the bus to the history of the last batch.")
            .value(lag_ms.as_secs_f64());
    }
}
