//! Finds the maintenances of all organisations that must start or end by the clock. Handlers of client requests must not
//! use it.

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::maintenance::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::maintenance::{Maintenance, MaintenanceKey, MaintenanceStatus};
use crate::store::error::MainError;
use crate::store::maintenances::from_row;
use crate::store::organisations;

/// Condition for scheduled maintenances that start automatically.
fn waiting() -> Condition {
    let scheduled = Column::Status.eq(MaintenanceStatus::Scheduled.as_str());
    Condition::all().add(scheduled).add(Column::AutoStart.eq(true))
}

/// Condition for running maintenances that end automatically.
fn running() -> Condition {
    let in_progress = Column::Status.eq(MaintenanceStatus::InProgress.as_str());
    Condition::all().add(in_progress).add(Column::AutoComplete.eq(true))
}

/// Keys of maintenances whose start or end is due at `now`: at most `limit`, in ascending order, above `after`.
pub async fn at(
    connection: &dyn StoreConnection,
    now: Timestamp,
    after: MaintenanceKey,
    limit: u64,
) -> Result<Vec<MaintenanceKey>, MainError> {
    let starts = waiting().add(Column::ScheduledStart.lte(now.ms()));
    let ends = running().add(Column::ScheduledEnd.lte(now.ms()));
    let keys = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Condition::any().add(starts).add(ends))
        .filter(Column::Id.gt(after))
        .order_by_asc(Column::Id)
        .limit(limit);
    Ok(keys.into_tuple().all(&connection).await?)
}

/// Returns the time of the next automatic start or end; `None` if there is none.
pub async fn next(connection: &dyn StoreConnection) -> Result<Option<Timestamp>, MainError> {
    let moment = |condition: Condition, column: Column| {
        let moments = Entity::find().select_only().column_as(column.min(), "moment").filter(condition);
        moments.into_tuple::<Option<i64>>().one(&connection)
    };
    let start = moment(waiting(), Column::ScheduledStart).await?.flatten();
    let end = moment(running(), Column::ScheduledEnd).await?.flatten();
    Ok([start, end].into_iter().flatten().min().map(Timestamp::from_ms))
}

/// The maintenance with this key, locked until the transaction ends. Its organisation is locked first, so that the
/// messages about the maintenance are in order with other messages of the organisation.
pub async fn claim(
    connection: &dyn StoreConnection,
    key: MaintenanceKey,
) -> Result<Option<Maintenance>, MainError> {
    let owner = Entity::find_by_id(key).select_only().column(Column::OrganisationId);
    let Some(owner) = owner.into_tuple::<i64>().one(&connection).await? else { return Ok(None) };
    organisations::lock(connection, owner).await?;
    Entity::find_by_id(key).lock_exclusive().one(&connection).await?.as_ref().map(from_row).transpose()
}
