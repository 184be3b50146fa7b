//! The messages to the aggregator of a shard, its answers, and its batches for the recorder.

use actix::Message;
use hdrhistogram::Histogram;

use crate::clock::Timestamp;
use crate::engine::aggregator::live::ServiceSnapshot;
use crate::model::flapping::FlappingState;
use crate::model::history::{CheckRecord, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::verdict::Verdict;

/// Finished checks and status changes on their way to the recorder.
#[derive(Clone, Debug, Default, Message)]
#[rtype(result = "()")]
pub struct RecordBatch {
    /// Finished checks to record.
    pub checks: Vec<CheckRecord>,
    /// Status changes, in order per service.
    pub changes: Vec<StatusChange>,
}

impl RecordBatch {
    /// Returns true if the batch is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.changes.is_empty()
    }
}

/// The status with which a watch continues.
#[derive(Clone, Debug)]
pub struct KnownStatus {
    /// Measured status to continue with.
    pub status: MeasuredStatus,
    /// The verdict of the votes.
    pub verdict: Verdict,
    /// The time at which the newest result was measured.
    pub last_result_at: Option<Timestamp>,
    /// Recent status transitions, and whether the service flaps.
    pub flapping: FlappingState,
}

/// Asks for the current snapshots of these services.
#[derive(Message)]
#[rtype(result = "Vec<ServiceSnapshot>")]
pub struct SnapshotQuery {
    /// Keys of services of this shard.
    pub keys: Vec<ServiceKey>,
    /// Time for which figures are computed.
    pub now: Timestamp,
}

/// Asks for the lateness of check starts since the last such request.
#[derive(Message)]
#[rtype(result = "LatenessReport")]
pub struct LatenessQuery;

/// Sends the whole batch to the recorder now; answered once the recorder has received the batch.
#[derive(Message)]
#[rtype(result = "()")]
pub struct FlushBatch;

/// Lateness of starts in microseconds.
#[derive(Clone, Debug, actix::MessageResponse)]
pub struct LatenessReport {
    histogram: Histogram<u64>,
}

impl Default for LatenessReport {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, 3_600_000_000, 3)
                .expect("the bounds are constants in range"),
        }
    }
}

impl LatenessReport {
    /// Adds the counts of another report.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
    }

    /// Returns the number of starts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The lateness that `percent` of the starts did not exceed, in microseconds.
    #[must_use]
    pub fn percentile_us(&self, percent: f64) -> u64 {
        self.histogram.value_at_quantile(percent / 100.0)
    }

    /// The largest lateness of a start, in microseconds.
    #[must_use]
    pub fn max_us(&self) -> u64 {
        self.histogram.max()
    }

    /// Returns the number of starts that were at most `limit_us` microseconds late.
    #[must_use]
    pub fn count_within(&self, limit_us: u64) -> u64 {
        self.histogram.count_between(0, limit_us)
    }

    /// Adds one start.
    pub(super) fn record(&mut self, late_us: i64) {
        self.histogram.saturating_record(u64::try_from(late_us).unwrap_or(0));
    }
}
