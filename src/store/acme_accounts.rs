//! The accounts of this installation at certificate authorities. They belong to no organisation.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait};
use watchkeeper_entities::acme_account::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;

/// The sealed credentials of the account at the authority with this directory; `None` without an account.
pub async fn find(
    connection: &dyn StoreConnection,
    directory_url: &str,
) -> Result<Option<String>, MainError> {
    let row = Entity::find_by_id(directory_url).one(&connection).await?;
    Ok(row.map(|row| row.credentials))
}

/// Stores the sealed credentials of an account, in place of an earlier account at the same authority.
pub async fn put(
    connection: &dyn StoreConnection,
    directory_url: &str,
    credentials: String,
    now: Timestamp,
) -> Result<(), MainError> {
    let row = ActiveModel {
        directory_url: Set(directory_url.to_owned()),
        credentials: Set(credentials),
        created_at: Set(now.ms()),
    };
    let columns = [Column::Credentials, Column::CreatedAt];
    let replace = OnConflict::column(Column::DirectoryUrl).update_columns(columns).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(&connection).await?;
    Ok(())
}

/// Deletes the account at the authority with this directory.
pub async fn delete(connection: &dyn StoreConnection, directory_url: &str) -> Result<(), MainError> {
    Entity::delete_by_id(directory_url).exec(&connection).await?;
    Ok(())
}
