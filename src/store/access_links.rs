//! The links by which readers on the e-mail list of a page open it.
//!
//! To store a link, the caller must hold the lock of the page's organisation, so that the page is not deleted meanwhile.

use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::page_access_link::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::statuspage::access_link::{AccessLink, LINK_MS};
use crate::store::connection::StoreConnection;
use crate::store::error::MainError;

/// Returns the last link of an address, in lower case.
pub async fn of_address(
    connection: &dyn StoreConnection,
    page: i64,
    address: &str,
) -> Result<Option<AccessLink>, MainError> {
    let row = Entity::find_by_id((page, address.to_owned())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Returns the link with this id.
pub async fn find(connection: &dyn StoreConnection, id: Id) -> Result<Option<AccessLink>, MainError> {
    let row = Entity::find().filter(Column::LinkId.eq(id.as_str())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Stores the link in place of the earlier one of its address.
pub async fn replace(connection: &dyn StoreConnection, link: &AccessLink) -> Result<(), MainError> {
    Entity::delete_by_id((link.page, link.address.clone())).exec(&connection).await?;
    let row = ActiveModel {
        statuspage_id: Set(link.page),
        address: Set(link.address.clone()),
        link_id: Set(link.id.to_string()),
        asked_at: Set(link.asked_at.ms()),
    };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Deletes the links that are not valid any more.
pub async fn forget_expired(connection: &dyn StoreConnection, now: Timestamp) -> Result<(), MainError> {
    let is_expired = Column::AskedAt.lte(now.plus_ms(-LINK_MS).ms());
    Entity::delete_many().filter(is_expired).exec(&connection).await?;
    Ok(())
}

/// Deletes the link with this id; returns false if it is gone already, because it was used or replaced.
pub async fn take(connection: &dyn StoreConnection, id: Id) -> Result<bool, MainError> {
    let deleted = Entity::delete_many().filter(Column::LinkId.eq(id.as_str())).exec(&connection).await?;
    Ok(deleted.rows_affected == 1)
}

fn from_row(row: Model) -> Result<AccessLink, MainError> {
    let corrupt = |_| MainError::corrupt("page access link", &row.statuspage_id, &"its id is malformed");
    Ok(AccessLink {
        page: row.statuspage_id,
        id: row.link_id.parse().map_err(corrupt)?,
        address: row.address,
        asked_at: Timestamp::from_ms(row.asked_at),
    })
}
