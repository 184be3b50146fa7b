//! Links of series: the services that their maintenances cover, and the status pages that show them.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{maintenance_series_service, maintenance_series_statuspage, service};

use crate::model::maintenance::origin::SeriesKey;
use crate::model::service::{NamedService, ServiceKey};
use crate::store::error::MainError;
use crate::store::maintenances::links::{NamedPage, named_pages, sort_by_name};
use crate::store::named_services;

/// Number of series per statement.
const AT_ONCE: usize = 1_000;

/// The services and pages that each maintenance of a series is linked with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesLinks {
    /// Keys of the covered services, in ascending order.
    pub services: Vec<ServiceKey>,
    /// Keys of the chosen pages, in the order that the client gave.
    pub statuspages: Vec<i64>,
}

/// The links of a series.
pub async fn of(connection: &dyn StoreConnection, series: SeriesKey) -> Result<SeriesLinks, MainError> {
    use maintenance_series_service::{Column as Service, Entity as Services};
    use maintenance_series_statuspage::{Column as Page, Entity as Pages};
    let services = Services::find()
        .select_only()
        .column(Service::ServiceId)
        .filter(Service::SeriesId.eq(series))
        .order_by_asc(Service::ServiceId);
    let pages = Pages::find()
        .select_only()
        .column(Page::StatuspageId)
        .filter(Page::SeriesId.eq(series))
        .order_by_asc(Page::Position);
    Ok(SeriesLinks {
        services: services.into_tuple().all(&connection).await?,
        statuspages: pages.into_tuple().all(&connection).await?,
    })
}

/// The services of each of these series, sorted by name.
pub async fn services_of(
    connection: &dyn StoreConnection,
    series: &[SeriesKey],
) -> Result<HashMap<SeriesKey, Vec<NamedService>>, MainError> {
    use maintenance_series_service::{Column, Entity};
    let mut found: HashMap<SeriesKey, Vec<NamedService>> = HashMap::new();
    for keys in series.chunks(AT_ONCE) {
        let of_these = Column::SeriesId.is_in(keys.iter().copied());
        let links = Entity::find().filter(of_these).all(&connection).await?;
        let services: BTreeSet<ServiceKey> = links.iter().map(|link| link.service_id).collect();
        let query = service::Entity::find().filter(service::Column::Id.is_in(services));
        let named = named_services::services(connection, query).await?;
        let named: HashMap<ServiceKey, NamedService> =
            named.into_iter().map(|service| (service.key, service)).collect();
        for link in links {
            found.entry(link.series_id).or_default().extend(named.get(&link.service_id).cloned());
        }
    }
    found.values_mut().for_each(|services| sort_by_name(services));
    Ok(found)
}

/// The pages chosen for the series, in the order that the client gave.
pub async fn statuspages_of(
    connection: &dyn StoreConnection,
    series: SeriesKey,
) -> Result<Vec<NamedPage>, MainError> {
    named_pages(connection, None, &of(connection, series).await?.statuspages).await
}

/// Replaces the services that the series covers.
pub async fn cover(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    services: &[ServiceKey],
) -> Result<(), MainError> {
    use maintenance_series_service::{ActiveModel, Column, Entity};
    Entity::delete_many().filter(Column::SeriesId.eq(series)).exec(&connection).await?;
    let row = |service: &ServiceKey| ActiveModel { series_id: Set(series), service_id: Set(*service) };
    if !services.is_empty() {
        Entity::insert_many(services.iter().map(row)).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Replaces the pages chosen for the series; the order is kept.
pub async fn show_on(
    connection: &dyn StoreConnection,
    series: SeriesKey,
    statuspages: &[i64],
) -> Result<(), MainError> {
    use maintenance_series_statuspage::{ActiveModel, Column, Entity};
    Entity::delete_many().filter(Column::SeriesId.eq(series)).exec(&connection).await?;
    let row = |(position, page): (i32, &i64)| ActiveModel {
        series_id: Set(series),
        statuspage_id: Set(*page),
        position: Set(position),
    };
    if !statuspages.is_empty() {
        let rows = (0..).zip(statuspages).map(row);
        Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}
