//! New, changed and deleted incidents, with everything that follows from the change.
//!
//! The caller holds the lock of the organisation, so messages have the order of the facts.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::{audience, effects};
use crate::model::incident::{IncidentTimelineEntry, WholeIncident};
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::incident_effects::{deletion_effects, incident_effects};
use crate::model::visibility::Visibility;
use crate::store::incidents::{find, internal_timeline_size, row_changes};
use crate::store::{MainError, Transaction};

/// Stores a new incident; its `key` is assigned by the database.
pub async fn insert(transaction: &Transaction, whole: &mut WholeIncident) -> Result<(), MainError> {
    row_changes::insert(transaction, whole).await?;
    let at = whole.incident.updated_at;
    follow_change(transaction, IncidentTransition { before: None, after: whole, leaving: None, at }).await
}

/// Stores the changes made at `at` from `before` to `after`; does nothing when they are equal.
pub async fn save(
    transaction: &Transaction,
    before: &WholeIncident,
    after: &WholeIncident,
    at: Timestamp,
) -> Result<(), MainError> {
    let change = IncidentTransition { before: Some(before), after, leaving: None, at };
    save_change(transaction, before, change).await
}

/// Like [`save`], for a change with more facts, such as a service that leaves the incident.
pub(super) async fn save_change(
    transaction: &Transaction,
    before: &WholeIncident,
    change: IncidentTransition<'_>,
) -> Result<(), MainError> {
    if before == change.after {
        return Ok(());
    }
    row_changes::save(transaction, before, change.after).await?;
    follow_change(transaction, change).await
}

async fn follow_change(transaction: &Transaction, change: IncidentTransition<'_>) -> Result<(), MainError> {
    let Some(audience) = audience::of_incident_change(transaction, &change).await? else { return Ok(()) };
    effects::carry_out(transaction, incident_effects(&change, &audience), change.at).await
}

/// Adds an entry of the engine with the reasons why services fail to the timeline that members see, if there is room for
/// it.
pub async fn add_reasons(
    transaction: &Transaction,
    incident: i64,
    entry: &IncidentTimelineEntry,
) -> Result<(), MainError> {
    if !internal_timeline_size(transaction, incident).await?.has_room_for(&entry.message) {
        return Ok(());
    }
    row_changes::add_reasons(transaction, incident, entry).await
}

/// Deletes the visible incident with this id, with everything that belongs to it. Returns false if no such incident
/// exists.
pub async fn delete(
    transaction: &Transaction,
    visibility: Visibility,
    id: Id,
    at: Timestamp,
) -> Result<bool, MainError> {
    let Some(incident) = find(transaction, visibility, id).await? else { return Ok(false) };
    delete_all(transaction, incident.organisation, &[(incident.key, id)], at).await?;
    Ok(true)
}

/// Deletes these incidents of an organisation, given by key and id.
pub async fn delete_all(
    transaction: &Transaction,
    organisation: i64,
    incidents: &[(i64, Id)],
    at: Timestamp,
) -> Result<(), MainError> {
    for (key, id) in incidents {
        effects::carry_out(transaction, deletion_effects(organisation, *key, *id), at).await?;
    }
    let keys: Vec<i64> = incidents.iter().map(|(key, _)| *key).collect();
    row_changes::delete(transaction, &keys).await
}
