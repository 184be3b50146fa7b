//! Effects of maintenances on services: the services that are covered now, and the windows whose time is excluded from
//! uptime (contract 4.7, 4.12).
//!
//! While a planned maintenance is in progress, each service that it covers has an open window for it. When the first
//! window of a service opens or its last one closes, the revision of the service is raised, so that the engine applies
//! the change. All of this happens in the transaction of the change to the maintenance.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait as _, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait as _,
};
use watchkeeper_entities::{maintenance, maintenance_service, service, service_window};

use crate::clock::Timestamp;
use crate::model::maintenance::{MaintenanceKey, MaintenanceStatus};
use crate::model::service::{Service, ServiceKey};
use crate::model::service_window::WindowKind;
use crate::store::error::MainError;
use crate::store::services;

/// Number of services per statement.
const AT_ONCE: usize = 1_000;

/// The services among `services` that are covered by a maintenance in progress, planned or not.
pub async fn covered(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashSet<ServiceKey>, MainError> {
    let mut found = HashSet::new();
    for keys in services.chunks(AT_ONCE) {
        let running = maintenance::Entity::find()
            .select_only()
            .column(maintenance::Column::Id)
            .filter(maintenance::Column::Status.eq(MaintenanceStatus::InProgress.as_str()));
        let covered: Vec<ServiceKey> = maintenance_service::Entity::find()
            .select_only()
            .column(maintenance_service::Column::ServiceId)
            .distinct()
            .filter(maintenance_service::Column::ServiceId.is_in(keys.iter().copied()))
            .filter(maintenance_service::Column::MaintenanceId.in_subquery(running.into_query()))
            .into_tuple()
            .all(&connection)
            .await?;
        found.extend(covered);
    }
    Ok(found)
}

/// The services of an organisation that are covered by a maintenance in progress, planned or not, each with the start of the
/// first one.
pub async fn covered_since(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<ServiceKey, Timestamp>, MainError> {
    use maintenance::Column;
    let running: Vec<(MaintenanceKey, i64, Option<i64>)> = maintenance::Entity::find()
        .select_only()
        .columns([Column::Id, Column::ScheduledStart, Column::ActualStart])
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::Status.eq(MaintenanceStatus::InProgress.as_str()))
        .into_tuple()
        .all(&connection)
        .await?;
    let start = |(key, planned, actual): (MaintenanceKey, i64, Option<i64>)| {
        (key, Timestamp::from_ms(actual.unwrap_or(planned)))
    };
    let starts: HashMap<MaintenanceKey, Timestamp> = running.into_iter().map(start).collect();
    let maintenances: Vec<MaintenanceKey> = starts.keys().copied().collect();
    let mut found: HashMap<ServiceKey, Timestamp> = HashMap::new();
    for some in maintenances.chunks(AT_ONCE) {
        let links: Vec<(MaintenanceKey, ServiceKey)> = maintenance_service::Entity::find()
            .select_only()
            .columns([maintenance_service::Column::MaintenanceId, maintenance_service::Column::ServiceId])
            .filter(maintenance_service::Column::MaintenanceId.is_in(some.iter().copied()))
            .into_tuple()
            .all(&connection)
            .await?;
        for (maintenance, service) in links {
            let start = starts[&maintenance];
            found.entry(service).and_modify(|first| *first = start.min(*first)).or_insert(start);
        }
    }
    Ok(found)
}

/// Opens and closes windows of a maintenance so that exactly the `wanted` services have an open one. Returns the services
/// that the engine must update after the commit.
pub async fn set_windows(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    wanted: &[ServiceKey],
    now: Timestamp,
) -> Result<Vec<Service>, MainError> {
    let open = open_windows(connection, maintenance).await?;
    let closing: Vec<ServiceKey> = open.iter().copied().filter(|key| !wanted.contains(key)).collect();
    let opening: Vec<ServiceKey> = wanted.iter().copied().filter(|key| !open.contains(key)).collect();
    let touched = [closing.as_slice(), opening.as_slice()].concat();
    if touched.is_empty() {
        return Ok(Vec::new());
    }
    lock_services(connection, &touched).await?;
    close(connection, maintenance, &closing, now).await?;
    let row = |service: &ServiceKey| service_window::ActiveModel {
        service_id: Set(*service),
        kind: Set(WindowKind::Maintenance.word().into()),
        status: Set(None),
        from_at: Set(now.ms()),
        to_at: Set(None),
        maintenance_id: Set(Some(maintenance)),
        ..service_window::ActiveModel::default()
    };
    if !opening.is_empty() {
        let rows = opening.iter().map(row);
        service_window::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    update_maintenance_flags(connection, &touched).await
}

async fn open_windows(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
) -> Result<Vec<ServiceKey>, MainError> {
    let rows = service_window::Entity::find()
        .filter(service_window::Column::MaintenanceId.eq(maintenance))
        .filter(service_window::Column::ToAt.is_null())
        .all(&connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.service_id).collect())
}

/// Locks these services until the transaction ends, in the order of their keys, so that two transactions do not deadlock.
/// Returns the keys of those that exist.
pub async fn lock_services(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<HashSet<ServiceKey>, MainError> {
    let mut ordered = keys.to_vec();
    ordered.sort_unstable();
    let mut held = HashSet::new();
    for keys in ordered.chunks(AT_ONCE) {
        let found: Vec<ServiceKey> = service::Entity::find()
            .select_only()
            .column(service::Column::Id)
            .filter(service::Column::Id.is_in(keys.iter().copied()))
            .order_by_asc(service::Column::Id)
            .lock(LockType::NoKeyUpdate)
            .into_tuple()
            .all(&connection)
            .await?;
        held.extend(found);
    }
    Ok(held)
}

/// Closes the open windows of a maintenance for these services. A window whose start is after `now`, because the clock was
/// set back, ends at its start.
async fn close(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    keys: &[ServiceKey],
    now: Timestamp,
) -> Result<(), MainError> {
    use service_window::{Column, Entity};
    for keys in keys.chunks(AT_ONCE) {
        let mine = || {
            Entity::update_many()
                .filter(Column::MaintenanceId.eq(maintenance))
                .filter(Column::ServiceId.is_in(keys.iter().copied()))
                .filter(Column::ToAt.is_null())
        };
        mine()
            .col_expr(Column::ToAt, Expr::value(now.ms()))
            .filter(Column::FromAt.lte(now.ms()))
            .exec(&connection)
            .await?;
        mine().col_expr(Column::ToAt, Expr::col(Column::FromAt)).exec(&connection).await?;
    }
    Ok(())
}

/// Updates the stored flag that tells whether a service has an open window. Returns the services whose flag has changed.
async fn update_maintenance_flags(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<Vec<Service>, MainError> {
    use service::{Column, Entity};
    let mut changed = Vec::new();
    for keys in keys.chunks(AT_ONCE) {
        let open: HashSet<ServiceKey> = service_window::Entity::find()
            .filter(service_window::Column::ServiceId.is_in(keys.iter().copied()))
            .filter(service_window::Column::MaintenanceId.is_not_null())
            .filter(service_window::Column::ToAt.is_null())
            .all(&connection)
            .await?
            .into_iter()
            .map(|row| row.service_id)
            .collect();
        for service in services::by_keys(connection, keys).await? {
            let in_planned_maintenance = open.contains(&service.key);
            if service.in_planned_maintenance != in_planned_maintenance {
                let revision = service.revision + 1;
                changed.push(Service { in_planned_maintenance, revision, ..service });
            }
        }
    }
    for is_open in [true, false] {
        let keys: Vec<ServiceKey> = changed
            .iter()
            .filter(|service| service.in_planned_maintenance == is_open)
            .map(|service| service.key)
            .collect();
        for keys in keys.chunks(AT_ONCE) {
            Entity::update_many()
                .col_expr(Column::InPlannedMaintenance, Expr::value(is_open))
                .col_expr(Column::Revision, Expr::col(Column::Revision).add(1))
                .filter(Column::Id.is_in(keys.iter().copied()))
                .exec(&connection)
                .await?;
        }
    }
    Ok(changed)
}
