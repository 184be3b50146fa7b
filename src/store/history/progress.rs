//! Progress of background work on the history: numbers stored by name, some of which also serve as locks.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait, QuerySelect};
use watchkeeper_entities::history_progress::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::error::HistoryError;

/// Name of the sealing horizon: results that started before it are sealed or being sealed.
const SEALING: &str = "sealing";
/// Name of the row that is locked while results are moved from rows into blocks.
const MOVING: &str = "moving";
/// Name of the newest fencing token of the compaction lock.
const COMPACTOR: &str = "compactor";

/// Returns the sealing horizon: results that started before it may be sealed. It does not advance until the transaction
/// ends.
pub async fn lock_sealing_horizon(connection: &dyn StoreConnection) -> Result<Timestamp, HistoryError> {
    let row = Entity::find_by_id(SEALING).lock_shared().one(&connection).await?;
    Ok(Timestamp::from_ms(row.ok_or_else(|| missing(SEALING))?.value))
}

/// Waits until no results are being moved from rows into blocks; then prevents moves until the transaction ends.
pub async fn hold_off_moves(connection: &dyn StoreConnection) -> Result<(), HistoryError> {
    let row = Entity::find_by_id(MOVING).lock_shared().one(&connection).await?;
    row.map(drop).ok_or_else(|| missing(MOVING))
}

/// Advances the sealing horizon to `to`. Waits for writers that still use the former horizon; writers that start after
/// the commit use the new one.
pub async fn announce(connection: &dyn StoreConnection, to: Timestamp) -> Result<(), HistoryError> {
    let row = Entity::find_by_id(SEALING).lock_exclusive().one(&connection).await?;
    if row.ok_or_else(|| missing(SEALING))?.value >= to.ms() {
        return Ok(());
    }
    put(connection, SEALING, to.ms()).await
}

/// Prevents other moves of results from rows into blocks until the transaction ends. Waits for transactions that called
/// [`hold_off_moves`].
pub async fn begin_move(connection: &dyn StoreConnection) -> Result<(), HistoryError> {
    let row = Entity::find_by_id(MOVING).lock_exclusive().one(&connection).await?;
    row.map(drop).ok_or_else(|| missing(MOVING))
}

/// Returns a new fencing token for the holder of the compaction lock. Earlier tokens are refused from now on.
pub async fn next_fence(connection: &dyn StoreConnection) -> Result<i64, HistoryError> {
    let row = Entity::find_by_id(COMPACTOR).lock_exclusive().one(&connection).await?;
    let fence = row.ok_or_else(|| missing(COMPACTOR))?.value + 1;
    put(connection, COMPACTOR, fence).await?;
    Ok(fence)
}

/// Checks that this is the newest fencing token. No newer token is assigned until the transaction ends.
///
/// # Errors
///
/// Also when another process has taken a newer token to compact.
pub async fn check_fence(connection: &dyn StoreConnection, fence: i64) -> Result<(), HistoryError> {
    let row = Entity::find_by_id(COMPACTOR).lock_shared().one(&connection).await?;
    match row {
        Some(row) if row.value == fence => Ok(()),
        _ => Err(HistoryError::Overtaken("another process compacts now".into())),
    }
}

fn missing(name: &'static str) -> HistoryError {
    HistoryError::corrupt("history_progress", &name, &"the row is missing")
}

/// The number stored under a name; `None` if there is none.
pub async fn get(connection: &dyn StoreConnection, name: &str) -> Result<Option<i64>, HistoryError> {
    Ok(Entity::find_by_id(name).one(&connection).await?.map(|row| row.value))
}

/// Stores a number under a name.
pub async fn put(connection: &dyn StoreConnection, name: &str, value: i64) -> Result<(), HistoryError> {
    let row = ActiveModel { name: Set(name.into()), value: Set(value) };
    let replace = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(&connection).await?;
    Ok(())
}

/// Deletes the number stored under a name.
pub async fn remove(connection: &dyn StoreConnection, name: &str) -> Result<(), HistoryError> {
    Entity::delete_by_id(name).exec(&connection).await?;
    Ok(())
}
