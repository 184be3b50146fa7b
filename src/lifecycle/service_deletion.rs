//! What a deleted service leaves of its incidents (contract 4.3.9, incident rows).
//!
//! It runs in the transaction of the delete, before the service's row goes; the links of the service go with that row.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::incidents::{delete_all, save_change};
use crate::model::event::{Act, Kind};
use crate::model::incident::{IncidentStatus, TimelineEntry};
use crate::model::incident_effects::IncidentChange;
use crate::model::service::ServiceKey;
use crate::model::translated::Translated;
use crate::store::incidents::of_key_for_update;
use crate::store::incidents::of_service::{LinkedIncident, linked_for_update};
use crate::store::{MainError, Transaction, events, outages};

/// A service that is about to be deleted.
#[derive(Clone, Debug)]
pub struct ServiceDeletion<'a> {
    /// Its organisation.
    pub organisation: i64,
    /// The service.
    pub service: ServiceKey,
    /// Now.
    pub at: Timestamp,
    /// True if incidents that concern no other service are deleted.
    pub deletes_orphans: bool,
    /// The message of the entry that ends the timeline of a resolved incident.
    pub message: &'a Translated,
}

/// The numbers of incidents that were resolved, deleted or detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidentCleanup {
    /// Were open, concerned this service alone, and are resolved.
    pub resolved: usize,
    /// Concerned this service alone, and are deleted.
    pub deleted: usize,
    /// Go on without the service.
    pub detached: usize,
}

/// Settles the incidents of a service that is about to be deleted.
///
/// # Errors
/// When the database fails.
pub async fn settle_incidents(
    transaction: &Transaction,
    deletion: &ServiceDeletion<'_>,
) -> Result<IncidentCleanup, MainError> {
    let linked = linked_for_update(transaction, deletion.organisation, deletion.service).await?;
    let (shared, lone): (Vec<LinkedIncident>, Vec<LinkedIncident>) =
        linked.iter().partition(|incident| incident.is_shared);
    let shared = keys(&shared);
    detach(transaction, &shared, deletion).await?;
    outages::look_at_recovered(transaction, &shared, deletion.at).await?;
    if deletion.deletes_orphans {
        let lone: Vec<(i64, Id)> = lone.iter().map(|incident| (incident.key, incident.id)).collect();
        delete_all(transaction, deletion.organisation, &lone, deletion.at).await?;
        return Ok(IncidentCleanup {
            deleted: lone.len(),
            detached: shared.len(),
            ..IncidentCleanup::default()
        });
    }
    let (over, open): (Vec<LinkedIncident>, Vec<LinkedIncident>) =
        lone.into_iter().partition(|incident| incident.is_resolved);
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

/// These incidents concern the service no more; nothing else becomes of them.
async fn detach(
    transaction: &Transaction,
    incidents: &[i64],
    deletion: &ServiceDeletion<'_>,
) -> Result<(), MainError> {
    events::of_keys(transaction, (Kind::Incident, Act::Updated), incidents, &[deletion.service]).await
}

/// Ends an open incident with an entry that tells no subscriber.
async fn resolve(
    transaction: &Transaction,
    incident: i64,
    deletion: &ServiceDeletion<'_>,
) -> Result<(), MainError> {
    let Some(before) = of_key_for_update(transaction, incident).await? else { return Ok(()) };
    let mut after = before.clone();
    let entry = TimelineEntry {
        id: Id::random(),
        status: IncidentStatus::Resolved,
        message: deletion.message.clone(),
        notify_subscribers: false,
        created_at: deletion.at,
    };
    after.resolve(entry, deletion.at);
    after.incident.updated_at = deletion.at;
    let (leaving, at) = (Some(deletion.service), deletion.at);
    let change = IncidentChange { before: Some(&before), after: &after, leaving, at };
    save_change(transaction, (&before, &after), change).await
}
