//! The latest changes of rows, so that a stream sends only the rows that have changed.

use std::collections::{BTreeSet, VecDeque};

use crate::model::service::ServiceKey;

/// Maximum number of changes that are stored.
const CHANGES_MAX: usize = 4_096;

/// A moment in the life of a view; later ones compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FleetRevision(u64);

/// The changes since a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetChanges {
    /// The rows of these services have changed, or were added or removed.
    Services(BTreeSet<ServiceKey>),
    /// Too much has changed to tell: everything must be read again.
    TooMany,
}

/// The changes of the rows of one view.
#[derive(Debug)]
pub(super) struct RevisionLog {
    revision: FleetRevision,
    /// Changes after this revision are stored.
    complete_since: FleetRevision,
    changes: VecDeque<RowChange>,
}

#[derive(Clone, Copy, Debug)]
struct RowChange {
    revision: FleetRevision,
    service: ServiceKey,
}

impl FleetRevision {
    /// The revision with this number, as a client sent it back.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The number of the revision.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl RevisionLog {
    /// Starts a log. `at_ms` is the present time: so the revisions of a later log are larger than those of an earlier one.
    pub(super) fn new(at_ms: i64) -> Self {
        let revision = FleetRevision(u64::try_from(at_ms).unwrap_or_default());
        Self { revision, complete_since: revision, changes: VecDeque::new() }
    }

    /// The present revision.
    pub(super) const fn revision(&self) -> FleetRevision {
        self.revision
    }

    /// Notes that these rows have changed.
    pub(super) fn note(&mut self, services: &[ServiceKey]) {
        if services.is_empty() {
            return;
        }
        self.revision.0 += 1;
        for service in services {
            if self.changes.len() == CHANGES_MAX
                && let Some(dropped) = self.changes.pop_front()
            {
                self.complete_since = dropped.revision;
            }
            self.changes.push_back(RowChange { revision: self.revision, service: *service });
        }
    }

    /// Notes that all rows may have changed.
    pub(super) fn note_all(&mut self) {
        self.revision.0 += 1;
        self.complete_since = self.revision;
        self.changes.clear();
    }

    /// The rows that have changed since a revision.
    pub(super) fn since(&self, revision: FleetRevision) -> FleetChanges {
        if revision < self.complete_since || revision > self.revision {
            return FleetChanges::TooMany;
        }
        let first = self.changes.partition_point(|change| change.revision <= revision);
        FleetChanges::Services(self.changes.range(first..).map(|change| change.service).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services(services: impl IntoIterator<Item = ServiceKey>) -> FleetChanges {
        FleetChanges::Services(services.into_iter().collect())
    }

    #[test]
    fn changes_are_reported_since_a_revision() {
        let mut log = RevisionLog::new(1_000);
        let start = log.revision();
        assert_eq!(log.since(start), services([]));
        log.note(&[1, 2]);
        let middle = log.revision();
        log.note(&[2, 3]);
        log.note(&[]);
        assert_eq!(log.since(start), services([1, 2, 3]));
        assert_eq!(log.since(middle), services([2, 3]));
        assert_eq!(log.since(log.revision()), services([]));
        assert_eq!(log.since(FleetRevision(999)), FleetChanges::TooMany, "a revision of an earlier log");
        assert_eq!(log.since(FleetRevision(2_000)), FleetChanges::TooMany, "a revision that never was");
        log.note_all();
        assert_eq!(log.since(middle), FleetChanges::TooMany);
        assert_eq!(log.since(log.revision()), services([]));
    }

    #[test]
    fn too_many_changes_are_dropped_oldest_first() {
        let mut log = RevisionLog::new(0);
        let (start, many): (_, Vec<ServiceKey>) = (log.revision(), (0..3_000).collect());
        log.note(&many);
        let first = log.revision();
        assert_eq!(log.since(start), services(0..3_000));
        log.note(&many);
        assert_eq!(log.since(start), FleetChanges::TooMany);
        assert_eq!(log.since(first), services(0..3_000));
    }
}
