//! Tags. Every finder is scoped by organisation.
//!
//! To add a tag, the caller must hold the lock of the organisation
//! ([`organisations::lock`](crate::store::organisations::lock)), which makes "find or create" exact and quotas atomic. A
//! tag without value has an empty `value` in the table.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait,
    DbBackend, EntityTrait, JoinType, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::tag::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{access_scope, access_scope_tag, component, service_tag, statuspage};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::tag::{Tag, TagName, TagSource};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::scope_filter::{ScopedResource, narrowed};
use crate::store::{
    dependencies, escalation_policies, incident_policies, notification_channels, sla_targets,
};

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;

/// Filter for tags. All members that are set must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFilter {
    /// Only the tag with this key and value.
    pub name: Option<TagName>,
    /// Only tags with this key, in lower case.
    pub key: Option<String>,
}

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

fn seen(visibility: Visibility) -> Select<Entity> {
    narrowed(of_organisation(visibility.organisation()), ScopedResource::Tags, visibility)
}

fn is_named(name: &TagName) -> Condition {
    let value = name.value().unwrap_or_default();
    Condition::all().add(Column::Key.eq(name.key())).add(Column::Value.eq(value))
}

/// The visible tag with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Tag>, MainError> {
    let row = seen(visibility).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// The visible tag with this name.
pub async fn find_named(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    name: &TagName,
) -> Result<Option<Tag>, MainError> {
    seen(visibility).filter(is_named(name)).one(&connection).await?.map(from_row).transpose()
}

/// The visible tags with one of these ids or names.
pub async fn find_all(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    ids: &[Id],
    names: &[TagName],
) -> Result<Vec<Tag>, MainError> {
    if ids.is_empty() && names.is_empty() {
        return Ok(Vec::new());
    }
    let with_id = Column::PublicId.is_in(ids.iter().map(Id::as_str));
    let wanted = names.iter().fold(Condition::any().add(with_id), |any, name| any.add(is_named(name)));
    let rows = seen(visibility).filter(wanted).all(&connection).await?;
    rows.into_iter().map(from_row).collect()
}

