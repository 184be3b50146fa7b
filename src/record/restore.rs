//! Restores running actors from the stored services and their history.
//!
//! Verdicts, schedules and figures continue where an earlier process stopped; the time in between becomes a no-data
//! period. If the history is unavailable, services are still checked, without their past.

pub mod absences;
mod answered_checks;
pub mod figures;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::clock::{STEP_MS, Timestamp};
use crate::engine::definition::{DefinitionCompiler, WatchDefinition};
use crate::id::Id;
use crate::model::flapping::FlappingState;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::location::{LocationCode, LocationKey};
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::model::status_rules;
use crate::model::verdict::{LocationVote, Verdict, freshness_ms};
use crate::model::watch::{AbsentVote, MemorySource, WatchMemory};
use crate::service_router::ServiceRouter;
use crate::store::history::checks::{self, CheckFilter};
use crate::store::history::locations::LocationNumbers;
use crate::store::history::recent::{self, ExpectedVotes, InclusiveSpan, LatestVotes, OlderRows};
use crate::store::history::{append, changes, feed};
use crate::store::services::definitions::{self, DefinitionPage};
use crate::store::{Databases, StoreError, probe_locations};

/// Services loaded at a time.
const PAGE: u64 = 1_000;
/// Services restored at the same time.
const AT_ONCE: usize = 32;
/// The span before the last result, in milliseconds, of which the newest result of each series is read with few queries; older
/// results are looked up.
const RECENT_MS: i64 = 900_000;
/// Span before now that is read for services that another node watched until a moment ago, in milliseconds.
const HANDED_OVER_MS: i64 = 120_000;

/// The past of all services, from the history.
#[derive(Default)]
struct RecordedPast {
    /// False while the history is unavailable.
    is_known: bool,
    locations: LocationNumbers,
    /// Numbers of the locations that are known.
    numbers: HashMap<LocationKey, i32>,
    /// The numbers of remote locations that are not known yet, but will be.
    absent: HashMap<i32, LocationCode>,
    votes: LatestVotes,
    /// The span that `votes` covers completely.
    span: InclusiveSpan,
    /// The rows from before the span.
    older: OlderRows,
    statuses: HashMap<ServiceKey, StatusChange>,
    /// Recent transitions of services that may be flapping.
    flapping: HashMap<ServiceKey, FlappingState>,
}

/// Services whose monitoring starts, and when.
#[derive(Clone, Copy)]
struct WatchStart {
    partitions: PartitionSet,
    now: Timestamp,
    /// True if another node watched these services until a moment ago.
    is_handed_over: bool,
}

impl WatchStart {
    const fn source(self) -> MemorySource {
        if self.is_handed_over {
            MemorySource::OtherProcess
        } else {
            MemorySource::EndedProcess { started_at: self.now }
        }
    }

    /// Returns the start of a process that watches all services.
    fn of_all(router: &ServiceRouter) -> Self {
        let now = router.engine.started_at();
        Self { partitions: PartitionSet::ALL, now, is_handed_over: false }
    }
}

/// A restored service, with the facts that its figures need.
#[derive(Clone, Debug)]
pub struct RestoredService {
    /// Database key of the service.
    pub key: ServiceKey,
    /// Public id of the service.
    pub id: Id,
    /// The time until which results back the last recorded status; `None` without a known result.
    pub backed_until: Option<Timestamp>,
    /// The definition, if the history was not available at the start: the past is looked up when it is.
    forgotten: Option<Arc<WatchDefinition>>,
}

/// Starts a watch for every stored service; returns them by key.
pub async fn restore_all(router: &ServiceRouter) -> Result<Vec<RestoredService>, StoreError> {
    let beginning = WatchStart::of_all(router);
    let past = read_past(router, beginning).await.inspect_err(|error| {
        tracing::error!(%error, "cannot read the history; services start without earlier results");
    });
    each_service(router, past.ok(), beginning).await
}

/// Starts a watch for every stored service of partitions that have just come to this node. A watch continues from the past
/// of its service. If the past cannot be read no watch is started, because another node reported the status until a moment
/// ago.
pub async fn restore_partitions(
    router: &ServiceRouter,
    partitions: PartitionSet,
) -> Result<Vec<RestoredService>, StoreError> {
    let beginning = WatchStart { partitions, now: router.engine.now(), is_handed_over: true };
    let past = read_past(router, beginning).await?;
    each_service(router, Some(past), beginning).await
}

/// Starts a watch for every stored service while the history is unavailable or still lacks waiting facts. Services start
/// without their past, and [`figures::restore_figures`] adds the earlier measurements.
pub async fn restore_without_past(router: &ServiceRouter) -> Result<Vec<RestoredService>, StoreError> {
    tracing::warn!("history unavailable; services start without earlier results, which are added later");
    let beginning = WatchStart::of_all(router);
    each_service(router, None, beginning).await
}

