//! Progress of incidents through the escalation policies that they follow.
//!
//! An incident has a row while it is open, not acknowledged, and matched by a policy. `lifecycle` writes the row in the
//! transaction of the incident. The queries for due steps cover all organisations: handlers of client requests must
//! not use them.

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::escalation::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::escalation::{EscalationPolicy, EscalationProgress};
use crate::model::lifecycle_effect::{EscalationAdvance, EscalationStart};
use crate::store::error::MainError;
use crate::store::escalation_policies;

/// The policy that an incident follows, and the incident's progress in it; `None` if it follows no policy.
pub async fn find(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Option<(EscalationPolicy, EscalationProgress)>, MainError> {
    let Some(row) = Entity::find_by_id(incident).one(&connection).await? else { return Ok(None) };
    let policy = escalation_policies::with_key(connection, row.policy_id).await?;
    let progress = from_row(&row)?;
    Ok(policy.map(|policy| (policy, progress)))
}

/// The key of the policy that an incident follows, even after the last step; `None` if it follows no policy.
pub async fn policy_of(connection: &dyn StoreConnection, incident: i64) -> Result<Option<i64>, MainError> {
    let row = Entity::find_by_id(incident).select_only().column(Column::PolicyId);
    Ok(row.into_tuple::<i64>().one(&connection).await?)
}

/// Makes an incident follow a policy; a former policy is replaced.
pub async fn insert(connection: &dyn StoreConnection, start: EscalationStart) -> Result<(), MainError> {
    let row = ActiveModel {
        incident_id: Set(start.incident),
        organisation_id: Set(start.organisation),
        policy_id: Set(start.policy),
        ..to_row(start.progress)
    };
    delete(connection, start.incident).await?;
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Stores the progress of an incident in its policy.
pub async fn update(connection: &dyn StoreConnection, advance: EscalationAdvance) -> Result<(), MainError> {
    let row = ActiveModel { incident_id: Set(advance.incident), ..to_row(advance.progress) };
    row.update(&connection).await?;
    Ok(())
}

/// Deletes the progress of an incident, so that it follows no policy.
pub async fn delete(connection: &dyn StoreConnection, incident: i64) -> Result<(), MainError> {
    Entity::delete_by_id(incident).exec(&connection).await?;
    Ok(())
}

/// An incident whose next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStep {
    /// Database key of the incident.
    pub incident: i64,
    /// Database key of the organisation.
    pub organisation: i64,
}

/// The incidents of all organisations whose next step is due, the longest overdue first.
pub async fn due(
    connection: &dyn StoreConnection,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<DueStep>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.lte(now.ms()))
        .order_by_asc(Column::DueAt)
        .limit(limit)
        .all(&connection)
        .await?;
    let due = |row: Model| DueStep { incident: row.incident_id, organisation: row.organisation_id };
    Ok(rows.into_iter().map(due).collect())
}

/// The incidents that follow a policy, with their progress; locked until the transaction ends.
pub async fn of_policy_for_update(
    connection: &dyn StoreConnection,
    policy: i64,
) -> Result<Vec<EscalationAdvance>, MainError> {
    let wanted = Entity::find().filter(Column::PolicyId.eq(policy)).order_by_asc(Column::IncidentId);
    let rows = wanted.lock_exclusive().all(&connection).await?;
    let read = |row: &Model| Ok(EscalationAdvance { incident: row.incident_id, progress: from_row(row)? });
    rows.iter().map(read).collect()
}

/// The incidents whose next step is due after `now`, each with the key of its policy and its progress. Covers all
/// organisations, in the order of incident keys, starting after the key `after`.
pub async fn due_after(
    connection: &dyn StoreConnection,
    now: Timestamp,
    after: i64,
    limit: u64,
) -> Result<Vec<(i64, EscalationAdvance)>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.gt(now.ms()))
        .filter(Column::IncidentId.gt(after))
        .order_by_asc(Column::IncidentId)
        .limit(limit)
        .all(&connection)
        .await?;
    let read = |row: &Model| {
        let advance = EscalationAdvance { incident: row.incident_id, progress: from_row(row)? };
        Ok((row.policy_id, advance))
    };
    rows.iter().map(read).collect()
}

/// The policy key and progress of an incident, if its next step is still due; locked until the transaction ends.
pub async fn claim_due(
    connection: &dyn StoreConnection,
    incident: i64,
    now: Timestamp,
) -> Result<Option<(i64, EscalationProgress)>, MainError> {
    let wanted = Entity::find_by_id(incident).filter(Column::DueAt.lte(now.ms())).lock_exclusive();
    let row = wanted.one(&connection).await?;
    row.map(|row| Ok((row.policy_id, from_row(&row)?))).transpose()
}

fn to_row(progress: EscalationProgress) -> ActiveModel {
    ActiveModel {
        round: Set(i32::try_from(progress.round).unwrap_or(i32::MAX)),
        next_step: Set(i32::try_from(progress.next_step).unwrap_or(i32::MAX)),
        due_at: Set(progress.due_at.map(Timestamp::ms)),
        ..<ActiveModel as ActiveModelTrait>::default()
    }
}

fn from_row(row: &Model) -> Result<EscalationProgress, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("escalation", &row.incident_id, &problem);
    Ok(EscalationProgress {
        round: u32::try_from(row.round).map_err(|_| corrupt("its round is below 0"))?,
        next_step: usize::try_from(row.next_step).map_err(|_| corrupt("its step is below 0"))?,
        due_at: row.due_at.map(Timestamp::from_ms),
    })
}
