//! Background work: finished hours are summed up, histories of deleted services are erased, old keys are forgotten.
//!
//! Both are repeatable: killed half-way, they start over and end in the same rows. An hour is derived once it is
//! older than the slowest check and write should be, and again if results come later still.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::{Clock, Timestamp};
use crate::model::history::Sample;
use crate::model::service::ServiceKey;
use crate::stats::histogram::serialise;
use crate::store::history::hours::{HOUR_MS, Hour};
use crate::store::history::{erase, hours, samples};
use crate::store::{Databases, StoreError, idempotency_keys, services};

/// How long after its end an hour is derived, so that few are derived twice.
const SETTLE_MS: i64 = 600_000;

/// Does all work that is due, every `every`, until the future is dropped.
pub async fn run(databases: Databases, clock: Clock, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = once(&databases, clock.now()).await {
            tracing::warn!(%error, "upkeep of the history is put off");
        }
    }
}

/// Does all work that is due at `now`.
///
/// # Errors
/// When a database fails; what was done stays done.
pub async fn once(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    erase_deleted(databases).await?;
    forget_keys(databases, now).await?;
    while let Some(hour) = next_hour(databases, now).await? {
        derive_hour(databases, hour).await?;
    }
    Ok(())
}

async fn forget_keys(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    let transaction = databases.main.begin().await?;
    idempotency_keys::forget_old(&transaction, now).await?;
    Ok(transaction.commit().await?)
}

async fn erase_deleted(databases: &Databases) -> Result<(), StoreError> {
    for service in services::erasures(databases.main.reader()).await? {
        loop {
            let transaction = databases.history.begin().await?;
            let is_done = erase::step(&transaction, service).await?;
            transaction.commit().await?;
            if is_done {
                break;
            }
        }
        let transaction = databases.main.begin().await?;
        services::finish_erasure(&transaction, service).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// The first hour that is over, settled, and not derived.
async fn next_hour(databases: &Databases, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    let reader = databases.history.reader();
    let start = match hours::watermark(reader).await? {
        Some(watermark) => watermark,
        None => match samples::oldest(reader).await? {
            Some(oldest) => first_watermark(databases, oldest).await?,
            None => return Ok(None),
        },
    };
    let is_settled = now.ms_since(start) >= HOUR_MS + SETTLE_MS;
    Ok(is_settled.then_some(start))
}

/// Sets the watermark for the first time: an hour before the first arrival, which need not be the oldest result.
async fn first_watermark(databases: &Databases, oldest: Timestamp) -> Result<Timestamp, StoreError> {
    let start = hours::start_of_hour(oldest).plus_ms(-HOUR_MS);
    let transaction = databases.history.begin().await?;
    hours::set_watermark(&transaction, start).await?;
    transaction.commit().await?;
    Ok(start)
}

async fn derive_hour(databases: &Databases, start: Timestamp) -> Result<(), StoreError> {
    let reader = databases.history.reader();
    let end = start.plus_ms(HOUR_MS);
    let arrival = samples::newest_arrival(reader).await?;
    let mut after = ServiceKey::MIN;
    while let Some(service) = samples::next_service(reader, after).await? {
        after = service;
        let rows = samples::between(reader, service, (start, end), None).await?;
        if rows.is_empty() {
            continue;
        }
        let transaction = databases.history.begin().await?;
        hours::put(&transaction, sum_up(service, start, &rows)).await?;
        transaction.commit().await?;
    }
    let transaction = databases.history.begin().await?;
    hours::lock_watermark(&transaction).await?;
    // If a result came late, the hour may lack it: the watermark stays, and the hour is derived once more.
    if !samples::arrived_since(&transaction, arrival, end).await? {
        hours::set_watermark(&transaction, end).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// The hours of each location from the samples of one hour.
#[must_use]
pub fn sum_up(service: ServiceKey, start: Timestamp, rows: &[Sample]) -> Vec<Hour> {
    let mut by_location: BTreeMap<i32, (u32, u32, Vec<u32>)> = BTreeMap::new();
    for row in rows {
        let (checks, failed, times) = by_location.entry(row.location).or_default();
        *checks += 1;
        *failed += u32::from(row.is_down);
        times.extend(row.response_us);
    }
    let hour = |(location, (checks, failed, times)): (i32, (u32, u32, Vec<u32>))| Hour {
        service,
        start,
        location,
        checks,
        failed,
        answered: u32::try_from(times.len()).unwrap_or(u32::MAX),
        sum_us: times.iter().copied().map(u64::from).sum(),
        min_us: times.iter().copied().min().unwrap_or_default(),
        max_us: times.iter().copied().max().unwrap_or_default(),
        histogram: (!times.is_empty()).then(|| serialise(times)),
    };
    by_location.into_iter().map(hour).collect()
}
