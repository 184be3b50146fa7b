//! The latest commits that concern services, for a reader that follows them without reading all services again.
//!
//! A transaction that names services concerns only these. One that names none is noted with the tables that it has written.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::service::ServiceKey;

/// Maximum number of commits that are noted.
const COMMITS_MAX: usize = 1_024;
/// Maximum number of services that are noted for one commit; one that names more may have changed any.
const SERVICES_MAX: usize = 1_024;

/// Kinds of data about services that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenData {
    /// Services or their tags.
    pub services: bool,
    /// Names or colours of tags.
    pub tags: bool,
    /// Maintenances, or the services that they cover.
    pub maintenances: bool,
    /// Incidents, or the services that they affect.
    pub incidents: bool,
}

/// The data about services of an organisation that was written since a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceCommits {
    /// Services that were written, perhaps those of other organisations as well.
    pub services: BTreeSet<ServiceKey>,
    /// Data of which it is not known which services it belongs to. `services` is true here if any service may have changed.
    pub unnamed: WrittenData,
}

/// A commit.
#[derive(Debug)]
pub(super) struct CommitNote {
    /// Organisations that the commit concerns; empty if only services were named, or nothing.
    pub(super) organisations: Vec<i64>,
    /// Services that the commit concerns.
    pub(super) services: Vec<ServiceKey>,
    /// Data that was written.
    pub(super) written: WrittenData,
}

/// The latest commits, oldest first.
#[derive(Debug, Default)]
pub(super) struct CommitLog(Mutex<LoggedCommits>);

#[derive(Debug, Default)]
struct LoggedCommits {
    notes: VecDeque<NumberedNote>,
    /// Number of the last commit that was dropped.
    dropped: u64,
}

#[derive(Debug)]
struct NumberedNote {
    number: u64,
    note: CommitNote,
}

impl WrittenData {
    /// All kinds of data.
    pub const ALL: Self = Self { services: true, tags: true, maintenances: true, incidents: true };

    /// Adds a table that was written; an empty name stands for any table.
    pub(super) fn add_table(&mut self, table: &str) {
        self.services |= matches!(table, "service" | "service_tag" | "");
        self.tags |= matches!(table, "tag" | "");
        self.maintenances |= matches!(table, "maintenance" | "maintenance_service" | "");
        self.incidents |= matches!(table, "incident" | "incident_service" | "");
    }

    /// Returns true if something was written.
    #[must_use]
    pub fn is_any(self) -> bool {
        self != Self::default()
    }

    /// Returns the data that is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            services: self.services || other.services,
            tags: self.tags || other.tags,
            maintenances: self.maintenances || other.maintenances,
            incidents: self.incidents || other.incidents,
        }
    }
}

impl CommitLog {
    /// Notes a commit. `number` assigns its number, so that numbers rise in the order of the log.
    pub(super) fn note(&self, number: impl FnOnce() -> u64, note: CommitNote) -> u64 {
        let mut logged = self.lock();
        let number = number();
        if note.written.is_any() {
            if logged.notes.len() == COMMITS_MAX
                && let Some(oldest) = logged.notes.pop_front()
            {
                logged.dropped = oldest.number;
            }
            logged.notes.push_back(NumberedNote { number, note });
        }
        number
    }

    /// The commits after the one with this number that concern services of an organisation. `newest` returns the number of the
    /// newest commit, which is returned as well.
    pub(super) fn since(
        &self,
        number: u64,
        organisation: i64,
        newest: impl FnOnce() -> u64,
    ) -> (u64, ServiceCommits) {
        let logged = self.lock();
        let mut commits = ServiceCommits::default();
        if logged.dropped > number {
            commits.unnamed = WrittenData::ALL;
            return (newest(), commits);
        }
        let first = logged.notes.partition_point(|noted| noted.number <= number);
        for NumberedNote { note, .. } in logged.notes.range(first..) {
            commits.add(note, organisation);
        }
        (newest(), commits)
    }

    fn lock(&self) -> MutexGuard<'_, LoggedCommits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServiceCommits {
    fn add(&mut self, note: &CommitNote, organisation: i64) {
        let is_named = !note.services.is_empty() && note.services.len() <= SERVICES_MAX;
        if is_named && note.written.services {
            self.services.extend(&note.services);
        }
        // Without organisations, a commit that names services may still have written more: their maintenances, for example.
        if note.organisations.is_empty() || note.organisations.contains(&organisation) {
            let services = note.written.services && !is_named;
            self.unnamed = self.unnamed.union(WrittenData { services, ..note.written });
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SERVICES: WrittenData =
        WrittenData { services: true, tags: false, maintenances: false, incidents: false };
    const TAGS: WrittenData = WrittenData { services: false, tags: true, ..SERVICES };
    const NOTHING: WrittenData = WrittenData { services: false, ..SERVICES };

    /// Columns: organisations, services and data of a commit; the services and the other data that organisation 1 reads again.
    #[rstest]
    #[case::one_service(&[], &[7], SERVICES, &[7], NOTHING)]
    #[case::new_service(&[1], &[7], SERVICES, &[7], NOTHING)]
    #[case::service_of_another(&[2], &[7], SERVICES, &[7], NOTHING)]
    #[case::unnamed_services(&[1], &[], SERVICES, &[], SERVICES)]
    #[case::unnamed_services_of_another(&[2], &[], SERVICES, &[], NOTHING)]
    #[case::unnamed_at_all(&[], &[], SERVICES, &[], SERVICES)]
    #[case::tag(&[1], &[], TAGS, &[], TAGS)]
    #[case::tag_with_a_service(&[1], &[7], WrittenData { services: true, ..TAGS }, &[7], TAGS)]
    #[case::service_named_but_not_written(&[], &[7], TAGS, &[], TAGS)]
    #[case::nothing(&[], &[7], NOTHING, &[], NOTHING)]
    fn a_commit_is_followed_by_what_it_names(
        #[case] organisations: &[i64],
        #[case] services: &[ServiceKey],
        #[case] written: WrittenData,
        #[case] expected: &[ServiceKey],
        #[case] unnamed: WrittenData,
    ) {
        let log = CommitLog::default();
        let note = CommitNote { organisations: organisations.into(), services: services.into(), written };
        log.note(|| 1, note);
        let expected = ServiceCommits { services: expected.iter().copied().collect(), unnamed };
        assert_eq!(log.since(0, 1, || 5), (5, expected));
        assert_eq!(log.since(1, 1, || 5), (5, ServiceCommits::default()));
    }

    #[test]
    fn commits_that_were_dropped_may_have_changed_everything() {
        let log = CommitLog::default();
        for number in 1..=COMMITS_MAX as u64 + 1 {
            log.note(
                || number,
                CommitNote { organisations: vec![2], services: Vec::new(), written: SERVICES },
            );
        }
        let all = ServiceCommits { unnamed: WrittenData::ALL, ..ServiceCommits::default() };
        assert_eq!(log.since(0, 1, || 9), (9, all));
        assert_eq!(log.since(1, 1, || 9), (9, ServiceCommits::default()));
    }

    #[test]
    fn a_commit_with_very_many_services_counts_as_unnamed() {
        let log = CommitLog::default();
        let services: Vec<ServiceKey> = (0..=SERVICES_MAX as i64).collect();
        log.note(|| 1, CommitNote { organisations: Vec::new(), services, written: SERVICES });
        let expected = ServiceCommits { unnamed: SERVICES, ..ServiceCommits::default() };
        assert_eq!(log.since(0, 1, || 1), (1, expected));
    }
}
