//! Incidents read in part: no more than the trouble of some services can change, however many services the incident
//! affects.
//!
//! An incident of up to [`WHOLE_MAX`] services is read whole. Beyond that, services that were not read are counted in
//! `others`, and facts about all of them are queried from the database.

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

/// Maximum number of services of an incident that is read whole.
pub const WHOLE_MAX: u64 = 1_000;
/// The services that are read of every incident: those that it affected first. Titles and messages name no more.
const FIRST: u64 = 50;

/// The incident with this key. When it affects many services, only these are read, with the first ones, the last one,
/// those that have evidence, one of those that are down, and one of those that have not recovered. Others cannot
/// change it until the transaction ends.
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

/// The keys of the tags that services of an incident carry, each once.
pub async fn tags_of(connection: &dyn StoreConnection, incident: i64) -> Result<Vec<i64>, MainError> {
    let services: SelectStatement = keys_of(incident).into_query();
    let carried = service_tag::Entity::find()
        .select_only()
        .column(service_tag::Column::TagId)
        .distinct()
        .filter(service_tag::Column::ServiceId.in_subquery(services));
    Ok(carried.into_tuple().all(&connection).await?)
}

/// The time at which a service recovered from an incident last; `None` when none has.
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

/// The services of an incident that every excerpt includes.
async fn always_read(connection: &dyn StoreConnection, incident: i64) -> Result<Vec<ServiceKey>, MainError> {
    let by_time = || keys_of(incident).order_by_asc(Column::AddedAt).order_by_asc(Column::ServiceId);
    let last = keys_of(incident).order_by_desc(Column::AddedAt).order_by_desc(Column::ServiceId);
    let wanted = [
        by_time().limit(FIRST),
        last.limit(1),
        // At most as many as have evidence: whether there is room for more must be known.
        by_time().filter(Column::Evidence.is_not_null()).limit(SERVICES_MAX as u64),
        // The title names the service with the worst trouble, whichever it is.
        by_time().filter(Column::Impact.eq(Impact::MajorOutage.as_str())).limit(1),
        // An unrecovered one must be found among all services.
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