/// The visible tags on this page of the list that match the filter, sorted by key and value, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &TagFilter,
    window: PageWindow,
) -> Result<(Vec<Tag>, u64), MainError> {
    let mut wanted = seen(visibility);
    if let Some(name) = &filter.name {
        wanted = wanted.filter(is_named(name));
    }
    if let Some(key) = &filter.key {
        wanted = wanted.filter(Column::Key.eq(key));
    }
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted
        .order_by(by_bytes(connection, Column::Key), Order::Asc)
        .order_by(by_bytes(connection, Column::Value), Order::Asc)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((rows.into_iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// The column with byte order, independent of the language of a PostgreSQL database; SQLite always compares bytes.
fn by_bytes(connection: &dyn StoreConnection, column: Column) -> SimpleExpr {
    match connection.get_database_backend() {
        DbBackend::Postgres => Expr::cust_with_expr(r#"$1 COLLATE "C""#, Expr::col(column)),
        _ => Expr::col(column),
    }
}

/// Returns the number of tags that members have created, which counts towards the quota `tags`.
pub async fn count_user(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    let made = of_organisation(organisation).filter(Column::Source.eq(TagSource::User.as_str()));
    Ok(made.count(&connection).await?)
}

/// Returns the number of visible services with each of these tags. A tag without visible services is not in the result.
pub async fn services_counts(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tags: &[i64],
) -> Result<HashMap<i64, i64>, MainError> {
    let mut counts = HashMap::new();
    for tags in tags.chunks(CHUNK) {
        let links = narrowed(service_tag::Entity::find(), ScopedResource::TagLinks, visibility);
        let rows: Vec<(i64, i64)> = links
            .select_only()
            .column(service_tag::Column::TagId)
            .column_as(service_tag::Column::ServiceId.count(), "services")
            .filter(service_tag::Column::TagId.is_in(tags.iter().copied()))
            .group_by(service_tag::Column::TagId)
            .into_tuple()
            .all(&connection)
            .await?;
        counts.extend(rows);
    }
    Ok(counts)
}

/// The tags of each of these services, sorted by label; a service without tags is not in the result.
pub async fn of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, Vec<Tag>>, MainError> {
    let mut links = Vec::new();
    for services in services.chunks(CHUNK) {
        let carried = service_tag::Column::ServiceId.is_in(services.iter().copied());
        links.extend(service_tag::Entity::find().filter(carried).all(&connection).await?);
    }
    let mut keys: Vec<i64> = links.iter().map(|link| link.tag_id).collect();
    keys.sort_unstable();
    keys.dedup();
    let tags = by_rows(connection, &keys).await?;
    let mut found: HashMap<ServiceKey, Vec<Tag>> = HashMap::new();
    for link in links {
        if let Some(tag) = tags.get(&link.tag_id) {
            found.entry(link.service_id).or_default().push(tag.clone());
        }
    }
    for tags in found.values_mut() {
        tags.sort_by_cached_key(|tag| tag.name.label());
    }
    Ok(found)
}

/// The links between these services and their tags (database keys), in no particular order.
pub async fn links_of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<Vec<(ServiceKey, i64)>, MainError> {
    let mut links = Vec::new();
    for some in services.chunks(CHUNK) {
        let of_some = service_tag::Entity::find()
            .select_only()
            .columns([service_tag::Column::ServiceId, service_tag::Column::TagId])
            .filter(service_tag::Column::ServiceId.is_in(some.iter().copied()));
        links.extend(of_some.into_tuple::<(ServiceKey, i64)>().all(&connection).await?);
    }
    Ok(links)
}

/// All tags of an organisation, in no particular order.
pub async fn all(connection: &dyn StoreConnection, organisation: i64) -> Result<Vec<Tag>, MainError> {
    of_organisation(organisation).all(&connection).await?.into_iter().map(from_row).collect()
}

/// The tags with these database keys, of any organisation. For callers that took the keys from rows of their organisation.
pub(super) async fn by_rows(
    connection: &dyn StoreConnection,
    rows: &[i64],
) -> Result<HashMap<i64, Tag>, MainError> {
    let mut tags = HashMap::new();
    for rows in rows.chunks(CHUNK) {
        for row in Entity::find().filter(Column::Id.is_in(rows.iter().copied())).all(&connection).await? {
            tags.insert(row.id, from_row(row)?);
        }
    }
    Ok(tags)
}

/// The database keys of the tags of these services, possibly with duplicates.
pub async fn keys_of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<Vec<i64>, MainError> {
    let mut tags = Vec::new();
    for some in services.chunks(CHUNK) {
        let carried: Vec<i64> = service_tag::Entity::find()
            .select_only()
            .column(service_tag::Column::TagId)
            .distinct()
            .filter(service_tag::Column::ServiceId.is_in(some.iter().copied()))
            .into_tuple()
            .all(&connection)
            .await?;
        tags.extend(carried);
    }
    Ok(tags)
}

/// Stores a new tag; its `row` is assigned by the database and returned in the result.
pub async fn insert(connection: &dyn StoreConnection, tag: Tag) -> Result<Tag, MainError> {
    let mut row = to_row(&tag);
    row.id = NotSet;
    let row = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Tag { row, ..tag })
}

/// Stores all fields of the tag.
pub async fn update(connection: &dyn StoreConnection, tag: &Tag) -> Result<(), MainError> {
    to_row(tag).update(&connection).await?;
    Ok(())
}

/// Deletes the tag and removes it from all services.
pub async fn delete(connection: &dyn StoreConnection, tag: i64) -> Result<(), MainError> {
    let carried = service_tag::Column::TagId.eq(tag);
    service_tag::Entity::delete_many().filter(carried).exec(&connection).await?;
    Entity::delete_by_id(tag).exec(&connection).await?;
    Ok(())
}

/// Changes the tags of the service to exactly `tags` (database keys).
pub async fn set_of_service(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    tags: &[i64],
) -> Result<(), MainError> {
    let of_service = || service_tag::Column::ServiceId.eq(service);
    let carried = service_tag::Entity::find().filter(of_service()).all(&connection).await?;
    let carried: Vec<i64> = carried.into_iter().map(|link| link.tag_id).collect();
    let gone: Vec<i64> = carried.iter().copied().filter(|tag| !tags.contains(tag)).collect();
    for gone in gone.chunks(CHUNK) {
        let gone = service_tag::Column::TagId.is_in(gone.iter().copied());
        service_tag::Entity::delete_many().filter(of_service()).filter(gone).exec(&connection).await?;
    }
    let new = tags.iter().filter(|tag| !carried.contains(tag));
    let new: Vec<_> =
        new.map(|tag| service_tag::ActiveModel { service_id: Set(service), tag_id: Set(*tag) }).collect();
    for new in new.chunks(CHUNK) {
        service_tag::Entity::insert_many(new.to_vec()).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Names of the resources that refer to the tag, such as pages, policies and access scopes; services that carry it do not
/// count. `locale` is the language of translated names. While there are any, the tag must not be deleted.
pub async fn users(
    connection: &dyn StoreConnection,
    tag: i64,
    locale: &str,
) -> Result<Vec<String>, MainError> {
    let groups = component::Entity::find()
        .select_only()
        .column(component::Column::StatuspageId)
        .filter(component::Column::SyncTagId.eq(tag));
    let pages: Vec<i64> = groups.distinct().into_tuple().all(&connection).await?;
    let mut names = Vec::new();
    for pages in pages.chunks(CHUNK) {
        let stored: Vec<String> = statuspage::Entity::find()
            .select_only()
            .column(statuspage::Column::Name)
            .filter(statuspage::Column::Id.is_in(pages.iter().copied()))
            .order_by_asc(statuspage::Column::Id)
            .into_tuple()
            .all(&connection)
            .await?;
        for name in stored {
            let name = TranslatedText::from_stored(&name)
                .map_err(|problem| MainError::corrupt("statuspage", &name, &problem))?;
            names.push(format!("status page {}", name.text(locale, locale)));
        }
    }
    let policies = incident_policies::names_of_tag(connection, tag).await?;
    names.extend(policies.iter().map(|name| format!("incident policy {name}")));
    let targets = sla_targets::names_of_tag(connection, tag).await?;
    names.extend(targets.iter().map(|name| format!("SLA target {name}")));
    let services = dependencies::names_of_tag(connection, tag).await?;
    let channels = notification_channels::names_of_tag(connection, tag).await?;
    names.extend(channels.iter().map(|name| format!("notification channel {name}")));
    let escalations = escalation_policies::names_of_tag(connection, tag).await?;
    names.extend(escalations.iter().map(|name| format!("escalation policy {name}")));
    names.extend(services.iter().map(|name| format!("service {name}")));
    let scopes = scopes_with(connection, tag).await?;
    names.extend(scopes.into_iter().map(|name| format!("access scope {name}")));
    Ok(names)
}

/// The names of the access scopes that contain this tag.
async fn scopes_with(connection: &dyn StoreConnection, tag: i64) -> Result<Vec<String>, MainError> {
    let to_link = access_scope::Entity::belongs_to(access_scope_tag::Entity)
        .from(access_scope::Column::Id)
        .to(access_scope_tag::Column::AccessScopeId)
        .into();
    let names = access_scope::Entity::find()
        .select_only()
        .column(access_scope::Column::Name)
        .join(JoinType::InnerJoin, to_link)
        .filter(access_scope_tag::Column::TagId.eq(tag))
        .order_by_asc(access_scope::Column::Id);
    Ok(names.into_tuple().all(&connection).await?)
}

fn to_row(tag: &Tag) -> ActiveModel {
    ActiveModel {
        id: Set(tag.row),
        public_id: Set(tag.id.to_string()),
        organisation_id: Set(tag.organisation),
        key: Set(tag.name.key().to_owned()),
        value: Set(tag.name.value().unwrap_or_default().to_owned()),
        color: Set(tag.color.clone()),
        source: Set(tag.source.as_str().to_owned()),
        created_at: Set(tag.created_at.ms()),
    }
}

fn from_row(row: Model) -> Result<Tag, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("tag", &row.id, &problem);
    Ok(Tag {
        row: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        name: TagName::new(&row.key, Some(&row.value)).map_err(|_| corrupt("its name cannot be read"))?,
        source: row.source.parse().map_err(|_| corrupt("unknown source"))?,
        created_at: Timestamp::from_ms(row.created_at),
        color: row.color,
    })
}
