//! Reads the facts about services: from the main database, from the history, and from the nodes that watch them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::engine::aggregator::ServiceSnapshot;
use crate::feed::read_progress::{BEHIND, ReadProgress};
use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use crate::model::history::StatusChange;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::service_router::ServiceRouter;
use crate::store::history::{feed, many_changes};
use crate::store::incidents::open_links::open_links;
use crate::store::maintenances::effect::covered_since;
use crate::store::services::outlines;
use crate::store::{Databases, HistoryError, MainError, tags};

/// Maximum number of services that are read in one part.
pub(super) const CHUNK: usize = 1_000;
/// Time limit for reading from the history.
pub(super) const HISTORY_PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of status changes read in one statement.
pub(super) const CHANGES_AT_ONCE: u64 = 500;
/// The time for which the history is not read again after a failure.
const HISTORY_RETRY: Duration = Duration::from_secs(5);

/// Reads the services of one organisation.
#[derive(Debug)]
pub(super) struct FleetReader {
    pub(super) router: ServiceRouter,
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// Time of the last failure of the history.
    history_failed_at: Mutex<Option<Instant>>,
}

/// The services that maintenances and incidents concern at present. There are few, so they are always read together.
#[derive(Clone, Debug, Default)]
pub(super) struct ConcernedServices {
    /// The services that a maintenance in progress covers, with its start.
    pub(super) maintenances: HashMap<ServiceKey, Timestamp>,
    /// The services that open incidents affect, with true if all of these are acknowledged.
    pub(super) incidents: HashMap<ServiceKey, bool>,
}

impl ConcernedServices {
    /// The open incidents of a service.
    pub(super) fn incident(&self, service: ServiceKey) -> IncidentPresence {
        match self.incidents.get(&service) {
            None => IncidentPresence::Absent,
            Some(false) => IncidentPresence::Open,
            Some(true) => IncidentPresence::Acknowledged,
        }
    }
}

impl FleetReader {
    /// Creates a reader of this organisation.
    pub(super) const fn new(router: ServiceRouter, organisation: i64) -> Self {
        Self { router, organisation, history_failed_at: Mutex::new(None) }
    }

    /// The databases.
    pub(super) const fn databases(&self) -> &Databases {
        &self.router.databases
    }

    /// Reads the services that a maintenance in progress covers.
    pub(super) async fn maintenances(&self) -> Result<HashMap<ServiceKey, Timestamp>, MainError> {
        covered_since(self.databases().main.reader(), self.organisation).await
    }

    /// Reads the services that open incidents affect.
    pub(super) async fn incidents(&self) -> Result<HashMap<ServiceKey, bool>, MainError> {
        open_links(self.databases().main.reader(), self.organisation).await
    }

    /// Codes of the present locations.
    pub(super) fn locations(&self) -> Vec<String> {
        self.router.compiler.roster.codes().iter().map(ToString::to_string).collect()
    }

    /// Reads these services, of which there are at most [`CHUNK`]; those that do not exist, and those of other organisations,
    /// are not in the result. Nobody is asked for services in `unwatched` partitions.
    pub(super) async fn facts(
        &self,
        keys: &[ServiceKey],
        concerned: &ConcernedServices,
        unwatched: PartitionSet,
        now: Timestamp,
    ) -> Result<Vec<FleetFacts>, MainError> {
        let main = self.databases().main.reader();
        let mut services = outlines::by_keys(main, keys).await?;
        services.retain(|service| service.organisation == self.organisation);
        let mut tags: HashMap<ServiceKey, Vec<i64>> = HashMap::new();
        for (service, tag) in tags::links_of_services(main, keys).await? {
            tags.entry(service).or_default().push(tag);
        }
        let addresses: Vec<ServiceAddress> = services.iter().map(ServiceOutline::address).collect();
        let snapshots = self.snapshots(&addresses, unwatched).await;
        let changes = self.last_changes(keys, now).await;
        let facts = services.into_iter().zip(snapshots).map(|(outline, snapshot)| FleetFacts {
            tags: tags.remove(&outline.key).unwrap_or_default(),
            maintenance_since: concerned.maintenances.get(&outline.key).copied(),
            incident: concerned.incident(outline.key),
            measured: measured_state(snapshot, changes.get(&outline.key)),
            outline,
        });
        Ok(facts.collect())
    }

