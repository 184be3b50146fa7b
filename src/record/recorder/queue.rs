//! Facts in memory, oldest first. Results have a limit; status changes are few and are never refused.

use std::collections::VecDeque;

use crate::engine::aggregator::RecordBatch;
use crate::model::history::{CheckRecord, StatusChange};

/// The facts that wait in memory.
#[derive(Debug, Default)]
pub(super) struct FactQueue {
    checks: VecDeque<CheckRecord>,
    changes: VecDeque<StatusChange>,
}

impl FactQueue {
    /// Returns the number of waiting results.
    pub(super) fn results(&self) -> usize {
        self.checks.len()
    }

    /// Returns true when nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.changes.is_empty()
    }

    /// Takes all changes, and as many results as there is room for; returns how many results were refused.
    pub(super) fn take(&mut self, batch: RecordBatch, room: usize) -> usize {
        let refused = batch.checks.len().saturating_sub(room);
        self.checks.extend(batch.checks.into_iter().take(room));
        self.changes.extend(batch.changes);
        refused
    }

    /// Removes and returns the oldest facts, at most `most` of each kind.
    pub(super) fn next(&mut self, most: usize) -> RecordBatch {
        let changes = self.next_changes(most).changes;
        RecordBatch { checks: self.checks.drain(..most.min(self.checks.len())).collect(), changes }
    }

    /// Removes and returns the oldest changes, at most `most`.
    pub(super) fn next_changes(&mut self, most: usize) -> RecordBatch {
        RecordBatch {
            checks: Vec::new(),
            changes: self.changes.drain(..most.min(self.changes.len())).collect(),
        }
    }

    /// Puts a batch back at the front.
    pub(super) fn put_back(&mut self, batch: RecordBatch) {
        batch.checks.into_iter().rev().for_each(|check| self.checks.push_front(check));
        batch.changes.into_iter().rev().for_each(|change| self.changes.push_front(change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::{ChangeCause, MeasuredStatus};

    fn changes(times: std::ops::Range<i64>) -> RecordBatch {
        let change = |at| StatusChange {
            service: 1,
            at: Timestamp::from_ms(at),
            from: MeasuredStatus::Up,
            to: MeasuredStatus::Down,
            cause: ChangeCause::Votes,
        };
        RecordBatch { checks: Vec::new(), changes: times.map(change).collect() }
    }

    #[test]
    fn facts_put_back_are_next() {
        let mut queue = FactQueue::default();
        assert_eq!(queue.take(changes(0..10), 0), 0);
        let first = queue.next(4);
        queue.put_back(first.clone());
        assert_eq!(queue.next(4).changes, first.changes);
        assert_eq!(queue.next_changes(100).changes.len(), 6);
        assert!(queue.is_empty());
    }

    /// Checks the size that [`RecordLimits`](crate::config::limits::RecordLimits) states.
    #[test]
    fn a_queued_result_takes_about_a_hundred_bytes() {
        assert!(size_of::<CheckRecord>() <= 104, "{}", size_of::<CheckRecord>());
    }
}