async fn each_service(
    router: &ServiceRouter,
    past: Option<RecordedPast>,
    beginning: WatchStart,
) -> Result<Vec<RestoredService>, StoreError> {
    let reader = router.databases.main.reader();
    let mut past = past.unwrap_or_default();
    let mut restored = Vec::new();
    let mut page = definitions::page(reader, beginning.partitions, ServiceKey::MIN, PAGE).await?;
    while let Some(last) = page.last {
        // The next page is read while the services of this one are started.
        let following = async {
            definitions::page(reader, beginning.partitions, last, PAGE).await.map_err(StoreError::from)
        };
        let (started, following) =
            tokio::try_join!(start_page(router, &mut past, &page, beginning), following)?;
        restored.extend(started);
        page = following;
    }
    Ok(restored)
}

/// Starts a watch for every service of a page.
async fn start_page(
    router: &ServiceRouter,
    past: &mut RecordedPast,
    page: &DefinitionPage,
    beginning: WatchStart,
) -> Result<Vec<RestoredService>, StoreError> {
    router.unreadable.add(&page.unreadable);
    let definitions = router.definitions_of(&page.services).await?;
    let expected: Vec<ExpectedVotes> =
        definitions.iter().map(|definition| expect(past, definition, beginning.now)).collect();
    let history = &router.databases.history;
    // Each query of an unavailable history takes seconds, so there is none in that case.
    if past.is_known
        && let Err(error) =
            recent::complete(history, &mut past.votes, &expected, past.span, &mut past.older).await
    {
        if beginning.is_handed_over {
            return Err(error.into());
        }
        tracing::error!(%error, "cannot read older results; some services start without earlier votes");
    }
    let past = &*past;
    let started = stream::iter(definitions)
        .map(|definition| restore_service(router, past, definition, beginning))
        .buffered(AT_ONCE)
        .collect()
        .await;
    Ok(started)
}

async fn read_past(router: &ServiceRouter, beginning: WatchStart) -> Result<RecordedPast, StoreError> {
    // Some of these statements read the newest row of every service.
    let history = router.databases.history.clone().with_long_timeout();
    let reader = history.reader();
    let locations = LocationNumbers::read(reader).await?;
    let known = router.compiler.roster.all();
    let numbers = known.iter().filter_map(|known| {
        Some((known.key, *locations.numbers(&[known.location.code.to_string()]).first()?))
    });
    let numbers = numbers.collect();
    let absent = absent(router, &locations).await?;
    let WatchStart { partitions, now, .. } = beginning;
    let since = if beginning.is_handed_over {
        now.plus_ms(-HANDED_OVER_MS)
    } else {
        // After a long stop the last results are all old.
        recent::last_fresh(reader).await?.unwrap_or(now).min(now).plus_ms(-RECENT_MS)
    };
    let span = InclusiveSpan { since, until: now.plus_ms(STEP_MS) };
    let older = OlderRows::before(partitions, since);
    let turns_since = now.plus_ms(-i64::from(*status_rules::MINUTES.end()) * 60_000);
    let (votes, latest, flapping) = tokio::try_join!(
        recent::within(reader, partitions, span),
        changes::latest_of(reader, partitions),
        changes::flapping(reader, partitions, turns_since),
    )?;
    let statuses = latest.into_iter().map(|change| (change.service, change)).collect();
    Ok(RecordedPast { is_known: true, locations, numbers, absent, votes, span, older, statuses, flapping })
}

/// Returns the remote locations in use that the engine does not know yet. A deleted location has no vote.
async fn absent(
    router: &ServiceRouter,
    numbers: &LocationNumbers,
) -> Result<HashMap<i32, LocationCode>, StoreError> {
    let stored = probe_locations::list(router.databases.main.reader()).await?;
    let codes = stored.into_iter().filter(|stored| stored.is_enabled).map(|stored| stored.location.code);
    let absent = codes.filter(|code| router.compiler.roster.find(code.as_str()).is_none());
    Ok(absent.filter_map(|code| Some((*numbers.numbers(&[code.to_string()]).first()?, code))).collect())
}

/// Returns the locations whose results may still vote: older results of a slow service are fresh as well.
fn expect(past: &RecordedPast, definition: &WatchDefinition, now: Timestamp) -> ExpectedVotes {
    let task = definition.task.as_ref();
    let assigned = task.into_iter().flat_map(|task| &*task.locations);
    let known = assigned.filter_map(|location| past.numbers.get(location));
    let absent = task.into_iter().flat_map(|_| past.absent.keys());
    let freshness = task.map_or(i64::MAX, |task| freshness_ms(task.plan.interval_ms));
    ExpectedVotes {
        service: definition.key,
        locations: known.chain(absent).copied().collect(),
        since: now.plus_ms(-freshness),
    }
}

