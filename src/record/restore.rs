//! From the stored services and their history back to running actors.
//!
//! Verdicts, rhythm and figures go on where an earlier process stopped; the time in between becomes a gap. If the history
//! is away, services are watched all the same, from scratch: checking does not depend on the past.

mod answered;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::clock::{DAY_MS, Timestamp};
use crate::engine::Engine;
use crate::engine::definition::{Definer, Definition, Task};
use crate::id::Id;
use crate::model::history::StatusChange;
use crate::model::service::{Service, ServiceKey};
use crate::model::verdict::{Vote, freshness_ms};
use crate::model::watch::Memory;
use crate::record::restore::answered::Answered;
use crate::stats::uptime::{cover, covers, measured, per_day};
use crate::stats::window::{WINDOW_DAYS, Window};
use crate::store::heartbeats::{self, StoredHeartbeat};
use crate::store::history::changes;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::recent::{self, LatestVotes};
use crate::store::{Databases, StoreError, services, windows};

/// Services loaded at a time.
const PAGE: u64 = 1_000;
/// Services restored at once.
const AT_ONCE: usize = 32;
/// Services whose rollups are read in one go: a few megabytes.
const SERVICES_AT_ONCE: usize = 32;
/// How far back all results are read in one go; older ones are looked up per service.
const RECENT_MS: i64 = 900_000;

/// What the history remembers of all services.
#[derive(Default)]
struct Past {
    locations: LocationNumbers,
    votes: LatestVotes,
    statuses: HashMap<ServiceKey, StatusChange>,
}

/// What a page of services is restored with.
struct Known<'a> {
    past: &'a Past,
    heartbeats: &'a HashMap<ServiceKey, StoredHeartbeat>,
}

/// A service that runs again, and what its figures need.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Key of its measurements.
    pub key: ServiceKey,
    /// Its id.
    pub id: Id,
    /// Until when the last recorded status is backed by results.
    pub backed_until: Option<Timestamp>,
}

/// Starts a watch for every stored service.
///
/// # Errors
/// When the main database fails.
pub async fn services(
    databases: &Databases,
    engine: &Engine,
    definer: &Definer,
) -> Result<Vec<Restored>, StoreError> {
    let past = read_past(databases, engine.started_at()).await;
    let mut restored = Vec::new();
    let mut after = ServiceKey::MIN;
    loop {
        let page = services::definitions(databases.main.reader(), after, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(restored) };
        after = last.key;
        let keys: Vec<ServiceKey> = page.iter().map(|(service, _)| service.key).collect();
        let heartbeats = heartbeats::of_services(databases.main.reader(), &keys).await?;
        let known = Known { past: &past, heartbeats: &heartbeats };
        let found: Vec<Option<Restored>> = stream::iter(page)
            .map(|(service, organisation)| one(databases, (engine, definer), &known, (service, organisation)))
            .buffered(AT_ONCE)
            .collect()
            .await;
        restored.extend(found.into_iter().flatten());
    }
}

async fn read_past(databases: &Databases, now: Timestamp) -> Past {
    let reader = databases.history.reader();
    let read = async {
        let locations = LocationNumbers::read(reader).await?;
        let votes = recent::all_since(reader, now.plus_ms(-RECENT_MS)).await?;
        let latest = changes::latest_of_all(reader).await?;
        let statuses = latest.into_iter().map(|change| (change.service, change)).collect();
        Ok::<Past, StoreError>(Past { locations, votes, statuses })
    };
    read.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the history cannot be read; services start without their past");
        Past::default()
    })
}

