//! Incidents read in part: only what a change of some services can affect, however many services the incident has.
//!
//! An incident with up to [`WHOLE_MAX`] services is read completely. Of a larger one, the services that were not read are
//! counted in `others`, and facts about all of its services are queried from the database.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::SelectStatement;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait as _, Select};
use watchkeeper_entities::incident_service::{Column, Entity};
use watchkeeper_entities::{incident, service_tag};

use crate::clock::Timestamp;
use crate::model::incident::{Impact, WholeIncident};
use crate::model::outage_evidence::SERVICES_MAX;
use crate::model::service::ServiceKey;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::incidents::{affected, automation, links, rows, whole};

/// Maximum number of services of an incident that is read completely.
pub const WHOLE_MAX: u64 = 1_000;
/// Number of services that are read of every incident: those that were affected first. Titles and messages name no others.
const FIRST: u64 = 50;

/// The incident with this key, locked until the transaction ends. If it affects many services, only some are read: those
/// in `services`, the first ones and the last one, those with evidence, one that is down, and one that has not recovered.
pub async fn of_key_for_update(
    connection: &dyn StoreConnection,
    key: i64,
    services: &[ServiceKey],
) -> Result<Option<WholeIncident>, MainError> {
    let Some(row) = incident::Entity::find_by_id(key).lock_exclusive().one(&connection).await? else {
        return Ok(None);
    };
    let incident = rows::from_row(row)?;
    let everything = Visibility::whole(incident.organisation);
    let count = count(connection, key).await?;
    if count <= WHOLE_MAX {
        return Ok(Some(whole(connection, everything, incident).await?));
    }
    let mut wanted = always_read(connection, key).await?;
    wanted.extend_from_slice(services);
    wanted.sort_unstable();
    wanted.dedup();
    let services = affected::affected_among(connection, key, &wanted).await?;
    let newest = links::newest_update(connection, key).await?;
    Ok(Some(WholeIncident {
        others: usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(services.len()),
        services,
        statuspages: links::pages(connection, everything, key).await?,
        unread_updates: links::size_before(connection, key, newest.as_ref().map(|entry| entry.id)).await?,
        updates: newest.into_iter().collect(),
        internal_updates: Vec::new(),
        automation: automation::find(connection, key).await?,
        incident,
    }))
}

/// The keys of all services that an incident affects.
pub async fn services_of(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Vec<ServiceKey>, MainError> {
    Ok(keys_of(incident).into_tuple().all(&connection).await?)
}

/// The keys of all tags of the services of an incident, without duplicates.
pub async fn tags_of(connection: &dyn StoreConnection, incident: i64) -> Result<Vec<i64>, MainError> {
    let services: SelectStatement = keys_of(incident).into_query();
    let carried = service_tag::Entity::find()
        .select_only()
        .column(service_tag::Column::TagId)
        .distinct()
        .filter(service_tag::Column::ServiceId.in_subquery(services));
    Ok(carried.into_tuple().all(&connection).await?)
}

/// The time of the latest recovery of a service from an incident; `None` if no service has recovered.
pub async fn last_recovery(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Option<Timestamp>, MainError> {
    let last = Entity::find()
        .select_only()
        .column_as(Column::RecoveredAt.max(), "last")
        .filter(Column::IncidentId.eq(incident));
    let last: Option<Option<i64>> = last.into_tuple().one(&connection).await?;
    Ok(last.flatten().map(Timestamp::from_ms))
}

async fn count(connection: &dyn StoreConnection, incident: i64) -> Result<u64, MainError> {
    let number = Entity::find()
        .select_only()
        .column_as(Column::ServiceId.count(), "number")
        .filter(Column::IncidentId.eq(incident));
    let number: Option<i64> = number.into_tuple().one(&connection).await?;
    Ok(number.unwrap_or_default().unsigned_abs())
}

/// The keys of the services of an incident that every excerpt includes.
async fn always_read(connection: &dyn StoreConnection, incident: i64) -> Result<Vec<ServiceKey>, MainError> {
    let by_time = || keys_of(incident).order_by_asc(Column::AddedAt).order_by_asc(Column::ServiceId);
    let last = keys_of(incident).order_by_desc(Column::AddedAt).order_by_desc(Column::ServiceId);
    let wanted = [
        by_time().limit(FIRST),
        last.limit(1),
        // At most as many as may have evidence: the caller must know whether there is room for more.
        by_time().filter(Column::Evidence.is_not_null()).limit(SERVICES_MAX as u64),
        // The title names the service with the worst impact, wherever it is in the order.
        by_time().filter(Column::Impact.eq(Impact::MajorOutage.as_str())).limit(1),
        // A service that has not recovered must be found among all services.
        by_time().filter(Column::RecoveredAt.is_null()).limit(1),
    ];
    let mut found: Vec<ServiceKey> = Vec::new();
    for some in wanted {
        found.extend(some.into_tuple::<ServiceKey>().all(&connection).await?);
    }
    Ok(found)
}

fn keys_of(incident: i64) -> Select<Entity> {
    Entity::find().select_only().column(Column::ServiceId).filter(Column::IncidentId.eq(incident))
}
