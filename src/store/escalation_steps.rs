//! Steps of escalations that are due, of every organisation; nothing that answers a client may use it.
//!
//! A step is taken in one transaction with its messages: whatever is killed when, it happens once. Whoever takes one locks the
//! organisation first, as everybody does who writes incidents.

use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use watchkeeper_entities::escalation::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::store::escalations::{from_row, to_row, waits_for_somebody};
use crate::store::notifications::outbox;
use crate::store::{MainError, escalation_policies, incidents, organisations};

/// An incident whose next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStep {
    /// Key of the incident.
    pub incident: i64,
    /// Key of its organisation.
    pub organisation: i64,
}

/// The incidents whose next step is due, the longest due ones first; of every organisation.
///
/// # Errors
/// When the database fails.
pub async fn due(
    connection: &impl ConnectionTrait,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<DueStep>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.lte(now.ms()))
        .order_by_asc(Column::DueAt)
        .limit(limit)
        .all(connection)
        .await?;
    let due = |row: Model| DueStep { incident: row.incident_id, organisation: row.organisation_id };
    Ok(rows.into_iter().map(due).collect())
}

/// Takes the step that is due, if it still is: writes its messages, and when the next one comes. Returns the number of
/// messages.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn take_step(
    connection: &impl ConnectionTrait,
    due: DueStep,
    now: Timestamp,
) -> Result<usize, MainError> {
    organisations::lock(connection, due.organisation).await?;
    let wanted = Entity::find_by_id(due.incident).filter(Column::DueAt.lte(now.ms())).lock_exclusive();
    let Some(row) = wanted.one(connection).await? else { return Ok(0) };
    let whole = incidents::of_key_for_update(connection, due.incident).await?;
    let policy = escalation_policies::with_key(connection, row.policy_id).await?;
    let (Some(whole), Some(policy)) = (whole.filter(waits_for_somebody), policy) else {
        Entity::delete_by_id(due.incident).exec(connection).await?;
        return Ok(0);
    };
    let progress = from_row(&row)?;
    let messages = match progress.step(&policy) {
        Some(step) => {
            let channels: Vec<i64> = step.channels.iter().map(|told| told.key).collect();
            outbox::tell_of_escalation(connection, &whole, &channels, now).await?
        }
        None => 0,
    };
    let next = progress.after_step(&policy, now, messages > 0);
    let row = ActiveModel { incident_id: Set(row.incident_id), ..to_row(next) };
    row.update(connection).await?;
    Ok(messages)
}
