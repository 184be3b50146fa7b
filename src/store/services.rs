//! Services. Finders are scoped by organisation, except [`definitions`] for the engine and those by database key.

pub mod active;
pub mod definitions;
pub mod outlines;
mod settings;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait as _, Select,
};
use watchkeeper_entities::service::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{history_erasure, service_tag};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{Service, ServiceKey, ServicePause, StatusOverride};
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::owner_filter::is_owned_by;
use crate::store::page_window::PageWindow;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// Number of keys per statement, because the number of bound values is limited.
const KEYS_AT_ONCE: usize = 1_000;
/// Number of revisions per statement: all its rows are in memory at the same time, several hundred bytes each.
const REVISIONS_AT_ONCE: u64 = 10_000;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

fn seen(visibility: Visibility) -> Select<Entity> {
    narrowed(of_organisation(visibility.organisation()), ScopedResource::Services, visibility)
}

/// Condition that a service has this tag (database key).
fn carrying(tag: i64) -> Expr {
    let links = service_tag::Entity::find()
        .select_only()
        .column(service_tag::Column::ServiceId)
        .filter(service_tag::Column::TagId.eq(tag));
    Column::Id.in_subquery(links.into_query())
}

/// The visible service with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Service>, MainError> {
    let row = seen(visibility).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    row.map(from_row).transpose()
}

/// Like [`find`], and locks the service until the transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Service>, MainError> {
    let query = seen(visibility).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    query.one(&connection).await?.map(from_row).transpose()
}

/// Restricts services to those with a tag (database key) and of one of these check types. Without either, nothing is
/// restricted.
fn of_kind(services: Select<Entity>, tag: Option<i64>, check_types: &[CheckType]) -> Select<Entity> {
    let tagged = match tag {
        Some(tag) => services.filter(carrying(tag)),
        None => services,
    };
    if check_types.is_empty() {
        return tagged;
    }
    tagged.filter(Column::CheckType.is_in(check_types.iter().map(|check_type| check_type.as_str())))
}

/// Sorts services from oldest to newest and restricts them to one page of the list.
fn in_order(services: Select<Entity>, window: PageWindow) -> Select<Entity> {
    let ordered = services.order_by_asc(Column::CreatedAt).order_by_asc(Column::PublicId);
    ordered.offset(window.offset).limit(window.limit)
}

