//! Applies status changes to outages: the changes are read in order, each once, and update the outage of their service. A
//! service that is up again has recovered from its incidents (contract 4.9).

use std::collections::{BTreeSet, HashMap};

use crate::feed::{ChangeFeed, FeedBatch};
use crate::incidents::{IncidentAutomation, parents, recovery};
use crate::lifecycle::recoveries::mark_recovered;
use crate::model::history::MeasuredStatus;
use crate::model::incident_policy::OutageKind;
use crate::model::outage::{Outage, OutageTransition};
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::store::changes::ChangeScope;
use crate::store::history::{changes, feed as history_feed};
use crate::store::incidents::recovery::RecoveredService;
use crate::store::services::outlines;
use crate::store::{MainError, StoreError, Transaction, organisations, outages, services, windows};

/// Maximum number of changes that are read after the initial position; with more, a new failure may wrongly count as
/// older.
const NEWER_MAX: u64 = 10_000;

/// Processes every new change of these partitions.
///
/// # Errors
///
/// When a database fails; changes processed before that stay processed.
pub(super) async fn follow_changes(
    incidents: &IncidentAutomation,
    feed: &mut ChangeFeed,
    partitions: PartitionSet,
) -> Result<(), StoreError> {
    let databases = &incidents.router.databases;
    let missing = feed.take(databases.main.reader(), partitions).await?;
    if !missing.is_empty() {
        begin(incidents, feed, missing).await?;
        feed.take(databases.main.reader(), partitions).await?;
    }
    let horizon = feed.horizon(&databases.history).await?;
    while let Some(next) = feed.next(databases.history.reader()).await? {
        if !apply_changes(incidents, feed, &next).await? {
            // Another node has read these changes. Nothing was committed; the next pass knows which partitions this node
            // has.
            return Ok(());
        }
    }
    if let Some(horizon) = horizon {
        feed.advance_to_horizon(&databases.main, horizon).await?;
    }
    Ok(())
}

/// Starts with partitions that were never read. A service that is down at that moment is recorded without an incident, because
/// it was down before.
async fn begin(
    incidents: &IncidentAutomation,
    feed: &ChangeFeed,
    missing: PartitionSet,
) -> Result<(), StoreError> {
    let databases = &incidents.router.databases;
    recovery::mark_missed_recoveries(databases, None).await?;
    let history = databases.history.reader();
    let position = history_feed::newest(history, missing).await?;
    let mut latest = changes::latest_of(history, missing).await?;
    // Changes after the position are processed later, so their services are left out here.
    let newer = history_feed::after(history, position, missing, NEWER_MAX).await?;
    latest.retain(|change| newer.iter().all(|newer| newer.change.service != change.service));
    let kind = |status| match status {
        MeasuredStatus::Down => Some(OutageKind::Down),
        MeasuredStatus::Degraded => Some(OutageKind::Degraded),
        MeasuredStatus::Up | MeasuredStatus::Unknown | MeasuredStatus::NoData => None,
    };
    let in_trouble: Vec<_> =
        latest.iter().filter_map(|change| Some((change.service, kind(change.to)?, change.at))).collect();
    let keys: Vec<ServiceKey> = in_trouble.iter().map(|(service, ..)| *service).collect();
    let transaction = databases.main.begin().await?;
    let owners = lock_owners(&transaction, &keys).await?;
    let known = in_trouble.iter().filter_map(|(service, kind, at)| {
        let begun = Outage::begun(*owners.get(service)?, *service, *kind, *at);
        Some(Outage { reported_at: Some(incidents.clock.now()), evaluate_at: None, ..begun })
    });
    let known: Vec<Outage> = known.collect();
    outages::save(&transaction, &known).await?;
    feed.begin(&transaction, missing, position).await?;
    transaction.commit().await?;
    Ok(())
}

/// Locks and returns the organisations of these services; every write of outages or incidents starts with these locks.
/// Deleted services are missing.
async fn lock_owners(
    transaction: &Transaction,
    keys: &[ServiceKey],
) -> Result<HashMap<ServiceKey, i64>, MainError> {
    let owners = services::owners(transaction, keys).await?;
    organisations::lock_all(transaction, owners.into_iter().map(|(_, owner)| owner)).await?;
    Ok(services::owners(transaction, keys).await?.into_iter().collect())
}

/// Processes these changes in one transaction; returns false if another process has done so before.
async fn apply_changes(
    incidents: &IncidentAutomation,
    feed: &mut ChangeFeed,
    next: &FeedBatch,
) -> Result<bool, MainError> {
    let touched: BTreeSet<ServiceKey> = next.changes.iter().map(|change| change.change.service).collect();
    let touched: Vec<ServiceKey> = touched.into_iter().collect();
    let transaction = incidents.router.databases.main.begin().await?;
    let owners = lock_owners(&transaction, &touched).await?;
    let before = outages::of_services_for_update(&transaction, &touched).await?;
    let mut after = before.clone();
    let (mut recovered, mut reachable) = (HashMap::new(), HashMap::new());
    for change in &next.changes {
        let change = &change.change;
        // The outage of a deleted service was deleted with it.
        let Some(organisation) = owners.get(&change.service) else { continue };
        let known = after.remove(&change.service);
        let OutageTransition { outage, has_recovered } = Outage::follow(known, *organisation, change);
        if known.is_some_and(Outage::is_unreachable) && !outage.is_some_and(Outage::is_unreachable) {
            reachable.insert(change.service, change.at);
        }
        after.extend(outage.map(|outage| (change.service, outage)));
        if has_recovered {
            recovered.insert(change.service, change.at);
        }
    }
    for (service, at) in &reachable {
        windows::close_unreachable(&transaction, *service, *at).await?;
    }
    let now = incidents.clock.now();
    let asked = parents::note_changes(&transaction, &mut after, &touched, now).await?;
    let over: Vec<ServiceKey> =
        before.keys().filter(|service| !after.contains_key(service)).copied().collect();
    let changed = after.values().filter(|outage| before.get(&outage.service) != Some(outage));
    touched
        .iter()
        .chain(after.keys())
        .for_each(|service| transaction.concerns(ChangeScope::Service(*service)));
    outages::save(&transaction, changed).await?;
    outages::forget(&transaction, &over).await?;
    let recovered = recovered.into_iter().map(|(service, at)| {
        let incident = before.get(&service).and_then(|outage| outage.incident);
        RecoveredService { service, at, incident }
    });
    let recovered: Vec<RecoveredService> = recovered.collect();
    let in_others = mark_recovered(&transaction, &recovered, now).await?;
    // Users may have added a recovered service to other incidents that waited only for this service.
    outages::evaluate_recovered_beside(&transaction, &in_others, now).await?;
    if !feed.advance(&transaction, next).await? {
        return Ok(false);
    }
    let reachable: Vec<ServiceKey> = reachable.into_keys().collect();
    let reachable = outlines::by_keys(&transaction, &reachable).await?;
    transaction.commit().await?;
    feed.note_advanced(next);
    reachable.iter().for_each(|service| incidents.router.engine.set_unreachable(service.address(), false));
    asked.send_requests(&incidents.router).await;
    Ok(true)
}
