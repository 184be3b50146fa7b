//! Tracks commits that change the data shown about services and on status pages, so that a reader can check whether
//! cached data is current.
//!
//! A reader takes a [`CommitStamp`], reads, and caches the data with the stamp and the [`ChangeScope`]s that the data
//! belongs to. The data is current until a commit that concerns one of these scopes is marked, which happens before the
//! commit is acknowledged. A transaction that writes one of the tables without naming a scope concerns all scopes.
//!
//! A transaction that writes services and names some writes no others. A reader that follows services relies on that
//! (`commit_log`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::service::ServiceKey;
use crate::store::commit_log::{CommitLog, CommitNote, ServiceCommits, WrittenData};

/// The tables with the data shown about services.
const TABLES: [&str; 8] = [
    "heartbeat",
    "maintenance",
    "maintenance_service",
    "outage",
    "service",
    "service_dependency",
    "service_tag",
    "tag",
];
/// The tables with the data shown on status pages.
const PAGE_TABLES: [&str; 18] = [
    "asset",
    "component",
    "custom_domain",
    "incident",
    "incident_service",
    "incident_statuspage",
    "incident_update",
    "maintenance",
    "maintenance_service",
    "maintenance_statuspage",
    "maintenance_update",
    "organisation",
    "outage",
    "service",
    "service_dependency",
    "service_tag",
    "statuspage",
    "tag",
];
/// Number of slots that scopes are hashed to. Two scopes in one slot only make their data be read more often than needed.
const SLOTS: usize = 4_096;

/// A part of the main database that is read and cached together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeScope {
    /// The set of services of an organisation, and everything that is shown about them.
    Organisation(i64),
    /// Everything that is shown about one service.
    Service(ServiceKey),
}

/// A point between two commits; later ones compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitStamp(u64);

/// The tables that a transaction has written, and the scopes that its writes concern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteSet {
    /// True once the transaction has written one of [`TABLES`].
    has_written: bool,
    /// True once the transaction has written one of [`PAGE_TABLES`].
    has_written_pages: bool,
    /// True once the transaction has written any table.
    is_writing: bool,
    /// Data about services that was written.
    data: WrittenData,
    concerns: Vec<ChangeScope>,
}

impl WriteSet {
    /// Records a statement of the transaction.
    pub(super) fn note(&mut self, sql: &str) {
        let table = table_written(sql);
        self.is_writing |= table.is_some();
        table.into_iter().for_each(|table| self.data.add_table(table));
        let is_one_of =
            |tables: &[&str]| table.is_some_and(|table| tables.contains(&table) || table.is_empty());
        self.has_written |= is_one_of(&TABLES);
        self.has_written_pages |= is_one_of(&PAGE_TABLES);
    }

    /// Returns true if a recorded statement writes.
    pub(super) const fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Returns true if at least one scope was named for the writes.
    pub(super) const fn is_narrow(&self) -> bool {
        !self.concerns.is_empty()
    }

    /// Names a scope that the writes of the transaction concern. Writes without any scope concern all scopes.
    pub(super) fn concern(&mut self, scope: ChangeScope) {
        if !self.concerns.contains(&scope) {
            self.concerns.push(scope);
        }
    }
}

/// The numbers of the latest commits, for each scope and for status pages.
#[derive(Debug)]
pub struct CommitTracker {
    commits: AtomicU64,
    /// Number of commits that have written any table.
    writes: AtomicU64,
    /// The last commit that concerned all scopes.
    everybody: AtomicU64,
    /// The last commit that concerned status pages.
    pages: AtomicU64,
    /// The last commit that concerned a scope of this slot.
    slots: Box<[AtomicU64]>,
    /// The latest commits that concern services.
    log: CommitLog,
}

impl Default for CommitTracker {
    fn default() -> Self {
        let slots = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        let [commits, writes, everybody, pages] = [(); 4].map(|()| AtomicU64::new(0));
        Self { commits, writes, everybody, pages, slots, log: CommitLog::default() }
    }
}

impl CommitTracker {
    /// The current stamp. Data that is read after this call is at least as new as the stamp.
    #[must_use]
    pub fn stamp(&self) -> CommitStamp {
        CommitStamp(self.commits.load(Ordering::Acquire))
    }