async fn restore_service(
    router: &ServiceRouter,
    past: &RecordedPast,
    definition: WatchDefinition,
    beginning: WatchStart,
) -> RestoredService {
    let ServiceRouter { engine, compiler, .. } = router;
    let votes = past.votes.of(definition.key);
    let memory = memory(&definition, compiler, past, votes);
    let memory = WatchMemory { source: beginning.source(), ..memory };
    let last = votes.iter().map(|(_, vote)| vote.checked_at).max();
    let backed_until = last.map(|last| backed_until(&definition, last, beginning.now, beginning.source()));
    let definition = Arc::new(definition);
    let forgotten = (!past.is_known).then(|| Arc::clone(&definition));
    let restored = RestoredService { key: definition.key, id: definition.id, backed_until, forgotten };
    if engine.resume(definition, memory).await.is_err() {
        tracing::error!(service = %restored.id, "cannot restore the service: the engine has stopped");
    }
    restored
}

/// Returns the time until which a result from `last` backs the status at that time.
fn backed_until(
    definition: &WatchDefinition,
    last: Timestamp,
    now: Timestamp,
    source: MemorySource,
) -> Timestamp {
    let has_ended = matches!(source, MemorySource::EndedProcess { .. });
    match (&definition.task, definition.heartbeat) {
        (Some(task), _) if has_ended && task.plan.was_interrupted(last, now) => {
            last.plus_ms(task.plan.interval_ms)
        }
        (Some(task), _) => task.plan.backed_until(last, now),
        (None, Some(plan)) => plan.backed_until(last, now),
        (None, None) => last,
    }
}

/// Looks up the past of a service that started without it. The time until that start is recorded as a no-data period,
/// as the service itself would have done.
async fn recall(
    databases: &Databases,
    service: &RestoredService,
    started: Timestamp,
) -> Result<RestoredService, StoreError> {
    let Some(definition) = &service.forgotten else { return Ok(service.clone()) };
    let reader = databases.history.reader();
    let earlier = CheckFilter { to: Some(started.plus_ms(1)), ..CheckFilter::default() };
    let last = checks::page(&databases.history, service.key, &earlier, 1)
        .await?
        .first()
        .map(|check| check.checked_at);
    let ended = MemorySource::EndedProcess { started_at: started };
    let backed_until = last.map(|last| backed_until(definition, last, started, ended));
    let known = changes::since(reader, service.key, started).await?;
    let before = known.first().filter(|change| change.at < started);
    if let (Some(before), Some(at)) = (before, backed_until)
        && before.to.verdict() != Verdict::Unknown
    {
        let (from, to) = (before.to, MeasuredStatus::NoData);
        let gap =
            StatusChange { service: service.key, at: at.max(before.at), from, to, cause: ChangeCause::Gap };
        let transaction = databases.history.begin().await?;
        // The recorder is also writing now: numbers must rise in the order of the commits.
        feed::wait_for_writers(&transaction, PartitionSet::ALL).await?;
        append::changes(&transaction, &[gap]).await?;
        transaction.commit().await?;
    }
    Ok(RestoredService { backed_until, ..service.clone() })
}

fn memory(
    definition: &WatchDefinition,
    compiler: &DefinitionCompiler,
    past: &RecordedPast,
    votes: &[(i32, LocationVote)],
) -> WatchMemory {
    let last = past.statuses.get(&definition.key);
    let mut memory = WatchMemory {
        status: last.map(|change| change.to).unwrap_or_default(),
        status_since: last.map(|change| change.at),
        flapping: past.flapping.get(&definition.key).cloned().unwrap_or_default(),
        ..WatchMemory::default()
    };
    if definition.heartbeat.is_some() {
        memory.votes.extend(votes.iter().map(|(_, vote)| (0, *vote)));
    }
    let Some(task) = &definition.task else {
        memory.last_checked_at = votes.iter().map(|(_, vote)| vote.checked_at).max();
        return memory;
    };
    for (number, vote) in votes {
        let known = past.locations.code(*number).and_then(|code| compiler.roster.find(code));
        match (known, past.absent.get(number)) {
            (Some(known), _) => {
                let slot = task.locations.iter().position(|key| *key == known.key);
                memory.votes.extend(slot.map(|slot| (slot, *vote)));
            }
            (None, Some(location)) => {
                memory.absent.push(AbsentVote { location: location.clone(), vote: *vote });
            }
            (None, None) => {}
        }
    }
    memory
}
