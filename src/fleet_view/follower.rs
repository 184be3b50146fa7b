//! Keeps a view up to date: finds out which services have changed, and reads only these.
//!
//! What has to be read is noted first and removed from the notes after it was applied. So a refresh that fails or is dropped
//! halfway loses nothing, and the next one continues.

pub(super) mod first_read;

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::engine::verdict_changes::VerdictPosition;
use crate::feed::read_progress::ReadProgress;
use crate::fleet_view::fleet_facts::MeasuredState;
use crate::fleet_view::reader::{
    CHANGES_AT_ONCE, CHUNK, ConcernedServices, FleetReader, HISTORY_PATIENCE, measured_state,
};
use crate::fleet_view::state_notes::StateNotes;
use crate::fleet_view::view::FleetView;
use crate::model::partition::PartitionSet;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::store::changes::CommitStamp;
use crate::store::commit_log::WrittenData;
use crate::store::history::feed::{self, NumberedChange};
use crate::store::{HistoryError, MainError, services, tags};

/// The shortest time between two readings of status changes.
const STATES_EVERY: Duration = Duration::from_millis(250);
/// The wait before a failed reading of status changes is tried again.
const STATES_RETRY: Duration = Duration::from_secs(2);
/// Number of readings in which the owners of all services are asked once for their states: that takes a minute. So figures are
/// up to date, and a state that no status change reports is noticed.
const SWEEP_READINGS: usize = 240;
/// The time after which owners that did not answer are asked again.
const SILENT_EVERY: Duration = Duration::from_secs(2);
/// The shortest time between two comparisons with a database that other processes write.
const COMPARED_EVERY: Duration = Duration::from_secs(1);
/// A comparison may take at most the time divided by this number.
const COMPARISON_SHARE: u32 = 50;

/// Follows the services of one organisation.
pub(super) struct FleetFollower {
    reader: FleetReader,
    /// Commits of this process were noted up to here.
    stamp: CommitStamp,
    /// Status changes were noted up to here; `None` until the history could be read.
    changes: Option<ReadProgress>,
    concerned: ConcernedServices,
    /// Data that has to be read as a whole.
    unread: WrittenData,
    /// Services that have to be read.
    services: BTreeSet<ServiceKey>,
    /// Services whose owners have to be asked.
    states: StateNotes,
    /// Verdicts of the own engine were noted up to here.
    verdicts: VerdictPosition,
    /// Services whose owners did not answer.
    silent: BTreeSet<ServiceKey>,
    /// The last service whose owner was asked in turn.
    swept: ServiceKey,
    /// Set while status changes cannot be read: the last time at which they could.
    states_as_of: Option<Timestamp>,
    read_states_at: Instant,
    silent_at: Instant,
    compare_at: Instant,
}

