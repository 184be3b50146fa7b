//! Keys of walls, found by the SHA-256 of their text.

use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::wall_key::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::token::TokenHash;
use crate::model::visibility::Visibility;
use crate::model::wall_key::WallKey;
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The keys on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
    window: PageWindow,
) -> Result<(Vec<WallKey>, u64), MainError> {
    let wanted = of_organisation(organisation);
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    let rows = rows.all(&connection).await?.into_iter().map(from_row);
    Ok((rows.collect::<Result<_, _>>()?, total))
}

/// The key of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<WallKey>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// The key with this hash, of any organisation; `None` if it was revoked or never existed.
pub async fn find_by_hash(
    connection: &dyn StoreConnection,
    hash: &TokenHash,
) -> Result<Option<WallKey>, MainError> {
    let row = Entity::find().filter(Column::Hash.eq(hash.to_vec())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Returns the number of keys of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new key; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    wall: WallKey,
    hash: &TokenHash,
) -> Result<WallKey, MainError> {
    let row = ActiveModel {
        public_id: Set(wall.id.to_string()),
        organisation_id: Set(wall.organisation),
        name: Set(wall.name.clone()),
        hash: Set(hash.to_vec()),
        access_scope_id: Set(wall.access_scope),
        created_at: Set(wall.created_at.ms()),
        ..ActiveModel::default()
    };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(WallKey { key, ..wall })
}

/// Revokes a key by deleting its row.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

fn from_row(row: Model) -> Result<WallKey, MainError> {
    let corrupt = |_| MainError::corrupt("wall key", &row.id, &"its id is malformed");
    Ok(WallKey {
        key: row.id,
        id: row.public_id.parse().map_err(corrupt)?,
        organisation: row.organisation_id,
        name: row.name,
        access_scope: row.access_scope_id,
        created_at: Timestamp::from_ms(row.created_at),
    })
}
