//! Secret addresses of contacts' calendars, found by the hash of the secret. The secret itself is not stored.

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::contact_calendar::{ActiveModel, Column, Entity};

use crate::clock::Timestamp;
use crate::store::error::MainError;

/// SHA-256 of the secret in an address.
pub type CalendarSecretHash = [u8; 32];

/// Stores a new address of a contact; the former address stops working.
pub async fn replace(
    connection: &dyn StoreConnection,
    contact: i64,
    hash: CalendarSecretHash,
    now: Timestamp,
) -> Result<(), MainError> {
    delete(connection, contact).await?;
    let row =
        ActiveModel { contact_id: Set(contact), secret_hash: Set(hash.to_vec()), created_at: Set(now.ms()) };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Deletes the address of a contact. Returns true if the contact had one.
pub async fn delete(connection: &dyn StoreConnection, contact: i64) -> Result<bool, MainError> {
    let deleted = Entity::delete_by_id(contact).exec(&connection).await?;
    Ok(deleted.rows_affected > 0)
}

/// The database key of the contact whose address has this hash, in any organisation: the secret alone grants access.
pub async fn find_by_hash(
    connection: &dyn StoreConnection,
    hash: &CalendarSecretHash,
) -> Result<Option<i64>, MainError> {
    let row = Entity::find().filter(Column::SecretHash.eq(hash.to_vec())).one(&connection).await?;
    Ok(row.map(|row| row.contact_id))
}