    /// Returns true if no commit has concerned these scopes since the stamp was taken.
    #[must_use]
    pub fn is_current(&self, stamp: CommitStamp, scopes: &[ChangeScope]) -> bool {
        let changed_at = |scope: &ChangeScope| self.slots[slot(scope)].load(Ordering::Acquire);
        self.everybody.load(Ordering::Acquire) <= stamp.0
            && scopes.iter().all(|scope| changed_at(scope) <= stamp.0)
    }

    /// Returns true if no commit has changed what status pages show since the stamp was taken.
    #[must_use]
    pub fn are_pages_current(&self, stamp: CommitStamp) -> bool {
        self.pages.load(Ordering::Acquire) <= stamp.0
    }

    /// Returns the data about services of an organisation that was committed since the stamp was taken, and the stamp for the
    /// next call.
    #[must_use]
    pub fn commits_since(&self, stamp: CommitStamp, organisation: i64) -> (CommitStamp, ServiceCommits) {
        let newest = || self.commits.load(Ordering::Acquire);
        let (newest, commits) = self.log.since(stamp.0, organisation, newest);
        (CommitStamp(newest), commits)
    }

    /// Returns the number of commits that have written any table.
    pub(super) fn write_commits(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    fn next_number(&self) -> u64 {
        self.commits.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Marks the writes of a commit. Called once the commit is visible, so that a reader of the earlier data has an older
    /// stamp.
    pub(super) fn mark(&self, written: &WriteSet) {
        if written.is_writing {
            self.writes.fetch_add(1, Ordering::AcqRel);
        }
        if !written.has_written && !written.has_written_pages {
            return;
        }
        let number = self.log.note(|| self.next_number(), CommitNote::from(written));
        if written.has_written_pages {
            self.pages.fetch_max(number, Ordering::AcqRel);
        }
        if !written.has_written {
            return;
        }
        if written.concerns.is_empty() {
            self.everybody.fetch_max(number, Ordering::AcqRel);
        }
        for scope in &written.concerns {
            self.slots[slot(scope)].fetch_max(number, Ordering::AcqRel);
        }
    }

    /// Marks all scopes and status pages. For a commit with an unknown outcome.
    pub fn mark_all(&self) {
        let (organisations, services) = (Vec::new(), Vec::new());
        self.writes.fetch_add(1, Ordering::AcqRel);
        let everything = CommitNote { organisations, services, written: WrittenData::ALL };
        let number = self.log.note(|| self.next_number(), everything);
        self.everybody.fetch_max(number, Ordering::AcqRel);
        self.pages.fetch_max(number, Ordering::AcqRel);
    }
}

impl From<&WriteSet> for CommitNote {
    fn from(written: &WriteSet) -> Self {
        let mut note = Self { organisations: Vec::new(), services: Vec::new(), written: written.data };
        for scope in &written.concerns {
            match scope {
                ChangeScope::Organisation(organisation) => note.organisations.push(*organisation),
                ChangeScope::Service(service) => note.services.push(*service),
            }
        }
        note
    }
}

fn slot(scope: &ChangeScope) -> usize {
    let mut hasher = DefaultHasher::new();
    scope.hash(&mut hasher);
    usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or_default()
}

/// The table that a statement writes; `None` if the statement only reads, empty if the table cannot be determined.
fn table_written(sql: &str) -> Option<&str> {
    let mut words = sql.split_ascii_whitespace();
    let first = words.next()?;
    let is = |wanted: &str| first.eq_ignore_ascii_case(wanted);
    if is("SELECT") || is("SAVEPOINT") || is("RELEASE") {
        return None;
    }
    let before_table = |word: &&str| ["INTO", "FROM"].iter().any(|mark| word.eq_ignore_ascii_case(mark));
    let table = match first {
        _ if is("UPDATE") => words.next(),
        _ if is("INSERT") || is("REPLACE") || is("DELETE") => {
            words.find(before_table).and_then(|_| words.next())
        }
        _ => None,
    };
    Some(table.map_or("", name_of))
}

/// The table name in `"name"` or `name(`.
fn name_of(word: &str) -> &str {
    let word = word.trim_start_matches('"');
    word.split(['"', '(', ';']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"INSERT INTO "service" ("id") VALUES (?)"#, Some("service"))]
    #[case(r#"INSERT OR IGNORE INTO tag(id) VALUES (1)"#, Some("tag"))]
    #[case(r#"UPDATE "heartbeat" SET "last_ping_at" = ?"#, Some("heartbeat"))]
    #[case(r#"DELETE FROM "service_tag" WHERE "service_id" = ?"#, Some("service_tag"))]
    #[case(r#"SELECT "id" FROM "service""#, None)]
    #[case("WITH x AS (SELECT 1) DELETE FROM service", Some(""))]
    #[case("PRAGMA max_page_count = 1", Some(""))]
    #[case("", None)]
    fn the_written_table_is_read_from_a_statement(#[case] sql: &str, #[case] table: Option<&str>) {
        assert_eq!(table_written(sql), table);
    }

    fn written(sql: &str, concerns: &[ChangeScope]) -> WriteSet {
        let mut written = WriteSet::default();
        written.note(sql);
        concerns.iter().for_each(|scope| written.concern(*scope));
        written
    }

    const OURS: [ChangeScope; 2] = [ChangeScope::Organisation(1), ChangeScope::Service(7)];

    /// Columns: a statement, its scopes, and whether cached data of service 7 of organisation 1 stays current.
    #[rstest]
    #[case("UPDATE service SET name = ''", &[ChangeScope::Service(7)], false)]
    #[case("UPDATE service SET name = ''", &[ChangeScope::Service(8)], true)]
    #[case("UPDATE tag SET value = ''", &[ChangeScope::Organisation(1)], false)]
    #[case("UPDATE tag SET value = ''", &[ChangeScope::Organisation(2)], true)]
    #[case("UPDATE tag SET value = ''", &[], false)]
    #[case("UPDATE incident SET value = ''", &[], true)]
    #[case("SELECT 1", &[], true)]
    #[case("WITH x AS (SELECT 1) DELETE FROM incident", &[], false)]
    fn cached_data_is_current_until_a_write_concerns_it(
        #[case] sql: &str,
        #[case] concerns: &[ChangeScope],
        #[case] current: bool,
    ) {
        let changes = CommitTracker::default();
        let before = changes.stamp();
        assert!(changes.is_current(before, &OURS));
        changes.mark(&written(sql, concerns));
        assert_eq!(changes.is_current(before, &OURS), current);
        assert!(changes.is_current(changes.stamp(), &OURS), "what is read from now on");
    }

    /// Columns: a statement, its scopes, and whether cached pages stay current.
    #[rstest]
    #[case("UPDATE incident_update SET message = ''", &[], false)]
    #[case("UPDATE service SET name = ''", &[ChangeScope::Service(8)], false)]
    #[case("UPDATE heartbeat SET last_ping_at = 1", &[], true)]
    #[case("UPDATE token SET name = ''", &[], true)]
    #[case("SELECT 1", &[], true)]
    fn cached_pages_are_current_until_a_write_concerns_pages(
        #[case] sql: &str,
        #[case] concerns: &[ChangeScope],
        #[case] current: bool,
    ) {
        let changes = CommitTracker::default();
        let before = changes.stamp();
        changes.mark(&written(sql, concerns));
        assert_eq!(changes.are_pages_current(before), current);
        assert!(changes.are_pages_current(changes.stamp()), "what is read from now on");
    }

    #[rstest]
    #[case("UPDATE notification_delivery SET tries = 1", 1)]
    #[case("SELECT 1", 0)]
    fn every_commit_that_writes_is_counted(#[case] sql: &str, #[case] expected: u64) {
        let changes = CommitTracker::default();
        changes.mark(&written(sql, &[]));
        assert_eq!(changes.write_commits(), expected);
        changes.mark_all();
        assert_eq!(changes.write_commits(), expected + 1);
    }

    #[test]
    fn a_commit_of_unknown_outcome_invalidates_everything() {
        let changes = CommitTracker::default();
        let before = changes.stamp();
        changes.mark_all();
        assert!(!changes.is_current(before, &OURS) && !changes.are_pages_current(before));
    }
}
