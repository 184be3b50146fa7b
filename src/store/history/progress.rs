//! How far background work on the history has come, each by its name.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, QuerySelect};
use watchkeeper_entities::history_progress::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::StoreError;

/// Results before this instant are sealed or being sealed.
const SEALING: &str = "sealing";
/// Locked by whoever moves results from rows into blocks, while it does.
const MOVING: &str = "moving";

/// Results before this instant are sealed or may be sealed while the transaction is open; later ones are not before it ends.
///
/// # Errors
/// When the database fails.
pub async fn sealing(connection: &impl ConnectionTrait) -> Result<Timestamp, StoreError> {
    let row = Entity::find_by_id(SEALING).lock_shared().one(connection).await?;
    Ok(Timestamp::from_ms(row.map_or(0, |row| row.value)))
}

/// Waits until nothing is being moved from rows into blocks; nothing is until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn hold(connection: &impl ConnectionTrait) -> Result<(), StoreError> {
    Entity::find_by_id(MOVING).lock_shared().one(connection).await?;
    Ok(())
}

/// Says up to where results are going to be sealed. Waits for those who append without knowing; when this is committed
/// everybody knows.
///
/// # Errors
/// When the database fails.
pub async fn announce(connection: &impl ConnectionTrait, to: Timestamp) -> Result<(), StoreError> {
    let row = Entity::find_by_id(SEALING).lock_exclusive().one(connection).await?;
    if row.is_some_and(|row| row.value >= to.ms()) {
        return Ok(());
    }
    put(connection, SEALING, to.ms()).await
}

/// Results are being moved from rows into blocks until the transaction ends. Waits for those who [`hold`].
///
/// # Errors
/// When the database fails.
pub async fn begin_move(connection: &impl ConnectionTrait) -> Result<(), StoreError> {
    Entity::find_by_id(MOVING).lock_exclusive().one(connection).await?;
    Ok(())
}

/// The number kept under a name.
///
/// # Errors
/// When the database fails.
pub async fn get(connection: &impl ConnectionTrait, name: &str) -> Result<Option<i64>, StoreError> {
    Ok(Entity::find_by_id(name).one(connection).await?.map(|row| row.value))
}

/// Keeps a number under a name.
///
/// # Errors
/// When the database fails.
pub async fn put(connection: &impl ConnectionTrait, name: &str, value: i64) -> Result<(), StoreError> {
    let row = ActiveModel { name: Set(name.into()), value: Set(value) };
    let replace = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(connection).await?;
    Ok(())
}

/// Forgets a name.
///
/// # Errors
/// When the database fails.
pub async fn remove(connection: &impl ConnectionTrait, name: &str) -> Result<(), StoreError> {
    Entity::delete_by_id(name).exec(connection).await?;
    Ok(())
}
