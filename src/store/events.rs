//! The log of changes to incidents and maintenances, in order, for the readers that follow it.
//!
//! `lifecycle`, through which all changes go, writes a row in the transaction of every change, so that no writer can
//! omit it. A row holds no text: the contents of an event are read when it is published. Numbers rise in the order of
//! writing; on PostgreSQL a smaller number may become visible later than a larger one.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait as _,
};
use watchkeeper_entities::event::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{
    incident, incident_service, incident_statuspage, maintenance, maintenance_service, maintenance_statuspage,
};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::owner_filter::is_owned_by;

/// Time for which an event is kept after it was first noticed, in milliseconds.
pub const RETENTION_MS: i64 = 60 * 60 * 1_000;
/// Maximum number of rows or keys in one statement.
const AT_ONCE: usize = 500;
/// Maximum number of rows that one call of `forget_old` deletes.
const REMOVED_AT_ONCE: u64 = 5_000;

/// A stored change of an incident or a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Number of the event; later events have larger numbers.
    pub number: i64,
    /// Number of the last change that this event covers: `number`, unless several changes are published as one event.
    pub through: i64,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Incident or maintenance.
    pub kind: EventSubjectKind,
    /// Kind of change, such as a creation or deletion.
    pub act: EventAction,
    /// Id of the incident or maintenance.
    pub subject: Id,
    /// For a deletion, the services that were linked; otherwise empty, because they are read when the event is published.
    pub services: Vec<ServiceKey>,
    /// Services that were unlinked by the change.
    pub former: Vec<ServiceKey>,
}

/// Events of all organisations with a number above `number`, in ascending order.
pub async fn after(
    connection: &dyn StoreConnection,
    number: i64,
    limit: u64,
) -> Result<Vec<StoredEvent>, MainError> {
    let query = Entity::find().filter(Column::Id.gt(number)).order_by_asc(Column::Id).limit(limit);
    query.all(&connection).await?.iter().map(from_row).collect()
}

/// Events of one organisation with a number above `number`, in ascending order.
pub async fn of_organisation(
    connection: &dyn StoreConnection,
    organisation: i64,
    number: i64,
    limit: u64,
) -> Result<Vec<StoredEvent>, MainError> {
    let query = Entity::find().filter(Column::OrganisationId.eq(organisation)).filter(Column::Id.gt(number));
    query.order_by_asc(Column::Id).limit(limit).all(&connection).await?.iter().map(from_row).collect()
}

/// The number of the newest event; 0 if no event is stored.
pub async fn newest(connection: &dyn StoreConnection) -> Result<i64, MainError> {
    let newest = Entity::find().select_only().column(Column::Id).order_by_desc(Column::Id);
    Ok(newest.into_tuple().one(&connection).await?.unwrap_or_default())
}

/// The services that are now linked with these incidents or maintenances of an organisation, each with the id of its
/// incident or maintenance.
pub async fn concerned(
    connection: &dyn StoreConnection,
    organisation: i64,
    kind: EventSubjectKind,
    subjects: &[Id],
) -> Result<Vec<(Id, ServiceKey)>, MainError> {
    let mut found = Vec::new();
    for some in subjects.chunks(AT_ONCE) {
        let ids = some.iter().map(Id::as_str);
        let (these, links) = match kind {
            EventSubjectKind::Incident => {
                use incident::{Column, Entity};
                let these = Entity::find().select_only().columns([Column::Id, Column::PublicId]);
                let these = these.filter(is_owned_by(Column::OrganisationId, organisation));
                let these = these.filter(Column::PublicId.is_in(ids)).into_tuple().all(&connection).await?;
                let links = links_of_incidents(connection, keys(&these)).await?;
                (these, links)
            }
            EventSubjectKind::Maintenance => {
                use maintenance::{Column, Entity};
                let these = Entity::find().select_only().columns([Column::Id, Column::PublicId]);
                let these = these.filter(is_owned_by(Column::OrganisationId, organisation));
                let these = these.filter(Column::PublicId.is_in(ids)).into_tuple().all(&connection).await?;
                let links = links_of_maintenances(connection, keys(&these)).await?;
                (these, links)
            }
        };
        let ids: HashMap<i64, String> = these.into_iter().collect();
        for (key, service) in links {
            let Some(id) = ids.get(&key) else { continue };
            let corrupt = |_| MainError::corrupt("event", id, &"its id is malformed");
            found.push((id.parse().map_err(corrupt)?, service));
        }
    }
    Ok(found)
}

