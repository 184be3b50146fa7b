//! Groups that are synchronised with a tag (contract 4.14.4): they have one managed child for each service with the tag.
//!
//! Both functions are called within the caller's transaction: [`follow_services`] after services were created, renamed
//! or retagged, [`follow_group`] after the tag of a group was set, changed or cleared. Both lock the organisation
//! first, so that a new group and a concurrent new service cannot miss each other. [`GroupSynchronisation`] decides the
//! changes.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveValue::NotSet, ColumnTrait, EntityTrait, ExprTrait as _, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait,
};
use watchkeeper_entities::component::{Column, Entity};
use watchkeeper_entities::{service, service_tag, statuspage};

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::component::sync::{GroupSynchronisation, SyncChanges, TaggedService};
use crate::model::component::{Component, ComponentKey, order_behind};
use crate::model::service::NamedService;
use crate::model::service::ServiceKey;
use crate::store::components::{from_row, to_row};
use crate::store::error::MainError;
use crate::store::{components, named_services, organisations};

/// Number of values per statement, far below the limits of both databases.
const CHUNK: usize = 500;

/// Updates all synchronised groups of the organisation after these services were created, renamed or retagged.
pub async fn follow_services(
    connection: &dyn StoreConnection,
    organisation: &Organisation,
    services: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    organisations::lock(connection, organisation.key).await?;
    let groups = synced_groups(connection, organisation.key).await?;
    if groups.is_empty() {
        return Ok(());
    }
    for services in services.chunks(CHUNK) {
        let keys = || services.iter().copied();
        let named = oldest_first(connection, service::Column::Id.is_in(keys())).await?;
        let tags = service_tag::Entity::find()
            .filter(service_tag::Column::ServiceId.is_in(keys()))
            .all(&connection)
            .await?;
        let carried = |row: service_tag::Model| TaggedService { service: row.service_id, tag: row.tag_id };
        let managed = Column::ServiceId.is_in(keys()).and(Column::IsSyncManaged.eq(true));
        let synchronisation = GroupSynchronisation {
            groups: &groups,
            services: &named,
            carried: &tags.into_iter().map(carried).collect(),
            children: &children(connection, managed).await?,
            locale: &organisation.default_locale,
        };
        carry_out(connection, synchronisation.changes(), now).await?;
    }
    Ok(())
}

/// Updates the children of a group after its tag was set, changed or cleared. After it was cleared, its children stay and
/// are no longer managed.
pub async fn follow_group(
    connection: &dyn StoreConnection,
    organisation: &Organisation,
    group: &Component,
    now: Timestamp,
) -> Result<(), MainError> {
    organisations::lock(connection, organisation.key).await?;
    let Some(tag) = group.sync_tag else {
        Entity::update_many()
            .col_expr(Column::IsSyncManaged, Expr::value(false))
            .filter(Column::ParentId.eq(group.key))
            .filter(Column::IsSyncManaged.eq(true))
            .exec(&connection)
            .await?;
        return Ok(());
    };
    let tagged = service_tag::Entity::find()
        .select_only()
        .column(service_tag::Column::ServiceId)
        .filter(service_tag::Column::TagId.eq(tag))
        .into_query();
    let named = oldest_first(connection, service::Column::Id.in_subquery(tagged)).await?;
    let synchronisation = GroupSynchronisation {
        groups: std::slice::from_ref(group),
        services: &named,
        carried: &named.iter().map(|service| TaggedService { service: service.key, tag }).collect(),
        children: &children(connection, Column::ParentId.eq(group.key)).await?,
        locale: &organisation.default_locale,
    };
    carry_out(connection, synchronisation.changes(), now).await
}

/// Removes the components that the synchronisation made for a service that is about to be deleted. Components that members
/// linked with the service stay, and lose the link when it is deleted.
pub async fn forget_service(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    Entity::delete_many()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::IsSyncManaged.eq(true))
        .exec(&connection)
        .await?;
    Ok(())
}

async fn carry_out(
    connection: &dyn StoreConnection,
    changes: SyncChanges,
    now: Timestamp,
) -> Result<(), MainError> {
    for keys in changes.removed.chunks(CHUNK) {
        let these = Entity::delete_many().filter(Column::Id.is_in(keys.iter().copied()));
        these.exec(&connection).await?;
    }
    for child in &changes.changed {
        components::update(connection, child).await?;
    }
    if changes.added.is_empty() {
        return Ok(());
    }
    let groups: HashSet<ComponentKey> = changes.added.iter().filter_map(|child| child.parent).collect();
    let mut last = last_orders(connection, &groups).await?;
    let rows = changes.added.into_iter().map(|child| {
        let group = child.parent.unwrap_or_default();
        let display_order = order_behind(last.get(&group).copied());
        last.insert(group, display_order);
        let mut row = to_row(&Component { display_order, created_at: now, ..child });
        row.id = NotSet;
        row
    });
    let rows: Vec<_> = rows.collect();
    for rows in rows.chunks(CHUNK) {
        Entity::insert_many(rows.to_vec()).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// The groups of the organisation that are synchronised with a tag.
async fn synced_groups(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<Component>, MainError> {
    let pages = statuspage::Entity::find()
        .select_only()
        .column(statuspage::Column::Id)
        .filter(statuspage::Column::OrganisationId.eq(organisation))
        .into_query();
    let rows = Entity::find()
        .filter(Column::SyncTagId.is_not_null())
        .filter(Column::StatuspageId.in_subquery(pages))
        .order_by_asc(Column::Id)
        .all(&connection)
        .await?;
    rows.iter().map(from_row).collect()
}

/// The services that meet a condition, oldest first.
async fn oldest_first(
    connection: &dyn StoreConnection,
    wanted: sea_orm::sea_query::SimpleExpr,
) -> Result<Vec<NamedService>, MainError> {
    let query = service::Entity::find()
        .filter(wanted)
        .order_by_asc(service::Column::CreatedAt)
        .order_by_asc(service::Column::PublicId);
    named_services::services(connection, query).await
}

/// The components that meet a condition, oldest first.
async fn children(
    connection: &dyn StoreConnection,
    wanted: sea_orm::sea_query::SimpleExpr,
) -> Result<Vec<Component>, MainError> {
    let rows = Entity::find().filter(wanted).order_by_asc(Column::Id).all(&connection).await?;
    rows.iter().map(from_row).collect()
}

/// The largest `display_order` within each of these groups; an empty group is not in the result.
async fn last_orders(
    connection: &dyn StoreConnection,
    groups: &HashSet<ComponentKey>,
) -> Result<HashMap<ComponentKey, i32>, MainError> {
    let rows: Vec<(Option<i64>, Option<i32>)> = Entity::find()
        .select_only()
        .column(Column::ParentId)
        .column_as(Column::DisplayOrder.max(), "last")
        .filter(Column::ParentId.is_in(groups.iter().copied()))
        .group_by(Column::ParentId)
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(rows.into_iter().filter_map(|(group, last)| group.zip(last)).collect())
}
