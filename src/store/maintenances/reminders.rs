//! Reminders of maintenances that are to come: a row for each that is not due yet.
//!
//! Whoever changes a maintenance brings its rows in line; whoever tells a reminder takes its row away in the same transaction, so
//! each is told once. A changed window is reminded of anew.

use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::maintenance_reminder::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::maintenance::reminder::Reminder;
use crate::model::maintenance::{Maintenance, MaintenanceKey};
use crate::store::maintenances::due::claim;
use crate::store::{MainError, organisations, subscriber_facts};

/// Brings the reminders of a maintenance in line with its present state; none is planned whose time has passed.
///
/// # Errors
/// When the database fails.
pub async fn plan(
    connection: &impl ConnectionTrait,
    maintenance: &Maintenance,
    now: Timestamp,
) -> Result<(), MainError> {
    let planned: Vec<(String, i64)> = Entity::find()
        .select_only()
        .columns([Column::Kind, Column::DueAt])
        .filter(Column::MaintenanceId.eq(maintenance.key))
        .into_tuple()
        .all(connection)
        .await?;
    let wanted: Vec<(String, i64)> = maintenance
        .reminders()
        .into_iter()
        .map(|(reminder, at)| (reminder.to_string(), at.ms()))
        .filter(|reminder| reminder.1 > now.ms() || planned.contains(reminder))
        .collect();
    for (kind, _) in planned.iter().filter(|reminder| !wanted.contains(reminder)) {
        Entity::delete_by_id((maintenance.key, kind.clone())).exec(connection).await?;
    }
    for (kind, due_at) in wanted.into_iter().filter(|reminder| !planned.contains(reminder)) {
        let row = ActiveModel { maintenance_id: Set(maintenance.key), kind: Set(kind), due_at: Set(due_at) };
        Entity::insert(row).exec_without_returning(connection).await?;
    }
    Ok(())
}

/// A reminder whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueReminder {
    /// Key of the maintenance.
    pub maintenance: MaintenanceKey,
    /// Which one.
    pub reminder: Reminder,
}

/// Reminders that are due, the longest due ones first; of every organisation.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn due(
    connection: &impl ConnectionTrait,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<DueReminder>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.lte(now.ms()))
        .order_by_asc(Column::DueAt)
        .order_by_asc(Column::MaintenanceId)
        .limit(limit)
        .all(connection)
        .await?;
    let due = |row: &Model| {
        let unknown = |error| MainError::corrupt("maintenance_reminder", &row.maintenance_id, &error);
        let reminder = row.kind.parse().map_err(|error: strum::ParseError| unknown(error))?;
        Ok(DueReminder { maintenance: row.maintenance_id, reminder })
    };
    rows.iter().map(due).collect()
}

/// Turns a reminder that is due into a fact, if it still is and is of use. Returns true if it became one.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn tell(
    connection: &impl ConnectionTrait,
    due: DueReminder,
    now: Timestamp,
) -> Result<bool, MainError> {
    let Some(maintenance) = claim(connection, due.maintenance).await? else { return Ok(false) };
    let taken = Entity::delete_many()
        .filter(Column::MaintenanceId.eq(due.maintenance))
        .filter(Column::Kind.eq(due.reminder.as_str()))
        .filter(Column::DueAt.lte(now.ms()))
        .exec(connection)
        .await?;
    let owner = organisations::get(connection, maintenance.organisation).await?;
    let (Some(owner), 1, true) = (owner, taken.rows_affected, maintenance.is_reminded(due.reminder, now))
    else {
        return Ok(false);
    };
    let told = (now, owner.default_locale.as_str());
    subscriber_facts::of_reminder(connection, &maintenance, due.reminder, told).await?;
    Ok(true)
}