fn keys(rows: &[(i64, String)]) -> impl Iterator<Item = i64> {
    rows.iter().map(|(key, _)| *key)
}

/// Sets `now` as the time of notice of events that have none, and deletes a batch of the events noticed more than
/// `RETENTION_MS` ago. Returns the number of deleted events. `now` must be a trusted time.
pub async fn forget_old(connection: &dyn StoreConnection, now: Timestamp) -> Result<u64, MainError> {
    Entity::update_many()
        .col_expr(Column::NoticedAt, Expr::value(now.ms()))
        .filter(Column::NoticedAt.is_null())
        .exec(&connection)
        .await?;
    let old = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::NoticedAt.lte(now.plus_ms(-RETENTION_MS).ms()))
        .order_by_asc(Column::Id)
        .limit(REMOVED_AT_ONCE)
        .into_query();
    let removed = Entity::delete_many().filter(Column::Id.in_subquery(old)).exec(&connection).await?;
    Ok(removed.rows_affected)
}

/// Adds an event for each of these incidents or maintenances; the `former` services are being unlinked from them. If rows
/// are about to be deleted, call this while they and their links still exist.
pub async fn of_keys(
    connection: &dyn StoreConnection,
    kind: EventSubjectKind,
    act: EventAction,
    keys: &[i64],
    former: &[ServiceKey],
) -> Result<(), MainError> {
    for some in keys.chunks(AT_ONCE) {
        let keys = some.iter().copied();
        match kind {
            EventSubjectKind::Incident => {
                let these = Condition::all().add(incident::Column::Id.is_in(keys));
                of_incidents(connection, act, these, former).await?;
            }
            EventSubjectKind::Maintenance => {
                let these = Condition::all().add(maintenance::Column::Id.is_in(keys));
                of_maintenances(connection, act, these, former).await?;
            }
        }
    }
    Ok(())
}

/// Adds an event for each incident that meets the condition; the `former` services are being unlinked from them. If rows
/// are about to be deleted, call this while they and their links still exist.
async fn of_incidents(
    connection: &dyn StoreConnection,
    act: EventAction,
    condition: Condition,
    former: &[ServiceKey],
) -> Result<(), MainError> {
    let subjects = incident::Entity::find()
        .select_only()
        .columns([incident::Column::Id, incident::Column::PublicId, incident::Column::OrganisationId])
        .filter(condition)
        .order_by_asc(incident::Column::Id);
    let subjects: Vec<Subject> = subjects.into_tuple().all(&connection).await?;
    for some in subjects.chunks(AT_ONCE) {
        let links = match act {
            EventAction::Deleted => links_of_incidents(connection, some.iter().map(|(key, ..)| *key)).await?,
            EventAction::Created | EventAction::Updated | EventAction::Resolved => Vec::new(),
        };
        note(connection, EventSubjectKind::Incident, act, some, LinkedServices { links, former }).await?;
    }
    Ok(())
}

/// Adds an event for each maintenance that meets the condition; the `former` services are being unlinked from them.
pub(super) async fn of_maintenances(
    connection: &dyn StoreConnection,
    act: EventAction,
    condition: Condition,
    former: &[ServiceKey],
) -> Result<(), MainError> {
    let subjects = maintenance::Entity::find()
        .select_only()
        .columns([
            maintenance::Column::Id,
            maintenance::Column::PublicId,
            maintenance::Column::OrganisationId,
        ])
        .filter(condition)
        .order_by_asc(maintenance::Column::Id);
    let subjects: Vec<Subject> = subjects.into_tuple().all(&connection).await?;
    for some in subjects.chunks(AT_ONCE) {
        let links = match act {
            EventAction::Deleted => {
                links_of_maintenances(connection, some.iter().map(|(key, ..)| *key)).await?
            }
            EventAction::Created | EventAction::Updated | EventAction::Resolved => Vec::new(),
        };
        note(connection, EventSubjectKind::Maintenance, act, some, LinkedServices { links, former }).await?;
    }
    Ok(())
}

