//! Groups that follow a tag (contract 4.14.4): one managed child per service that carries it.
//!
//! Both directions are called within the caller's transaction: a service that was created, renamed or retagged
//! ([`follow_services`]), a group whose tag was set, changed or cleared ([`follow_group`]). Both lock the
//! organisation first, so that of a new group and a new service at the same moment one sees the other. The changes
//! are decided by [`GroupSynchronisation`].

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

/// Values per statement; far below the limits of both databases.
const CHUNK: usize = 500;

/// Updates the groups of the organisation for these services, which were created, renamed or given other tags.
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

/// Updates a group for its tag, which was set, changed or cleared.
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

/// Removes the components that the synchronisation made for a service, before the service itself is deleted. Those
/// that members linked stay and lose their link with it.
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

/// The organisation's groups that follow a tag.
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

/// These services, oldest first.
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

/// These components, oldest first.
async fn children(
    connection: &dyn StoreConnection,
    wanted: sea_orm::sea_query::SimpleExpr,
) -> Result<Vec<Component>, MainError> {
    let rows = Entity::find().filter(wanted).order_by_asc(Column::Id).all(&connection).await?;
    rows.iter().map(from_row).collect()
}

/// The largest `display_order` inside each of these groups.
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
