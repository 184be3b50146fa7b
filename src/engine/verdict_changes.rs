//! The latest changes of verdicts, for readers that keep verdicts in memory.
//!
//! A change is noted before the engine answers with the new verdict. So a reader that asks the engine for the noted services
//! knows every verdict that anybody has seen, without waiting until the changes are recorded.
//!
//! Changes are stored once a reader has asked for a position: a process in which nobody reads them only counts them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::history::StatusChange;

/// Maximum number of changes that are stored.
const CHANGES_MAX: usize = 65_536;

/// The latest changes of verdicts in this process.
#[derive(Debug, Default)]
pub struct VerdictChanges(Mutex<VerdictQueue>);

#[derive(Debug, Default)]
struct VerdictQueue {
    /// True once a reader has asked for a position.
    has_reader: bool,
    /// Number of changes that are no longer stored.
    dropped: u64,
    changes: VecDeque<StatusChange>,
}

/// A position between two changes; later ones compare greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct VerdictPosition(u64);

/// The changes behind a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterVerdicts {
    /// The changes in their order; `None` if some are no longer stored, so that every verdict may have changed.
    pub changes: Option<Vec<StatusChange>>,
    /// The position behind these changes.
    pub position: VerdictPosition,
}

impl VerdictChanges {
    /// Notes a change of a verdict.
    pub(super) fn note(&self, change: StatusChange) {
        let mut queue = self.lock();
        if !queue.has_reader {
            queue.dropped += 1;
            return;
        }
        if queue.changes.len() == CHANGES_MAX {
            queue.changes.pop_front();
            queue.dropped += 1;
        }
        queue.changes.push_back(change);
    }

    /// The position behind the latest change.
    #[must_use]
    pub fn position(&self) -> VerdictPosition {
        let mut queue = self.lock();
        queue.has_reader = true;
        queue.position()
    }

    /// The changes behind a position.
    #[must_use]
    pub fn since(&self, position: VerdictPosition) -> LaterVerdicts {
        let queue = self.lock();
        let known = position.0.checked_sub(queue.dropped).and_then(|known| usize::try_from(known).ok());
        let known = known.filter(|known| *known <= queue.changes.len());
        LaterVerdicts {
            changes: known.map(|known| queue.changes.range(known..).copied().collect()),
            position: queue.position(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VerdictQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VerdictQueue {
    fn position(&self) -> VerdictPosition {
        VerdictPosition(self.dropped + self.changes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::{ChangeCause, MeasuredStatus};

    fn change(service: i64) -> StatusChange {
        let (from, to) = (MeasuredStatus::Up, MeasuredStatus::Down);
        StatusChange { service, at: Timestamp::from_ms(0), from, to, cause: ChangeCause::Votes }
    }

    /// The services of the changes behind a position.
    fn services(changes: &VerdictChanges, position: VerdictPosition) -> Option<Vec<i64>> {
        let found = changes.since(position).changes?;
        Some(found.iter().map(|change| change.service).collect())
    }

    #[test]
    fn changes_without_a_reader_are_only_counted() {
        let changes = VerdictChanges::default();
        changes.note(change(3));
        assert_eq!(changes.lock().changes.capacity(), 0);
        assert_eq!(changes.since(VerdictPosition::default()).changes, None);
        let position = changes.position();
        changes.note(change(1));
        assert_eq!(services(&changes, position), Some(vec![1]));
    }

    #[test]
    fn changes_are_reported_behind_a_position() {
        let changes = VerdictChanges::default();
        let start = changes.position();
        assert_eq!(services(&changes, start), Some(Vec::new()));
        changes.note(change(3));
        let later = changes.since(start);
        assert_eq!(later.changes, Some(vec![change(3)]));
        changes.note(change(1));
        changes.note(change(3));
        assert_eq!(services(&changes, later.position), Some(vec![1, 3]));
        assert_eq!(services(&changes, changes.position()), Some(Vec::new()));
    }

    #[test]
    fn every_verdict_may_have_changed_once_changes_are_dropped() {
        let changes = VerdictChanges::default();
        let start = changes.position();
        let many = i64::try_from(CHANGES_MAX).unwrap();
        (0..many).for_each(|service| changes.note(change(service)));
        assert_eq!(services(&changes, start).map(|services| services.len()), Some(CHANGES_MAX));
        changes.note(change(many));
        let later = changes.since(start);
        assert_eq!(later, LaterVerdicts { changes: None, position: changes.position() });
        changes.note(change(7));
        assert_eq!(services(&changes, later.position), Some(vec![7]));
    }
}