    /// Asks the owners of these services for their states, at most [`CHUNK`] at a time: `None` without an answer.
    pub(super) async fn snapshots(
        &self,
        services: &[ServiceAddress],
        unwatched: PartitionSet,
    ) -> Vec<Option<ServiceSnapshot>> {
        let is_watched = |service: &ServiceAddress| !unwatched.contains(Partition::of(service.key));
        let watched: Vec<ServiceAddress> =
            services.iter().copied().filter(|service| is_watched(service)).collect();
        let mut answers = Vec::with_capacity(watched.len());
        for some in watched.chunks(CHUNK) {
            answers.extend(self.router.snapshots_at_once(some).await);
        }
        let mut answers = answers.into_iter();
        services
            .iter()
            .map(|service| if is_watched(service) { answers.next().flatten() } else { None })
            .collect()
    }

    /// The last recorded change of each of these services. Without the history nothing is known: lists show services without
    /// the times of their statuses rather than nothing.
    async fn last_changes(&self, keys: &[ServiceKey], now: Timestamp) -> HashMap<ServiceKey, StatusChange> {
        let has_just_failed = self.failure().is_some_and(|at| at.elapsed() < HISTORY_RETRY);
        if has_just_failed {
            return HashMap::new();
        }
        let reading = many_changes::since_of(self.databases().history.reader(), keys, now);
        let problem = match timeout(HISTORY_PATIENCE, reading).await {
            Ok(Ok(changes)) => {
                let last = |(service, changes): (_, Vec<StatusChange>)| Some((service, *changes.last()?));
                return changes.into_iter().filter_map(last).collect();
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the history does not answer in time".to_owned(),
        };
        tracing::warn!(problem, "cannot read since when services have their status");
        *self.history_failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        HashMap::new()
    }

    /// Starts to follow status changes, behind the newest one.
    pub(super) async fn begin_progress(&self) -> Result<ReadProgress, HistoryError> {
        let history = self.databases().history.reader();
        let newest = feed::newest(history, PartitionSet::ALL).await?;
        if self.databases().main.changes().is_some() {
            return Ok(ReadProgress::behind(newest));
        }
        let start = (newest - BEHIND).max(0);
        let mut visible = Vec::new();
        loop {
            let after = visible.last().copied().unwrap_or(start);
            let read = feed::after(history, after, PartitionSet::ALL, CHANGES_AT_ONCE).await?;
            visible.extend(read.iter().map(|change| change.number));
            if (read.len() as u64) < CHANGES_AT_ONCE {
                return Ok(ReadProgress::among(start, visible));
            }
        }
    }

    /// The time at which the history last failed to answer, if it ever has.
    pub(super) fn failure(&self) -> Option<Instant> {
        *self.history_failed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The measured state by the owner's answer and the last recorded change. A change into another verdict is an earlier one: the
/// present one is not recorded yet.
pub(super) fn measured_state(
    snapshot: Option<ServiceSnapshot>,
    change: Option<&StatusChange>,
) -> MeasuredState {
    let Some(ServiceSnapshot { verdict, is_flapping, .. }) = snapshot else {
        return MeasuredState::default();
    };
    let since = change.filter(|change| change.to.verdict() == verdict).map(|change| change.at);
    let uptime_ppm = snapshot.and_then(|snapshot| snapshot.uptime_30d).map(millionths);
    MeasuredState { verdict, is_flapping, since, uptime_ppm, is_answered: true }
}

/// Millionths of a percentage. Rounded down, so that only a whole uptime is shown as 100 %.
fn millionths(percent: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
    let millionths = (percent * 10_000.0).clamp(0.0, 1_000_000.0) as u32;
    millionths
}
