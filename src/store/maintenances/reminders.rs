//! Reminders of scheduled maintenances: a row for each reminder that has not been sent yet.

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::maintenance_reminder::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::maintenance::MaintenanceKey;
use crate::model::maintenance::reminder::ReminderKind;
use crate::store::error::MainError;

/// The planned reminders of a maintenance, each with its time.
pub async fn planned(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
) -> Result<Vec<(ReminderKind, Timestamp)>, MainError> {
    let rows = Entity::find().filter(Column::MaintenanceId.eq(maintenance)).all(&connection).await?;
    rows.iter().map(|row| Ok((kind_of(row)?, Timestamp::from_ms(row.due_at)))).collect()
}

/// Changes the planned reminders of a maintenance from `planned` to `wanted`.
pub async fn replace(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    planned: &[(ReminderKind, Timestamp)],
    wanted: &[(ReminderKind, Timestamp)],
) -> Result<(), MainError> {
    for (reminder, _) in planned.iter().filter(|reminder| !wanted.contains(reminder)) {
        Entity::delete_by_id((maintenance, reminder.to_string())).exec(&connection).await?;
    }
    for (reminder, due_at) in wanted.iter().filter(|reminder| !planned.contains(reminder)) {
        let row = ActiveModel {
            maintenance_id: Set(maintenance),
            kind: Set(reminder.to_string()),
            due_at: Set(due_at.ms()),
        };
        Entity::insert(row).exec_without_returning(&connection).await?;
    }
    Ok(())
}

fn kind_of(row: &Model) -> Result<ReminderKind, MainError> {
    let unknown = |error| MainError::corrupt("maintenance_reminder", &row.maintenance_id, &error);
    row.kind.parse().map_err(|error: strum::ParseError| unknown(error))
}

/// A reminder that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueReminder {
    /// Database key of the maintenance.
    pub maintenance: MaintenanceKey,
    /// Kind of the reminder.
    pub reminder: ReminderKind,
}

/// The due reminders of all organisations, the longest overdue first.
pub async fn due(
    connection: &dyn StoreConnection,
    now: Timestamp,
    limit: u64,
) -> Result<Vec<DueReminder>, MainError> {
    let rows = Entity::find()
        .filter(Column::DueAt.lte(now.ms()))
        .order_by_asc(Column::DueAt)
        .order_by_asc(Column::MaintenanceId)
        .limit(limit)
        .all(&connection)
        .await?;
    let due = |row: &Model| Ok(DueReminder { maintenance: row.maintenance_id, reminder: kind_of(row)? });
    rows.iter().map(due).collect()
}

/// Deletes a due reminder before it is sent. Returns false if it no longer exists or is no longer due.
pub async fn take_due(
    connection: &dyn StoreConnection,
    due: DueReminder,
    now: Timestamp,
) -> Result<bool, MainError> {
    let taken = Entity::delete_many()
        .filter(Column::MaintenanceId.eq(due.maintenance))
        .filter(Column::Kind.eq(due.reminder.as_str()))
        .filter(Column::DueAt.lte(now.ms()))
        .exec(&connection)
        .await?;
    Ok(taken.rows_affected == 1)
}
