//! Effects of the deletion of a service on its incidents and maintenances (contract 4.3.9).
//!
//! The functions run in the transaction of the deletion, before the row of the service is deleted; the links of the
//! service are deleted with that row.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::incidents::{delete_all, save_change};
use crate::lifecycle::{maintenance_series, maintenances};
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::incident::{IncidentStatus, IncidentTimelineEntry};
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::maintenance::{Maintenance, MaintenanceStatus};
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;
use crate::store::incidents::of_key_for_update;
use crate::store::incidents::of_service::{LinkedIncident, linked_for_update};
use crate::store::maintenances::of_service::{LinkedMaintenance, linked, lock_of, unlink};
use crate::store::maintenances::row_changes;
use crate::store::maintenances::series::{occurrences, of_service as series_of_service};
use crate::store::{MainError, Transaction, events, outages};

/// A service that is about to be deleted.
#[derive(Clone, Debug)]
pub struct ServiceDeletion<'a> {
    /// Database key of the service's organisation.
    pub organisation: i64,
    /// Database key of the service.
    pub service: ServiceKey,
    /// Time of the deletion.
    pub at: Timestamp,
    /// True if incidents that concern no other service are deleted.
    pub deletes_orphans: bool,
    /// The message of the entry that ends the timeline of a resolved incident.
    pub message: &'a TranslatedText,
}

/// The numbers of incidents that were resolved, deleted or detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidentCleanup {
    /// Incidents that were open and concerned only this service; they were resolved.
    pub resolved: usize,
    /// Incidents that concerned only this service; they were deleted.
    pub deleted: usize,
    /// Incidents that continue, or stay resolved, without this service.
    pub detached: usize,
}

/// Detaches a service that is about to be deleted from its incidents. Incidents that concern no other service are deleted
/// if `deletes_orphans`, else resolved.
pub async fn settle_incidents(
    transaction: &Transaction,
    deletion: &ServiceDeletion<'_>,
) -> Result<IncidentCleanup, MainError> {
    let linked = linked_for_update(transaction, deletion.organisation, deletion.service).await?;
    let (shared, unshared): (Vec<LinkedIncident>, Vec<LinkedIncident>) =
        linked.iter().partition(|incident| incident.is_shared);
    let shared = keys(&shared);
    detach(transaction, &shared, deletion).await?;
    outages::evaluate_recovered(transaction, &shared, deletion.at).await?;
    if deletion.deletes_orphans {
        let unshared: Vec<(i64, Id)> = unshared.iter().map(|incident| (incident.key, incident.id)).collect();
        delete_all(transaction, deletion.organisation, &unshared, deletion.at).await?;
        return Ok(IncidentCleanup {
            deleted: unshared.len(),
            detached: shared.len(),
            ..IncidentCleanup::default()
        });
    }
    let (over, open): (Vec<LinkedIncident>, Vec<LinkedIncident>) =
        unshared.into_iter().partition(|incident| incident.is_resolved);
    for incident in &open {
        resolve(transaction, incident.key, deletion).await?;
    }
    detach(transaction, &keys(&over), deletion).await?;
    Ok(IncidentCleanup {
        resolved: open.len(),
        detached: linked.len() - open.len(),
        ..IncidentCleanup::default()
    })
}

fn keys(incidents: &[LinkedIncident]) -> Vec<i64> {
    incidents.iter().map(|incident| incident.key).collect()
}

/// Detaches the service from these incidents, which are otherwise unchanged.
async fn detach(
    transaction: &Transaction,
    incidents: &[i64],
    deletion: &ServiceDeletion<'_>,
) -> Result<(), MainError> {
    events::of_keys(
        transaction,
        EventSubjectKind::Incident,
        EventAction::Updated,
        incidents,
        &[deletion.service],
    )
    .await
}