/// Adds an event for each incident and maintenance for which this status page was chosen. Called before the page is
/// deleted, because they lose it.
pub(super) async fn of_linked_to_page(connection: &dyn StoreConnection, page: i64) -> Result<(), MainError> {
    let mut linked = Query::select();
    linked.column(incident_statuspage::Column::IncidentId).from(incident_statuspage::Entity);
    linked.and_where(incident_statuspage::Column::StatuspageId.eq(page));
    let these = Condition::all().add(incident::Column::Id.in_subquery(linked));
    of_incidents(connection, EventAction::Updated, these, &[]).await?;
    let mut linked = Query::select();
    linked.column(maintenance_statuspage::Column::MaintenanceId).from(maintenance_statuspage::Entity);
    linked.and_where(maintenance_statuspage::Column::StatuspageId.eq(page));
    let these = Condition::all().add(maintenance::Column::Id.in_subquery(linked));
    of_maintenances(connection, EventAction::Updated, these, &[]).await
}

async fn links_of_incidents(
    connection: &dyn StoreConnection,
    incidents: impl Iterator<Item = i64>,
) -> Result<Vec<(i64, ServiceKey)>, MainError> {
    use incident_service::{Column, Entity};
    let links = Entity::find().select_only().columns([Column::IncidentId, Column::ServiceId]);
    let links = links.filter(Column::IncidentId.is_in(incidents)).order_by_asc(Column::ServiceId);
    Ok(links.into_tuple().all(&connection).await?)
}

async fn links_of_maintenances(
    connection: &dyn StoreConnection,
    maintenances: impl Iterator<Item = i64>,
) -> Result<Vec<(i64, ServiceKey)>, MainError> {
    use maintenance_service::{Column, Entity};
    let links = Entity::find().select_only().columns([Column::MaintenanceId, Column::ServiceId]);
    let links = links.filter(Column::MaintenanceId.is_in(maintenances)).order_by_asc(Column::ServiceId);
    Ok(links.into_tuple().all(&connection).await?)
}

/// Database key, id and organisation of an incident or a maintenance.
type Subject = (i64, String, i64);

/// The services linked with the incidents or maintenances. `former` are being unlinked, and may still be among `links`.
struct LinkedServices<'a> {
    links: Vec<(i64, ServiceKey)>,
    former: &'a [ServiceKey],
}

async fn note(
    connection: &dyn StoreConnection,
    kind: EventSubjectKind,
    act: EventAction,
    subjects: &[Subject],
    LinkedServices { links, former }: LinkedServices<'_>,
) -> Result<(), MainError> {
    let mut services: HashMap<i64, Vec<ServiceKey>> = HashMap::new();
    for (key, service) in links.into_iter().filter(|(_, service)| !former.contains(service)) {
        services.entry(key).or_default().push(service);
    }
    let row = |(key, id, organisation): &Subject| ActiveModel {
        organisation_id: Set(*organisation),
        kind: Set(kind.as_str().into()),
        act: Set(act.as_str().into()),
        subject_id: Set(id.clone()),
        services: Set(to_text(services.get(key).map_or(&[], Vec::as_slice))),
        former_services: Set(to_text(former)),
        noticed_at: Set(None),
        ..ActiveModel::default()
    };
    let rows: Vec<_> = subjects.iter().map(row).collect();
    if !rows.is_empty() {
        Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}

fn from_row(row: &Model) -> Result<StoredEvent, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("event", &row.id, &problem);
    let keys = |text: &str| {
        let keys = text.split(',').filter(|key| !key.is_empty());
        keys.map(str::parse).collect::<Result<_, _>>().map_err(|_| corrupt("unreadable services"))
    };
    Ok(StoredEvent {
        number: row.id,
        through: row.id,
        organisation: row.organisation_id,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        act: row.act.parse().map_err(|_| corrupt("unknown act"))?,
        subject: row.subject_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        services: keys(&row.services)?,
        former: keys(&row.former_services)?,
    })
}

fn to_text(services: &[ServiceKey]) -> String {
    let keys: Vec<String> = services.iter().map(ToString::to_string).collect();
    keys.join(",")
}