async fn one(
    databases: &Databases,
    (engine, definer): (&Engine, &Definer),
    Known { past, heartbeats }: &Known<'_>,
    (service, organisation): (Service, Id),
) -> Option<Restored> {
    let definition = match definer.define(&service, organisation) {
        Ok(definition) => {
            let stored = heartbeats.get(&service.key).map(|stored| stored.heartbeat);
            Arc::new(definition.with_heartbeat(stored))
        }
        Err(error) => {
            tracing::error!(service = %service.id, %error, "this service cannot be watched");
            return None;
        }
    };
    let recent = past.votes.get(&service.key);
    let votes = match recent.filter(|votes| are_complete(&definition, votes)) {
        Some(votes) => votes.clone(),
        None => recent::of_service(databases.history.reader(), service.key).await.unwrap_or_default(),
    };
    let memory = memory(&definition, definer, (past, &votes));
    let last = votes.values().map(|vote| vote.checked_at).max();
    let now = engine.started_at();
    let backed_until = match (&definition.task, last) {
        (Some(task), Some(last)) => Some(task.plan.backed_until(last, now)),
        (None, Some(last)) => Some(definition.pulse.map_or(last, |pulse| pulse.backed_until(last, now))),
        (_, None) => None,
    };
    if engine.resume(definition, memory).await.is_err() {
        tracing::error!(service = %service.id, "the engine has stopped while services were restored");
    }
    Some(Restored { key: service.key, id: service.id, backed_until })
}

/// Whether the results read in one go are all that may still vote: a slow service's older results are fresh as well.
fn are_complete(definition: &Definition, votes: &HashMap<i32, Vote>) -> bool {
    definition.pulse.is_none()
        && definition.task.as_ref().is_none_or(|task| {
            freshness_ms(task.plan.interval_ms) <= RECENT_MS || votes.len() >= task.locations.len()
        })
}

fn memory(definition: &Definition, definer: &Definer, (past, votes): (&Past, &HashMap<i32, Vote>)) -> Memory {
    let slot_of = |task: &Task, number: i32| {
        let place = definer.roster.place_of(past.locations.code(number)?)?;
        task.locations.iter().position(|known| *known == place)
    };
    let reported = definition.pulse.iter().flat_map(|_| votes.values().map(|vote| (0, *vote)));
    let votes = definition.task.iter().flat_map(|task| {
        votes.iter().filter_map(move |(number, vote)| slot_of(task, *number).map(|slot| (slot, *vote)))
    });
    let votes = votes.chain(reported);
    let last = past.statuses.get(&definition.key);
    Memory {
        votes: votes.collect(),
        status: last.map(|change| change.to).unwrap_or_default(),
        status_since: last.map(|change| change.at),
    }
}

/// Computes the rolling figures of the time before the engine started and gives them to it.
///
/// # Errors
/// When a database fails.
pub async fn figures(
    databases: &Databases,
    engine: &Engine,
    mut restored: Vec<Restored>,
) -> Result<(), StoreError> {
    restored.sort_unstable_by_key(|service| service.key);
    let until = engine.started_at();
    let from = window_start(until);
    let mut answered = Answered::read(&databases.history, (from, until)).await?;
    for some in restored.chunks(SERVICES_AT_ONCE) {
        let (Some(first), Some(last)) = (some.first(), some.last()) else { continue };
        let answers = answered.of((first.key, last.key)).await?;
        let mut results = stream::iter(some)
            .map(|service| async {
                let mut before = answers.get(&service.key).cloned().unwrap_or_default();
                before.merge(&availability(databases, service, until).await?);
                if engine.prime(service.id, service.key, before).await.is_err() {
                    tracing::debug!(service = %service.id, "the engine has stopped");
                }
                Ok::<(), StoreError>(())
            })
            .buffer_unordered(AT_ONCE);
        while let Some(result) = results.next().await {
            result?;
        }
    }
    Ok(())
}

/// The first of the 30 days that end with that of `until`.
fn window_start(until: Timestamp) -> Timestamp {
    Timestamp::from_ms((until.day() - WINDOW_DAYS + 1) * DAY_MS)
}

/// What the last 30 days up to `until` count for.
async fn availability(
    databases: &Databases,
    service: &Restored,
    until: Timestamp,
) -> Result<Window, StoreError> {
    let from = window_start(until);
    let changes = changes::since(databases.history.reader(), service.key, from).await?;
    let spans = measured(&changes, service.backed_until.unwrap_or(from), (from, until));
    let decided = windows::since(databases.main.reader(), &[service.key], from).await?;
    let spans = cover(&spans, &covers(&decided, until));
    let mut window = Window::default();
    for (day, availability) in per_day(&spans) {
        if !availability.is_empty() {
            window.day(day).availability = availability;
        }
    }
    Ok(window)
}
