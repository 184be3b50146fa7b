//! How far background work on the history has come, each by its name.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, QuerySelect};
use watchkeeper_entities::history_progress::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::StoreError;

/// Results before this instant may be sealed.
const SEALED: &str = "sealed";

/// Results before this instant may be sealed already; it does not move until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn sealed(connection: &impl ConnectionTrait) -> Result<Timestamp, StoreError> {
    let row = Entity::find_by_id(SEALED).lock_shared().one(connection).await?;
    Ok(Timestamp::from_ms(row.map_or(0, |row| row.value)))
}

/// Like [`sealed`], for whoever is going to move it; results are not appended until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn lock_sealed(connection: &impl ConnectionTrait) -> Result<Timestamp, StoreError> {
    let row = Entity::find_by_id(SEALED).lock_exclusive().one(connection).await?;
    Ok(Timestamp::from_ms(row.map_or(0, |row| row.value)))
}

/// Moves it.
///
/// # Errors
/// When the database fails.
pub async fn set_sealed(connection: &impl ConnectionTrait, to: Timestamp) -> Result<(), StoreError> {
    put(connection, SEALED, to.ms()).await
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
