//! The services whose verdicts have changed most recently, for readers that keep verdicts in memory.
//!
//! A change is noted before the engine answers with the new verdict. So a reader that asks the engine for the noted services
//! knows every verdict that anybody has seen, without waiting until the changes are recorded.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::service::ServiceKey;

/// Maximum number of changes that are stored.
const CHANGES_MAX: usize = 65_536;

/// The latest changes of verdicts in this process.
#[derive(Debug, Default)]
pub struct VerdictChanges(Mutex<VerdictQueue>);

#[derive(Debug, Default)]
struct VerdictQueue {
    /// Number of changes that are stored no longer.
    dropped: u64,
    services: VecDeque<ServiceKey>,
}

/// A place between two changes; later ones compare greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct VerdictPosition(u64);

/// The changes behind a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterVerdicts {
    /// The services, in the order of the changes; `None` if some changes are stored no longer, so that every verdict may have
    /// changed.
    pub services: Option<Vec<ServiceKey>>,
    /// The position behind these changes.
    pub position: VerdictPosition,
}

impl VerdictChanges {
    /// Notes that the verdict of a service has changed.
    pub(super) fn note(&self, service: ServiceKey) {
        let mut queue = self.lock();
        if queue.services.len() == CHANGES_MAX {
            queue.services.pop_front();
            queue.dropped += 1;
        }
        queue.services.push_back(service);
    }

    /// The position behind the latest change.
    #[must_use]
    pub fn position(&self) -> VerdictPosition {
        self.lock().position()
    }

    /// The changes behind a position.
    #[must_use]
    pub fn since(&self, position: VerdictPosition) -> LaterVerdicts {
        let queue = self.lock();
        let known = position.0.checked_sub(queue.dropped).and_then(|known| usize::try_from(known).ok());
        let known = known.filter(|known| *known <= queue.services.len());
        LaterVerdicts {
            services: known.map(|known| queue.services.range(known..).copied().collect()),
            position: queue.position(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VerdictQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VerdictQueue {
    fn position(&self) -> VerdictPosition {
        VerdictPosition(self.dropped + self.services.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_reported_behind_a_position() {
        let changes = VerdictChanges::default();
        let start = changes.position();
        assert_eq!(changes.since(start).services, Some(Vec::new()));
        changes.note(3);
        let later = changes.since(start);
        assert_eq!(later.services, Some(vec![3]));
        changes.note(1);
        changes.note(3);
        assert_eq!(changes.since(later.position).services, Some(vec![1, 3]));
        assert_eq!(changes.since(changes.position()).services, Some(Vec::new()));
    }

    #[test]
    fn every_verdict_may_have_changed_once_changes_are_dropped() {
        let changes = VerdictChanges::default();
        let start = changes.position();
        let many = i64::try_from(CHANGES_MAX).unwrap();
        (0..many).for_each(|service| changes.note(service));
        assert_eq!(changes.since(start).services.map(|services| services.len()), Some(CHANGES_MAX));
        changes.note(many);
        let later = changes.since(start);
        assert_eq!(later, LaterVerdicts { services: None, position: changes.position() });
        changes.note(7);
        assert_eq!(changes.since(later.position).services, Some(vec![7]));
    }
}