/// The visible services on this page of the list, oldest first, and their total number. With a tag (database key), only
/// services with this tag; with check types, only services of one of them.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tag: Option<i64>,
    check_types: &[CheckType],
    window: PageWindow,
) -> Result<(Vec<Service>, u64), MainError> {
    let wanted = of_kind(seen(visibility), tag, check_types);
    let total = wanted.clone().count(&connection).await?;
    let rows = in_order(wanted, window).all(&connection).await?;
    Ok((rows.into_iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// Returns the number of services of the organisation that are not paused, which counts towards the quota `services`.
pub async fn count_active(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).filter(Column::PausedAt.is_null()).count(&connection).await?)
}

/// Returns the number of services of an organisation, including paused ones.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Database keys of the organisations that have services.
pub async fn organisations_with_services(connection: &dyn StoreConnection) -> Result<Vec<i64>, MainError> {
    let owners = Entity::find().select_only().column(Column::OrganisationId).distinct();
    Ok(owners.order_by_asc(Column::OrganisationId).into_tuple().all(&connection).await?)
}

/// The services with these keys, of any organisation. For callers that took the keys from rows of their organisation.
pub async fn by_keys(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<Vec<Service>, MainError> {
    let mut found = Vec::new();
    for keys in keys.chunks(KEYS_AT_ONCE) {
        let rows = Entity::find().filter(Column::Id.is_in(keys.iter().copied())).all(&connection).await?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// The visible services with these keys.
pub async fn visible_by_keys(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    keys: &[ServiceKey],
) -> Result<Vec<Service>, MainError> {
    let mut found = Vec::new();
    for keys in keys.chunks(KEYS_AT_ONCE) {
        let some = Entity::find().filter(is_owned_by(Column::OrganisationId, visibility.organisation()));
        let some = narrowed(some, ScopedResource::Services, visibility);
        let some = some.filter(Column::Id.is_in(keys.iter().copied()));
        for row in some.all(&connection).await? {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// Stores a new service; its `key` is assigned by the database and returned in the result.
pub async fn insert(connection: &dyn StoreConnection, service: Service) -> Result<Service, MainError> {
    let mut row = to_row(&service);
    row.id = NotSet;
    row.in_planned_maintenance = Set(service.in_planned_maintenance);
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(Service { key, ..service })
}

/// Stores all fields of the service and raises its revision, which is returned in the result.
pub async fn update(connection: &dyn StoreConnection, service: Service) -> Result<Service, MainError> {
    let service = Service { revision: service.revision + 1, ..service };
    to_row(&service).update(&connection).await?;
    Ok(service)
}

/// Moves the start of a service's history back to `at`; a start that is already earlier stays. The revision does not
/// change, so checks continue.
pub async fn begin_history_at(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    at: Timestamp,
) -> Result<(), MainError> {
    let change = Entity::update_many().col_expr(Column::ConfiguredAt, Expr::value(at.ms()));
    let later = change.filter(Column::Id.eq(service)).filter(Column::ConfiguredAt.gt(at.ms()));
    later.exec(&connection).await?;
    Ok(())
}

/// Deletes the service and records that its measurements are to be erased.
pub async fn delete(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    Entity::delete_by_id(service).exec(&connection).await?;
    let erasure = history_erasure::ActiveModel { service_id: Set(service) };
    history_erasure::Entity::insert(erasure).exec_without_returning(&connection).await?;
    Ok(())
}

/// Database keys of deleted services whose measurements have not been erased yet.
pub async fn erasures(connection: &dyn StoreConnection) -> Result<Vec<ServiceKey>, MainError> {
    let rows = history_erasure::Entity::find().all(&connection).await?;
    Ok(rows.into_iter().map(|row| row.service_id).collect())
}

/// The organisation of each of these services, as pairs of service and organisation; services that do not exist are left
/// out.
pub async fn owners(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<Vec<(ServiceKey, i64)>, MainError> {
    let mut owners = Vec::with_capacity(keys.len());
    for some in keys.chunks(KEYS_AT_ONCE) {
        let query = Entity::find().select_only().columns([Column::Id, Column::OrganisationId]);
        let query = query.filter(Column::Id.is_in(some.iter().copied()));
        owners.extend(query.into_tuple::<(ServiceKey, i64)>().all(&connection).await?);
    }
    Ok(owners)
}

/// The keys of all services of an organisation, in ascending order.
pub async fn keys(connection: &dyn StoreConnection, organisation: i64) -> Result<Vec<ServiceKey>, MainError> {
    let query = of_organisation(organisation).select_only().column(Column::Id).order_by_asc(Column::Id);
    Ok(query.into_tuple().all(&connection).await?)
}

/// The keys and revisions of all services of an organisation, in ascending order of the keys.
pub async fn revisions(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<(ServiceKey, i64)>, MainError> {
    let columns = [Column::Id, Column::Revision, Column::CreatedAt, Column::PublicId];
    let query = of_organisation(organisation).select_only().columns(columns);
    // In the order of the index by organisation, which SQLite takes in any case.
    let query = in_order(query, PageWindow { offset: 0, limit: REVISIONS_AT_ONCE });
    let (mut found, mut part) = (Vec::new(), query.clone());
    loop {
        let rows: Vec<(ServiceKey, i64, i64, String)> = part.into_tuple().all(&connection).await?;
        found.extend(rows.iter().map(|(key, revision, ..)| (*key, *revision)));
        let Some((.., at, id)) = rows.last().filter(|_| rows.len() as u64 == REVISIONS_AT_ONCE) else {
            break;
        };
        let later = Column::CreatedAt.gt(*at).or(Column::PublicId.gt(id));
        part = query.clone().filter(Column::CreatedAt.gte(*at)).filter(later);
    }
    found.sort_unstable();
    Ok(found)
}

/// Records that the measurements of a deleted service have been erased.
pub async fn finish_erasure(connection: &dyn StoreConnection, service: ServiceKey) -> Result<(), MainError> {
    history_erasure::Entity::delete_by_id(service).exec(&connection).await?;
    Ok(())
}

fn to_row(service: &Service) -> ActiveModel {
    let pause = service.pause.as_ref();
    let stated = service.status_override.as_ref();
    ActiveModel {
        id: Set(service.key),
        public_id: Set(service.id.to_string()),
        organisation_id: Set(service.organisation),
        name: Set(service.name.clone()),
        check_type: Set(service.check_type.to_string()),
        target: Set(service.target.clone()),
        configured_at: Set(service.configured_at.map(Timestamp::ms)),
        paused_reason: Set(pause.map(|pause| pause.reason.as_str().into())),
        paused_at: Set(pause.map(|pause| pause.at.ms())),
        override_status: Set(stated.map(|stated| stated.status.as_str().into())),
        override_reason: Set(stated.map(|stated| stated.reason.clone())),
        override_at: Set(stated.map(|stated| stated.at.ms())),
        override_by: Set(stated.map(|stated| stated.by.clone())),
        created_at: Set(service.created_at.ms()),
        updated_at: Set(service.updated_at.ms()),
        revision: Set(service.revision),
        // Only maintenances change this column.
        in_planned_maintenance: NotSet,
        ..settings::to_columns(service.settings.as_ref())
    }
}

fn from_row(row: Model) -> Result<Service, MainError> {
    let key = row.id;
    let corrupt = |problem: String| MainError::corrupt("service", &key, &problem);
    let settings = settings::from_columns(&row).map_err(corrupt)?;
    Ok(Service {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed".into()))?,
        organisation: row.organisation_id,
        check_type: row
            .check_type
            .parse()
            .map_err(|_| corrupt(format!("unknown check type {}", row.check_type)))?,
        pause: pause_from(row.paused_reason, row.paused_at).map_err(corrupt)?,
        status_override: override_from(
            row.override_status,
            row.override_at,
            row.override_reason,
            row.override_by,
        )
        .map_err(corrupt)?,
        configured_at: row.configured_at.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
        revision: row.revision,
        in_planned_maintenance: row.in_planned_maintenance,
        settings,
        name: row.name,
        target: row.target,
    })
}

fn pause_from(reason: Option<String>, at: Option<i64>) -> Result<Option<ServicePause>, String> {
    let (Some(reason), Some(at)) = (reason, at) else { return Ok(None) };
    let reason = reason.parse().map_err(|_| format!("unknown pause reason {reason}"))?;
    Ok(Some(ServicePause { reason, at: Timestamp::from_ms(at) }))
}

fn override_from(
    status: Option<String>,
    at: Option<i64>,
    reason: Option<String>,
    by: Option<String>,
) -> Result<Option<StatusOverride>, String> {
    let (Some(status), Some(at)) = (status, at) else { return Ok(None) };
    Ok(Some(StatusOverride {
        status: status.parse().map_err(|_| format!("unknown override status {status}"))?,
        reason: reason.unwrap_or_default(),
        at: Timestamp::from_ms(at),
        by: by.unwrap_or_default(),
    }))
}