impl FleetFollower {
    /// Brings the view up to date. Returns the time up to which statuses are known, if status changes cannot be read.
    pub(super) async fn refresh(
        &mut self,
        view: &FleetView,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, MainError> {
        self.note_commits();
        self.note_owners(view, now);
        self.note_verdicts(view);
        self.read_unnamed(view).await?;
        self.read_services(view, now).await?;
        if Instant::now() >= self.read_states_at {
            self.note_states(view, now).await;
        }
        self.read_states(view).await;
        self.read_services(view, now).await?;
        Ok(self.states_as_of)
    }

    /// Notes the services whose state has to be read: those whose status has changed, and the next ones in turn.
    async fn note_states(&mut self, view: &FleetView, now: Timestamp) {
        let noted = timeout(HISTORY_PATIENCE, self.note_status_changes(view)).await;
        let wait = match noted {
            Ok(Ok(())) => {
                if self.states_as_of.take().is_some() {
                    // The times of statuses could not be read meanwhile.
                    self.services.extend(view.read().columns.service_keys());
                }
                STATES_EVERY
            }
            failed => {
                if self.states_as_of.is_none() {
                    let problem = failed.ok().and_then(Result::err).map(|error| error.to_string());
                    tracing::warn!(problem, "cannot follow status changes of services; retrying");
                    self.states_as_of = Some(now);
                }
                STATES_RETRY
            }
        };
        let contents = view.read();
        let count = contents.columns.len().div_ceil(SWEEP_READINGS).max(1);
        let next = contents.columns.keys_behind(self.swept, count);
        self.swept = next.last().copied().unwrap_or(ServiceKey::MIN);
        for service in next {
            self.states.note(service);
        }
        self.read_states_at = Instant::now() + wait;
    }

    /// Notes what was committed since the last refresh.
    fn note_commits(&mut self) {
        let main = &self.reader.databases().main;
        let (stamp, commits) = main.own_changes().commits_since(self.stamp, self.reader.organisation);
        self.stamp = stamp;
        self.services.extend(commits.services);
        self.unread = self.unread.union(commits.unnamed);
        // `None` on PostgreSQL, where other processes write as well.
        if main.changes().is_none() && Instant::now() >= self.compare_at {
            self.unread = WrittenData::ALL;
        }
    }

    /// Notes which partitions have lost their owner or have one again.
    fn note_owners(&mut self, view: &FleetView, now: Timestamp) {
        let unwatched = self.reader.router.ownership.unowned();
        if unwatched != view.read().absence.unwatched() {
            let regained = view.change(|contents| {
                let change = contents.absence.update(unwatched, now);
                let lost = contents.columns.in_partitions(change.lost);
                for service in &lost {
                    contents.columns.set_measured(*service, MeasuredState::default());
                }
                contents.log.note(&lost);
                contents.columns.in_partitions(change.regained)
            });
            self.services.extend(regained);
        }
        if self.silent_at.elapsed() >= SILENT_EVERY {
            self.services.extend(self.silent.iter().take(CHUNK));
            self.silent_at = Instant::now();
            let locations = self.reader.locations();
            view.change(|contents| contents.columns.set_locations(locations));
        }
    }

    /// Notes the changes of verdicts of the own engine, which are recorded later.
    fn note_verdicts(&mut self, view: &FleetView) {
        let later = self.reader.router.engine.verdict_changes().since(self.verdicts);
        self.verdicts = later.position;
        let contents = view.read();
        let Some(changes) = later.changes else {
            contents.columns.service_keys().for_each(|service| self.states.note(service));
            return;
        };
        for change in changes.iter().filter(|change| contents.columns.row_of(change.service).is_some()) {
            self.states.note_change(change);
        }
    }

    /// Notes the services whose status has changed.
    async fn note_status_changes(&mut self, view: &FleetView) -> Result<(), HistoryError> {
        let progress = match &mut self.changes {
            Some(progress) => progress,
            None => {
                // Changes from before were missed, so every state may be another one.
                let progress = self.reader.begin_progress().await?;
                self.services.extend(view.read().columns.service_keys());
                self.changes.insert(progress)
            }
        };
        let history = self.reader.databases().history.reader();
        let mut number = progress.settled();
        loop {
            let read = feed::after(history, number, PartitionSet::ALL, CHANGES_AT_ONCE).await?;
            let contents = view.read();
            for NumberedChange { number, change } in &read {
                if progress.note(*number) && contents.columns.row_of(change.service).is_some() {
                    self.states.note_change(change);
                }
            }
            number = read.last().map_or(number, |last| last.number);
            if (read.len() as u64) < CHANGES_AT_ONCE {
                break;
            }
        }
        progress.advance_settled(Instant::now());
        Ok(())
    }

    /// Reads the data of which it is not known which services it belongs to.
    async fn read_unnamed(&mut self, view: &FleetView) -> Result<(), MainError> {
        if self.unread.services {
            let begin = Instant::now();
            self.compare_revisions(view).await?;
            let now = Instant::now();
            self.compare_at = now + COMPARED_EVERY.max((now - begin) * COMPARISON_SHARE);
            self.unread.services = false;
        }
        if self.unread.maintenances {
            let maintenances = self.reader.maintenances().await?;
            let before = std::mem::replace(&mut self.concerned.maintenances, maintenances);
            let both: HashSet<ServiceKey> =
                before.keys().chain(self.concerned.maintenances.keys()).copied().collect();
            let is_changed = |key: &ServiceKey| before.get(key) != self.concerned.maintenances.get(key);
            self.services.extend(both.into_iter().filter(is_changed));
            self.unread.maintenances = false;
        }
        if self.unread.incidents {
            let incidents = self.reader.incidents().await?;
            let before = std::mem::replace(&mut self.concerned.incidents, incidents);
            let both: HashSet<ServiceKey> =
                before.keys().chain(self.concerned.incidents.keys()).copied().collect();
            view.change(|contents| {
                let mut changed: Vec<ServiceKey> = both.into_iter().collect();
                changed.retain(|key| contents.columns.set_incident(*key, self.concerned.incident(*key)));
                contents.log.note(&changed);
            });
            self.unread.incidents = false;
        }
        if self.unread.tags {
            self.read_tags(view).await?;
            self.unread.tags = false;
        }
        Ok(())
    }

    async fn read_tags(&self, view: &FleetView) -> Result<(), MainError> {
        let tags = tags::all(self.reader.databases().main.reader(), self.reader.organisation).await?;
        view.change(|contents| {
            if contents.columns.set_tags(&tags) {
                contents.log.note_all();
            }
        });
        Ok(())
    }

    /// Notes the services that were added, removed, or have another revision than before.
    async fn compare_revisions(&mut self, view: &FleetView) -> Result<(), MainError> {
        let main = self.reader.databases().main.reader();
        let revisions = services::revisions(main, self.reader.organisation).await?;
        for some in revisions.chunks(CHUNK) {
            let changed = view.change(|contents| {
                let is_changed =
                    |(key, revision): &&(ServiceKey, i64)| contents.columns.set_revision(*key, *revision);
                some.iter().filter(is_changed).map(|(key, _)| *key).collect::<Vec<_>>()
            });
            self.services.extend(changed);
        }
        let contents = view.read();
        let is_gone = |key: &ServiceKey| revisions.binary_search_by_key(key, |(key, _)| *key).is_err();
        self.services.extend(contents.columns.service_keys().filter(is_gone));
        Ok(())
    }

    /// Reads the services that were noted.
    async fn read_services(&mut self, view: &FleetView, now: Timestamp) -> Result<(), MainError> {
        while !self.services.is_empty() {
            let keys: Vec<ServiceKey> = self.services.iter().take(CHUNK).copied().collect();
            let unwatched = view.read().absence.unwatched();
            let facts = self.reader.facts(&keys, &self.concerned, unwatched, now).await?;
            let mut tags = facts.iter().flat_map(|facts| &facts.tags);
            let has_new_tags = {
                let contents = view.read();
                tags.any(|tag| contents.columns.tag_names().known_number(*tag).is_none())
            };
            if has_new_tags {
                self.read_tags(view).await?;
            }
            view.change(|contents| {
                let found: HashSet<ServiceKey> = facts.iter().map(|facts| facts.outline.key).collect();
                let put = facts.iter().filter(|facts| contents.columns.put(facts));
                let mut changed: Vec<ServiceKey> = put.map(|facts| facts.outline.key).collect();
                let gone = keys.iter().filter(|key| !found.contains(key));
                changed.extend(gone.filter(|key| contents.columns.remove(**key)));
                contents.log.note(&changed);
            });
            for key in keys {
                self.services.remove(&key);
                self.silent.remove(&key);
            }
            let contents = view.read();
            let silent = facts.iter().filter(|facts| !facts.measured.is_answered);
            let silent = silent.map(|facts| facts.outline.key);
            self.silent.extend(silent.filter(|key| contents.absence.since(*key).is_none()));
        }
        Ok(())
    }

    /// Asks the owners of the services whose status has changed.
    async fn read_states(&mut self, view: &FleetView) {
        loop {
            let noted = self.states.first(CHUNK);
            if noted.is_empty() {
                return;
            }
            let (addresses, unwatched): (Vec<ServiceAddress>, _) = {
                let contents = view.read();
                let known = noted.iter().filter_map(|key| contents.columns.address(*key));
                (known.collect(), contents.absence.unwatched())
            };
            let snapshots = self.reader.snapshots(&addresses, unwatched).await;
            let [silent, unexplained] = view.change(|contents| {
                let (mut changed, mut silent, mut unexplained) = (Vec::new(), Vec::new(), Vec::new());
                for (ServiceAddress { key, .. }, snapshot) in addresses.iter().zip(snapshots) {
                    let edge = self.states.change(*key);
                    if snapshot.is_none() && contents.absence.since(*key).is_none() {
                        silent.push(*key);
                    }
                    let is_other =
                        snapshot.is_some_and(|one| contents.columns.verdict(*key) != Some(one.verdict));
                    if is_other && edge.is_none() {
                        unexplained.push(*key);
                    } else if contents.columns.set_measured(*key, measured_state(snapshot, edge)) {
                        changed.push(*key);
                    }
                }
                contents.log.note(&changed);
                [silent, unexplained]
            });
            self.silent.extend(silent);
            // Their status has another time now, which the history may know.
            self.services.extend(unexplained);
            self.states.remove(&noted);
        }
    }
}
