//! The results that this node has stored recently, for other nodes whose clients listen to events.
//!
//! Another node polls for results after its last [`ResultPosition`]. Results are kept only while another node
//! polls, and at most `RESULTS_MAX` of them, without waiting for any node: a node that polls too late learns
//! that some are missing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::aggregator::RecordBatch;
use crate::id::Id;
use crate::model::history::CheckRecord;

/// Results are kept for this long after the last poll.
const ASKED_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of kept results: some seconds at the highest rates.
const RESULTS_MAX: usize = 50_000;
/// Approximate maximum size of one answer in bytes.
const ANSWER_BYTES: usize = 256 * 1_024;
/// Approximate size of a result without its texts, in bytes.
const RESULT_BYTES: usize = 64;

/// The results that this node has stored recently.
#[derive(Debug, Default)]
pub struct RecentResults(Mutex<Option<ResultBuffer>>);

#[derive(Debug)]
struct ResultBuffer {
    epoch: Id,
    /// The number of the first kept result.
    first: u64,
    batches: VecDeque<Arc<RecordBatch>>,
    results: usize,
    asked_at: Instant,
}

/// A position in a node's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultPosition {
    /// Identifies the numbering; a different value means that the node has started to number its results again.
    pub epoch: Id,
    /// Number of the first result after the position.
    pub number: u64,
}

/// A request for recently stored results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultsRequest {
    /// The position of the requesting node; `None` if it has none yet, and only asks for the current position.
    pub position: Option<ResultPosition>,
    /// True if results are wanted; otherwise only the position advances.
    pub wants_results: bool,
}

/// The recently stored results of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultsReply {
    /// The position after these results.
    pub position: ResultPosition,
    /// The results, in the order in which they were stored.
    pub results: Vec<CheckRecord>,
    /// True if no result is missing between the requested position and these results.
    pub is_whole: bool,
    /// True if there are more results.
    pub has_more: bool,
}

impl RecentResults {
    /// Adds results once they are durable.
    pub fn note(&self, batch: &Arc<RecordBatch>) {
        let mut buffer = self.buffer();
        if buffer.as_ref().is_some_and(|buffer| buffer.asked_at.elapsed() > ASKED_WITHIN) {
            *buffer = None;
        }
        if let Some(buffer) = &mut *buffer
            && !batch.checks.is_empty()
        {
            buffer.results += batch.checks.len();
            buffer.batches.push_back(Arc::clone(batch));
            buffer.shorten();
        }
    }

    /// Returns the results after a position. From the first call on results are kept.
    pub fn results_after(&self, after: ResultsRequest) -> ResultsReply {
        let mut buffer = self.buffer();
        let now = Instant::now();
        let buffer = buffer.get_or_insert_with(|| ResultBuffer {
            epoch: Id::random(),
            first: 0,
            batches: VecDeque::new(),
            results: 0,
            asked_at: now,
        });
        buffer.asked_at = now;
        let end = buffer.first + buffer.results as u64;
        let (first, epoch) = (buffer.first, buffer.epoch);
        let is_known =
            |position: &ResultPosition| position.epoch == epoch && (first..=end).contains(&position.number);
        let known = after.position.filter(is_known);
        let from = known.filter(|_| after.wants_results).map_or(end, |position| position.number);
        let results = buffer.results_from(from);
        let number = from + results.len() as u64;
        ResultsReply {
            position: ResultPosition { epoch, number },
            results,
            is_whole: known.is_some(),
            has_more: number < end,
        }
    }

    fn buffer(&self) -> MutexGuard<'_, Option<ResultBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResultBuffer {
    fn shorten(&mut self) {
        while self.results > RESULTS_MAX
            && let Some(oldest) = self.batches.pop_front()
        {
            self.results -= oldest.checks.len();
            self.first += oldest.checks.len() as u64;
        }
    }

    /// Returns the results from this number on, up to the size of an answer.
    fn results_from(&self, number: u64) -> Vec<CheckRecord> {
        let (mut at, mut bytes, mut found) = (self.first, 0, Vec::new());
        for batch in &self.batches {
            let next = at + batch.checks.len() as u64;
            let skipped = usize::try_from(number.saturating_sub(at)).unwrap_or(usize::MAX);
            for result in batch.checks.iter().skip(skipped) {
                if bytes > ANSWER_BYTES {
                    return found;
                }
                let text = result.measurement.failure.as_ref().map_or(0, |failure| failure.message.len());
                bytes += RESULT_BYTES + text;
                found.push(result.clone());
            }
            at = next;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::location::LocationCode;
    use crate::model::service::ProbeRole;

    fn batch(ats: std::ops::Range<i64>) -> Arc<RecordBatch> {
        let result = |at| CheckRecord {
            service: 1,
            location: LocationCode::push(),
            role: ProbeRole::Full,
            scheduled_at: Timestamp::from_ms(at),
            checked_at: Timestamp::from_ms(at),
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", PhaseTimings::default()),
        };
        Arc::new(RecordBatch { checks: ats.map(result).collect(), changes: Vec::new() })
    }

    fn after(position: Option<ResultPosition>) -> ResultsRequest {
        ResultsRequest { position, wants_results: true }
    }

    fn times(recent: &ResultsReply) -> Vec<i64> {
        recent.results.iter().map(|result| result.checked_at.ms()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn results_stored_after_the_first_request_are_returned_once_in_order() {
        let stored = RecentResults::default();
        stored.note(&batch(0..5));
        let first = stored.results_after(after(None));
        assert!(first.results.is_empty() && !first.is_whole, "nothing was kept before");
        stored.note(&batch(5..8));
        stored.note(&batch(8..10));
        let second = stored.results_after(after(Some(first.position)));
        assert_eq!((times(&second), second.is_whole, second.has_more), (vec![5, 6, 7, 8, 9], true, false));
        assert_eq!(stored.results_after(after(Some(second.position))).results, []);
        stored.note(&batch(10..12));
        let passed =
            stored.results_after(ResultsRequest { position: Some(second.position), wants_results: false });
        assert!(passed.results.is_empty() && passed.is_whole);
        stored.note(&batch(12..13));
        assert_eq!(times(&stored.results_after(after(Some(passed.position)))), [12]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_outdated_position_is_answered_as_incomplete() {
        let stored = RecentResults::default();
        let position = stored.results_after(after(None)).position;
        tokio::time::advance(ASKED_WITHIN + Duration::from_secs(1)).await;
        stored.note(&batch(0..5));
        let late = stored.results_after(after(Some(position)));
        assert!(!late.is_whole && late.results.is_empty() && late.position.epoch != position.epoch);
        let many = i64::try_from(RESULTS_MAX).unwrap();
        for start in 0..3 {
            stored.note(&batch(start * many / 2..(start + 1) * many / 2));
        }
        assert!(!stored.results_after(after(Some(late.position))).is_whole, "too much has happened since");
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_is_bounded_and_the_next_one_continues() {
        let stored = RecentResults::default();
        let mut position = stored.results_after(after(None)).position;
        stored.note(&batch(0..10_000));
        let mut received = Vec::new();
        loop {
            let recent = stored.results_after(after(Some(position)));
            assert!(recent.is_whole && recent.results.len() < 6_000);
            received.extend(times(&recent));
            position = recent.position;
            if !recent.has_more {
                break;
            }
        }
        assert!(received.into_iter().eq(0..10_000));
    }
}
