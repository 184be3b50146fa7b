//! Writes the rows of notices. Only `lifecycle` may use this module, because it also writes the messages about a notice.

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, EntityTrait};
use watchkeeper_entities::notice::{ActiveModel, Entity};

use crate::model::notice::Notice;
use crate::store::error::MainError;
use crate::store::notices::to_row;

/// Stores a new notice; its key is assigned by the database.
pub async fn insert(connection: &dyn StoreConnection, notice: &Notice) -> Result<(), MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(notice) };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Stores all fields of a changed notice.
pub async fn update(connection: &dyn StoreConnection, notice: &Notice) -> Result<(), MainError> {
    to_row(notice).update(&connection).await?;
    Ok(())
}
