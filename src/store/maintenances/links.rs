//! Links of maintenances: the services that they cover, and the status pages that show them.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::{maintenance_service, maintenance_statuspage, service, statuspage};

use crate::id::Id;
use crate::model::maintenance::MaintenanceKey;
use crate::model::service::{NamedService, ServiceKey};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::named_services;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// Number of maintenances or services per statement.
const AT_ONCE: usize = 1_000;

/// A status page as it is shown in other resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPage {
    /// Database key.
    pub key: i64,
    /// Id of the page.
    pub id: Id,
    /// Name of the page, by language.
    pub name: TranslatedText,
}

/// The keys of the services that the maintenance covers, in ascending order.
pub async fn covered_by(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
) -> Result<Vec<ServiceKey>, MainError> {
    let rows = maintenance_service::Entity::find()
        .filter(maintenance_service::Column::MaintenanceId.eq(maintenance))
        .order_by_asc(maintenance_service::Column::ServiceId)
        .all(&connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.service_id).collect())
}

/// The keys of the pages chosen for the maintenance, in the order that the client gave.
pub async fn chosen_for(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
) -> Result<Vec<i64>, MainError> {
    let links = maintenance_statuspage::Entity::find()
        .filter(maintenance_statuspage::Column::MaintenanceId.eq(maintenance))
        .order_by_asc(maintenance_statuspage::Column::Position)
        .all(&connection)
        .await?;
    Ok(links.into_iter().map(|link| link.statuspage_id).collect())
}

/// The visible services that each of these maintenances covers, sorted by name.
pub async fn services_of(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    maintenances: &[MaintenanceKey],
) -> Result<HashMap<MaintenanceKey, Vec<NamedService>>, MainError> {
    let mut found: HashMap<MaintenanceKey, Vec<NamedService>> = HashMap::new();
    for keys in maintenances.chunks(AT_ONCE) {
        let links = maintenance_service::Entity::find()
            .filter(maintenance_service::Column::MaintenanceId.is_in(keys.iter().copied()))
            .all(&connection)
            .await?;
        let services = links.iter().map(|link| link.service_id).collect();
        let named = named_services(connection, visibility, services).await?;
        for link in links {
            let services = found.entry(link.maintenance_id).or_default();
            services.extend(named.get(&link.service_id).cloned());
        }
    }
    found.values_mut().for_each(|services| sort_by_name(services));
    Ok(found)
}

/// Sorts services by name and id, the order in which they are shown.
pub(super) fn sort_by_name(services: &mut [NamedService]) {
    services.sort_by(|a, b| (&a.name, a.id.as_str()).cmp(&(&b.name, b.id.as_str())));
}

/// The visible services with these keys.
pub(super) async fn named_services(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    keys: BTreeSet<ServiceKey>,
) -> Result<HashMap<ServiceKey, NamedService>, MainError> {
    let keys: Vec<ServiceKey> = keys.into_iter().collect();
    let mut found = HashMap::new();
    for keys in keys.chunks(AT_ONCE) {
        let query = service::Entity::find().filter(service::Column::Id.is_in(keys.iter().copied()));
        let query = narrowed(query, ScopedResource::Services, visibility);
        let services = named_services::services(connection, query).await?;
        found.extend(services.into_iter().map(|service| (service.key, service)));
    }
    Ok(found)
}

/// The visible pages that were chosen for the maintenance, in the order that the client gave.
pub async fn statuspages_of(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    maintenance: MaintenanceKey,
) -> Result<Vec<NamedPage>, MainError> {
    let keys = chosen_for(connection, maintenance).await?;
    named_pages(connection, Some(visibility), &keys).await
}

/// The pages with these keys, in this order; without visibility, regardless of access scopes.
pub(super) async fn named_pages(
    connection: &dyn StoreConnection,
    visibility: Option<Visibility>,
    keys: &[i64],
) -> Result<Vec<NamedPage>, MainError> {
    let pages = statuspage::Entity::find().filter(statuspage::Column::Id.is_in(keys.iter().copied()));
    let pages = match visibility {
        Some(visibility) => narrowed(pages, ScopedResource::Statuspages, visibility),
        None => pages,
    };
    let rows = pages.all(&connection).await?;
    let rows: HashMap<i64, statuspage::Model> = rows.into_iter().map(|row| (row.id, row)).collect();
    let named = |row: &statuspage::Model| {
        let corrupt = |problem: &str| MainError::corrupt("statuspage", &row.id, &problem);
        Ok(NamedPage {
            key: row.id,
            id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
            name: TranslatedText::from_stored(&row.name).map_err(|_| corrupt("unreadable name"))?,
        })
    };
    keys.iter().filter_map(|key| rows.get(key)).map(named).collect()
}

/// Replaces the services that the maintenance covers.
pub async fn cover(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    services: &[ServiceKey],
) -> Result<(), MainError> {
    maintenance_service::Entity::delete_many()
        .filter(maintenance_service::Column::MaintenanceId.eq(maintenance))
        .exec(&connection)
        .await?;
    let row = |service: &ServiceKey| maintenance_service::ActiveModel {
        maintenance_id: Set(maintenance),
        service_id: Set(*service),
    };
    if !services.is_empty() {
        let rows = services.iter().map(row);
        maintenance_service::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Replaces the pages chosen for the maintenance; the order is kept.
pub async fn show_on(
    connection: &dyn StoreConnection,
    maintenance: MaintenanceKey,
    statuspages: &[i64],
) -> Result<(), MainError> {
    maintenance_statuspage::Entity::delete_many()
        .filter(maintenance_statuspage::Column::MaintenanceId.eq(maintenance))
        .exec(&connection)
        .await?;
    let row = |(position, page): (i32, &i64)| maintenance_statuspage::ActiveModel {
        maintenance_id: Set(maintenance),
        statuspage_id: Set(*page),
        position: Set(position),
    };
    if !statuspages.is_empty() {
        let rows = (0..).zip(statuspages).map(row);
        maintenance_statuspage::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}
