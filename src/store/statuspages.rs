//! Status pages. Every finder is scoped by organisation, except those of `visitors`.
//!
//! Slugs are assigned in `slugs`; `page_extras` reads facts about pages from other tables.

pub mod page_extras;
pub mod row;
pub mod slugs;
pub mod visitors;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::LockType;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use watchkeeper_entities::statuspage::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::statuspage::Statuspage;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::events;
use crate::store::page_window::PageWindow;
use crate::store::scope_filter::{ScopedResource, narrowed};
use crate::store::statuspages::row::{from_row, to_row};

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

fn seen(visibility: Visibility) -> Select<Entity> {
    narrowed(of_organisation(visibility.organisation()), ScopedResource::Statuspages, visibility)
}

/// The visible page with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Statuspage>, MainError> {
    let row = seen(visibility).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Like [`find`], and locks the page against changes until the transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Statuspage>, MainError> {
    let query = seen(visibility).filter(Column::PublicId.eq(id.as_str()));
    let query = query.lock(LockType::NoKeyUpdate);
    query.one(&connection).await?.map(from_row).transpose()
}

/// The visible pages on this page of the list, oldest first, and their total number. With a slug, only the page with this
/// slug.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    slug: Option<&str>,
    window: PageWindow,
) -> Result<(Vec<Statuspage>, u64), MainError> {
    let mut wanted = seen(visibility);
    if let Some(slug) = slug {
        wanted = wanted.filter(Column::Slug.eq(slug));
    }
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((rows.into_iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// Returns the number of pages of the organisation, which counts towards the quota `statuspages`.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Returns the number of published pages of the organisation, which counts towards the quota `published_statuspages`.
pub async fn count_published(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).filter(Column::IsPublished.eq(true)).count(&connection).await?)
}

/// Stores all fields of the page except its slug, which only [`slugs::rename`] changes.
pub async fn update(connection: &dyn StoreConnection, page: &Statuspage) -> Result<(), MainError> {
    let mut row = to_row(page);
    row.slug = NotSet;
    row.update(&connection).await?;
    Ok(())
}

/// Deletes the page with everything that belongs to it. Its slug is held for the organisation for 30 days.
pub async fn delete(
    connection: &dyn StoreConnection,
    page: &Statuspage,
    now: Timestamp,
) -> Result<(), MainError> {
    events::of_linked_to_page(connection, page.key).await?;
    Entity::delete_by_id(page.key).exec(&connection).await?;
    slugs::hold(connection, page, now).await
}
