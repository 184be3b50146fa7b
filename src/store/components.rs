//! Components of a status page. The caller has found the page in its organisation; most functions are scoped by the page.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use watchkeeper_entities::component::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{statuspage, tag};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::component::{Component, ComponentKey};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// The visible components of the page, in no particular order.
pub async fn of_page(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    page: i64,
) -> Result<Vec<Component>, MainError> {
    of_pages(connection, visibility, &[page]).await
}

/// The visible components of these pages.
pub(super) async fn of_pages(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    pages: &[i64],
) -> Result<Vec<Component>, MainError> {
    let of_pages = || Entity::find().filter(Column::StatuspageId.is_in(pages.iter().copied()));
    let rows = of_pages().order_by_asc(Column::Id).all(&connection).await?;
    let components: Vec<Component> = rows.iter().map(from_row).collect::<Result<_, _>>()?;
    if !visibility.is_confined() {
        return Ok(components);
    }
    let shown = narrowed(of_pages(), ScopedResource::Components, visibility).select_only().column(Column::Id);
    let shown: HashSet<ComponentKey> = shown.into_tuple().all(&connection).await?.into_iter().collect();
    Ok(with_groups(components, shown))
}

/// The components in `shown`, and all groups above them.
fn with_groups(components: Vec<Component>, mut shown: HashSet<ComponentKey>) -> Vec<Component> {
    let parents: HashMap<ComponentKey, ComponentKey> =
        components.iter().filter_map(|component| Some((component.key, component.parent?))).collect();
    for key in shown.clone() {
        let mut above = parents.get(&key);
        while let Some(group) = above.filter(|group| shown.insert(**group)) {
            above = parents.get(group);
        }
    }
    components.into_iter().filter(|component| shown.contains(&component.key)).collect()
}

/// The visible component of the page with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    page: i64,
    id: Id,
) -> Result<Option<Component>, MainError> {
    if visibility.is_confined() {
        let components = of_page(connection, visibility, page).await?;
        return Ok(components.into_iter().find(|component| component.id == id));
    }
    let query = Entity::find().filter(Column::StatuspageId.eq(page)).filter(Column::PublicId.eq(id.as_str()));
    query.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// Returns true if any page of the organisation has a component with this id. Always false for a confined token.
pub async fn exists(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<bool, MainError> {
    if visibility.is_confined() {
        return Ok(false);
    }
    let pages = statuspage::Entity::find()
        .select_only()
        .column(statuspage::Column::Id)
        .filter(statuspage::Column::OrganisationId.eq(visibility.organisation()))
        .into_query();
    let query = Entity::find()
        .filter(Column::PublicId.eq(id.as_str()))
        .filter(Column::StatuspageId.in_subquery(pages));
    Ok(query.count(&connection).await? > 0)
}

/// The key of the visible tag with this id.
pub async fn find_tag(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<i64>, MainError> {
    let row = narrowed(tag::Entity::find(), ScopedResource::Tags, visibility)
        .filter(tag::Column::OrganisationId.eq(visibility.organisation()))
        .filter(tag::Column::PublicId.eq(id.as_str()))
        .one(&connection)
        .await?;
    Ok(row.map(|row| row.id))
}

/// The ids of the visible tags that groups of the page are synchronised with, by database key.
pub async fn sync_tags(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    page: i64,
) -> Result<HashMap<i64, Id>, MainError> {
    let followed = Entity::find()
        .select_only()
        .column(Column::SyncTagId)
        .filter(Column::StatuspageId.eq(page))
        .filter(Column::SyncTagId.is_not_null())
        .into_query();
    let followed = tag::Entity::find().filter(tag::Column::Id.in_subquery(followed));
    let rows = narrowed(followed, ScopedResource::Tags, visibility).all(&connection).await?;
    rows.into_iter()
        .map(|row| {
            let id = row.public_id.parse();
            id.map(|id| (row.id, id)).map_err(|error| MainError::corrupt("tag", &row.id, &error))
        })
        .collect()
}

/// Returns the number of components of the page that count for the plan: all except those made by the synchronisation.
pub async fn count_made(connection: &dyn StoreConnection, page: i64) -> Result<u64, MainError> {
    let made = Entity::find().filter(Column::StatuspageId.eq(page)).filter(Column::IsSyncManaged.eq(false));
    Ok(made.count(&connection).await?)
}

/// Stores a new component; its `key` is assigned by the database and returned in the result.
pub async fn insert(connection: &dyn StoreConnection, component: Component) -> Result<Component, MainError> {
    let mut row = to_row(&component);
    row.id = NotSet;
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Component { key, ..component })
}

/// Stores all fields of the component.
pub async fn update(connection: &dyn StoreConnection, component: &Component) -> Result<(), MainError> {
    to_row(component).update(&connection).await?;
    Ok(())
}

/// Deletes the component and all components below it.
pub async fn delete(connection: &dyn StoreConnection, component: ComponentKey) -> Result<(), MainError> {
    Entity::delete_by_id(component).exec(&connection).await?;
    Ok(())
}

pub(super) fn to_row(component: &Component) -> ActiveModel {
    ActiveModel {
        id: Set(component.key),
        public_id: Set(component.id.to_string()),
        statuspage_id: Set(component.page),
        parent_id: Set(component.parent),
        service_id: Set(component.service),
        is_linked: Set(component.service.is_some() || component.has_lost_service),
        sync_tag_id: Set(component.sync_tag),
        name: Set(component.name.to_json().to_string()),
        has_own_name: Set(component.has_own_name),
        description: Set(component.description.as_ref().map(|text| text.to_json().to_string())),
        is_group: Set(component.is_group),
        is_visible: Set(component.is_visible),
        show_uptime_bars: Set(component.show_uptime_bars),
        hide_operational_children: Set(component.hide_operational_children),
        default_open: Set(component.default_open),
        sync_new_visible: Set(component.sync_new_visible),
        is_sync_managed: Set(component.is_sync_managed),
        display_order: Set(component.display_order),
        created_at: Set(component.created_at.ms()),
    }
}

pub(super) fn from_row(row: &Model) -> Result<Component, MainError> {
    let key = row.id;
    let corrupt = |problem: &str| MainError::corrupt("component", &key, &problem);
    let description = row.description.as_deref().map(TranslatedText::from_stored).transpose();
    Ok(Component {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        page: row.statuspage_id,
        parent: row.parent_id,
        service: row.service_id,
        has_lost_service: row.is_linked && row.service_id.is_none(),
        sync_tag: row.sync_tag_id,
        name: TranslatedText::from_stored(&row.name).map_err(|_| corrupt("its name"))?,
        has_own_name: row.has_own_name,
        description: description.map_err(|_| corrupt("its description"))?,
        is_group: row.is_group,
        is_visible: row.is_visible,
        show_uptime_bars: row.show_uptime_bars,
        hide_operational_children: row.hide_operational_children,
        default_open: row.default_open,
        sync_new_visible: row.sync_new_visible,
        is_sync_managed: row.is_sync_managed,
        display_order: row.display_order,
        created_at: Timestamp::from_ms(row.created_at),
    })
}
