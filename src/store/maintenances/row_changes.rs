//! Writes the rows of maintenances. Only `lifecycle` may use this module, because it also writes the effects of the
//! change.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::maintenance::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::model::maintenance::{Maintenance, MaintenanceKey, MaintenanceStatus};
use crate::store::error::MainError;
use crate::store::maintenances::to_row;

/// Maximum number of keys per statement.
const CHUNK: usize = 1_000;

/// Stores a new maintenance without its links; its `key` is assigned by the database and returned in the result.
pub async fn insert(
    connection: &dyn StoreConnection,
    maintenance: Maintenance,
) -> Result<Maintenance, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&maintenance) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Maintenance { key, ..maintenance })
}

/// Stores all fields of the maintenance.
pub async fn update(connection: &dyn StoreConnection, maintenance: &Maintenance) -> Result<(), MainError> {
    to_row(maintenance).update(&connection).await?;
    Ok(())
}

/// Assigns a maintenance to another window of its series.
pub async fn set_occurrence(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    occurrence: Timestamp,
) -> Result<(), MainError> {
    let set = Entity::update_many().col_expr(Column::Occurrence, Expr::value(occurrence.ms()));
    set.filter(Column::Id.eq(maintenance)).exec(&connection).await?;
    Ok(())
}

/// Removes maintenances from their series; they stay as single maintenances.
pub async fn clear_series(
    connection: &dyn StoreConnection,
    maintenances: &[MaintenanceKey],
) -> Result<(), MainError> {
    for some in maintenances.chunks(CHUNK) {
        Entity::update_many()
            .col_expr(Column::SeriesId, Expr::value(None::<i64>))
            .col_expr(Column::Occurrence, Expr::value(None::<i64>))
            .col_expr(Column::IsAdjusted, Expr::value(false))
            .filter(Column::Id.is_in(some.iter().copied()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Cancels maintenances; the actual end of running ones becomes `now`.
pub async fn cancel(
    connection: &dyn StoreConnection,
    maintenances: &[MaintenanceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    for some in maintenances.chunks(CHUNK) {
        let keys = || Column::Id.is_in(some.iter().copied());
        let running = Column::Status.eq(MaintenanceStatus::InProgress.as_str());
        let end = Entity::update_many().col_expr(Column::ActualEnd, Expr::value(now.ms()));
        end.filter(keys()).filter(running).exec(&connection).await?;
        let cancelled = MaintenanceStatus::Cancelled.as_str();
        let cancel = Entity::update_many().col_expr(Column::Status, Expr::value(cancelled));
        cancel.filter(keys()).exec(&connection).await?;
    }
    Ok(())
}

/// Deletes maintenances with their timelines and links. The caller must have ended their effects before.
pub async fn delete(
    connection: &dyn StoreConnection,
    maintenances: &[MaintenanceKey],
) -> Result<(), MainError> {
    for some in maintenances.chunks(CHUNK) {
        Entity::delete_many().filter(Column::Id.is_in(some.iter().copied())).exec(&connection).await?;
    }
    Ok(())
}