/// Ends an open incident with an entry that subscribers are not notified of.
async fn resolve(
    transaction: &Transaction,
    incident: i64,
    deletion: &ServiceDeletion<'_>,
) -> Result<(), MainError> {
    let Some(before) = of_key_for_update(transaction, incident).await? else { return Ok(()) };
    let mut after = before.clone();
    let entry = IncidentTimelineEntry {
        id: Id::random(),
        status: IncidentStatus::Resolved,
        message: deletion.message.clone(),
        notify_subscribers: false,
        created_at: deletion.at,
    };
    after.resolve(entry, deletion.at);
    after.incident.updated_at = deletion.at;
    let (leaving, at) = (Some(deletion.service), deletion.at);
    let change = IncidentTransition { before: Some(&before), after: &after, leaving, at };
    save_change(transaction, &before, change).await
}

/// The numbers of maintenances that were cancelled, deleted or detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceCleanup {
    /// Maintenances that concerned nothing else and had not ended; they were cancelled.
    pub cancelled: usize,
    /// Maintenances that concerned nothing else; they were deleted with the service.
    pub deleted: usize,
    /// Maintenances that stay as they are, without the service.
    pub detached: usize,
}

/// Detaches a service that is about to be deleted from every maintenance and every series. Maintenances that concern
/// nothing else are deleted if `delete_orphaned`, else cancelled unless they have ended. The windows of the service are
/// deleted with the service. The maintenances are locked ([`lock_of`]), which the caller has done before it locked the
/// service.
pub async fn settle_maintenances(
    transaction: &Transaction,
    service: ServiceKey,
    delete_orphaned: bool,
    now: Timestamp,
) -> Result<MaintenanceCleanup, MainError> {
    lock_of(transaction, service).await?;
    settle_series(transaction, service, delete_orphaned).await?;
    let linked = linked(transaction, service).await?;
    if linked.is_empty() {
        return Ok(MaintenanceCleanup::default());
    }
    let keys = |some: &[&LinkedMaintenance]| -> Vec<i64> {
        some.iter().map(|linked| linked.maintenance.key).collect()
    };
    let (shared, unshared): (Vec<_>, Vec<_>) = linked.iter().partition(|linked| linked.is_shared);
    let (kind, act) = (EventSubjectKind::Maintenance, EventAction::Updated);
    let mut cleanup = MaintenanceCleanup::default();
    if delete_orphaned {
        let origins = unshared.iter().filter_map(|linked| linked.maintenance.origin);
        let windows: Vec<_> = origins.map(|origin| (origin.series, origin.occurrence)).collect();
        // Skipped windows are not created again by their series.
        occurrences::skip_all(transaction, &windows).await?;
        events::of_keys(transaction, kind, act, &keys(&shared), &[service]).await?;
        maintenances::delete_all(transaction, &keys(&unshared)).await?;
        cleanup.deleted = unshared.len();
    } else {
        let all: Vec<_> = linked.iter().collect();
        events::of_keys(transaction, kind, act, &keys(&all), &[service]).await?;
        let open: Vec<_> = unshared.into_iter().filter(|linked| is_open(&linked.maintenance)).collect();
        row_changes::cancel(transaction, &keys(&open), now).await?;
        cleanup.cancelled = open.len();
    }
    unlink(transaction, service).await?;
    cleanup.detached = linked.len() - cleanup.deleted - cleanup.cancelled;
    Ok(cleanup)
}

const fn is_open(maintenance: &Maintenance) -> bool {
    matches!(maintenance.status, MaintenanceStatus::Scheduled | MaintenanceStatus::InProgress)
}

/// Detaches the service from every series. A series that covers nothing else creates no more maintenances: it is deleted
/// with its waiting maintenances if `delete_orphaned`, else cancelled. Its remaining maintenances are treated like others.
async fn settle_series(
    transaction: &Transaction,
    service: ServiceKey,
    delete_orphaned: bool,
) -> Result<(), MainError> {
    let orphaned = series_of_service::orphaned_by(transaction, service).await?;
    series_of_service::unlink(transaction, service).await?;
    for series in orphaned {
        if delete_orphaned {
            maintenance_series::delete_waiting(transaction, series).await?;
            maintenance_series::delete(transaction, series).await?;
        } else {
            series_of_service::cancel(transaction, series).await?;
        }
    }
    Ok(())
}
