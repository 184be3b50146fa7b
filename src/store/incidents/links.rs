//! Rows that belong to an incident: the services that it affects, the pages that show it, its timeline.
//!
//! Services can be read for many incidents at once. The rest is read for one incident only, because lists do not show it.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect,
    Select,
};
use watchkeeper_entities::{incident_service, incident_statuspage, incident_update, statuspage};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::{AffectedService, ChosenPage, Impact, IncidentTimelineEntry, WholeIncident};
use crate::model::service::ServiceKey;
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::incidents::evidence;
use crate::store::scope_filter::{ScopedResource, narrowed};

/// Number of services per statement, far below the limit of bound values.
pub(super) const SERVICES_PER_STATEMENT: usize = 1_000;

/// The visible pages that were chosen for an incident, in the order that the client gave.
pub(super) async fn pages(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    incident: i64,
) -> Result<Vec<ChosenPage>, MainError> {
    let to_link = statuspage::Entity::belongs_to(incident_statuspage::Entity)
        .from(statuspage::Column::Id)
        .to(incident_statuspage::Column::StatuspageId)
        .into();
    let chosen = narrowed(statuspage::Entity::find(), ScopedResource::Statuspages, visibility);
    let rows: Vec<(i64, String, String)> = chosen
        .select_only()
        .columns([statuspage::Column::Id, statuspage::Column::PublicId, statuspage::Column::Name])
        .join(JoinType::InnerJoin, to_link)
        .filter(incident_statuspage::Column::IncidentId.eq(incident))
        .order_by_asc(incident_statuspage::Column::Position)
        .into_tuple()
        .all(&connection)
        .await?;
    let page = |(key, id, name): (i64, String, String)| {
        let corrupt = |problem: &str| MainError::corrupt("statuspage", &key, &problem);
        let id: Id = id.parse().map_err(|_| corrupt("its id is malformed"))?;
        let name = TranslatedText::from_stored(&name).map_err(|_| corrupt("unreadable name"))?;
        Ok(ChosenPage { key, id, name })
    };
    rows.into_iter().map(page).collect()
}

/// The audience of a timeline entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelineAudience {
    /// Visitors of status pages, and all members of the organisation.
    Everybody,
    /// Only members of the organisation.
    Members,
    /// Only members who see all services: the entry contains names of services.
    MembersWhoSeeAll,
}

/// The timeline of an incident; each part is sorted from oldest to newest.
#[derive(Debug, Default)]
pub(super) struct IncidentTimeline {
    pub(super) public: Vec<IncidentTimelineEntry>,
    pub(super) internal: Vec<IncidentTimelineEntry>,
}

/// The timeline of an incident. Entries that name services are left out for readers who see only some services.
pub(super) async fn timeline(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    incident: i64,
) -> Result<IncidentTimeline, MainError> {
    let mut entries =
        incident_update::Entity::find().filter(incident_update::Column::IncidentId.eq(incident));
    if visibility.is_confined() {
        entries = entries.filter(incident_update::Column::NamesServices.eq(false));
    }
    let rows = entries.order_by_asc(incident_update::Column::Id).all(&connection).await?;
    let mut timeline = IncidentTimeline::default();
    for row in &rows {
        let part = if row.is_internal { &mut timeline.internal } else { &mut timeline.public };
        part.push(to_entry(row)?);
    }
    Ok(timeline)
}

/// The newest public timeline entry of an incident; `None` if it has none.
pub(super) async fn newest_update(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Option<IncidentTimelineEntry>, MainError> {
    let newest = incident_update::Entity::find()
        .filter(incident_update::Column::IncidentId.eq(incident))
        .filter(incident_update::Column::IsInternal.eq(false))
        .order_by_desc(incident_update::Column::Id)
        .limit(1);
    newest.one(&connection).await?.as_ref().map(to_entry).transpose()
}

/// Returns the size of the public timeline of an incident without the entry `newest`. Characters are counted in stored
/// form (JSON), which gives slightly more.
pub(super) async fn size_before(
    connection: &dyn StoreConnection,
    incident: i64,
    newest: Option<Id>,
) -> Result<TimelineSize, MainError> {
    let public = incident_update::Entity::find()
        .filter(incident_update::Column::IncidentId.eq(incident))
        .filter(incident_update::Column::IsInternal.eq(false));
    let without = newest.map(|id| incident_update::Column::PublicId.ne(id.as_str()));
    size(connection, public.filter(Condition::all().add_option(without))).await
}

/// Returns the size of the internal timeline of an incident. Characters are counted in stored form (JSON).
pub async fn internal_timeline_size(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<TimelineSize, MainError> {
    let internal = incident_update::Entity::find()
        .filter(incident_update::Column::IncidentId.eq(incident))
        .filter(incident_update::Column::IsInternal.eq(true));
    size(connection, internal).await
}

async fn size(
    connection: &dyn StoreConnection,
    entries: Select<incident_update::Entity>,
) -> Result<TimelineSize, MainError> {
    let found: Option<(i64, Option<i64>)> = entries
        .select_only()
        .column_as(incident_update::Column::Id.count(), "entries")
        .column_as(Expr::cust("SUM(LENGTH(message))"), "characters")
        .into_tuple()
        .one(&connection)
        .await?;
    let (entries, characters) = found.unwrap_or_default();
    let number = |number: i64| usize::try_from(number).unwrap_or_default();
    Ok(TimelineSize { entries: number(entries), characters: number(characters.unwrap_or_default()) })
}

fn to_entry(row: &incident_update::Model) -> Result<IncidentTimelineEntry, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("incident_update", &row.id, &problem);
    Ok(IncidentTimelineEntry {
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        message: TranslatedText::from_stored(&row.message).map_err(|_| corrupt("unreadable message"))?,
        notify_subscribers: row.notify_subscribers,
        created_at: Timestamp::from_ms(row.created_at),
    })
}

/// Adds entries to the timeline of an incident.
pub(super) async fn add_updates(
    connection: &dyn StoreConnection,
    incident: i64,
    entries: &[IncidentTimelineEntry],
    audience: TimelineAudience,
) -> Result<(), MainError> {
    if entries.is_empty() {
        return Ok(());
    }
    let rows = entries.iter().map(|entry| update_row(incident, entry, audience));
    incident_update::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    Ok(())
}

/// A timeline entry as a row.
pub(super) fn update_row(
    incident: i64,
    entry: &IncidentTimelineEntry,
    audience: TimelineAudience,
) -> incident_update::ActiveModel {
    incident_update::ActiveModel {
        public_id: Set(entry.id.to_string()),
        incident_id: Set(incident),
        status: Set(entry.status.as_str().into()),
        message: Set(entry.message.to_json().to_string()),
        notify_subscribers: Set(entry.notify_subscribers),
        is_internal: Set(audience != TimelineAudience::Everybody),
        names_services: Set(audience == TimelineAudience::MembersWhoSeeAll),
        created_at: Set(entry.created_at.ms()),
        ..Default::default()
    }
}

/// Adds services that an incident affects.
pub(super) async fn add_services<'a>(
    connection: &dyn StoreConnection,
    incident: i64,
    services: impl Iterator<Item = &'a AffectedService>,
) -> Result<(), MainError> {
    let rows: Vec<_> = services
        .map(|affected| incident_service::ActiveModel {
            incident_id: Set(incident),
            service_id: Set(affected.service),
            impact: Set(affected.impact.map(|impact| impact.as_str().into())),
            is_derived: Set(affected.is_derived),
            added_at: Set(affected.added_at.ms()),
            recovered_at: Set(affected.recovered_at.map(Timestamp::ms)),
            evidence: Set(affected.evidence.as_deref().and_then(evidence::to_stored)),
        })
        .collect();
    for chunk in rows.chunks(SERVICES_PER_STATEMENT) {
        incident_service::Entity::insert_many(chunk.to_vec()).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// Changes the stored services of an incident from `before` to `after`.
pub(super) async fn set_services(
    connection: &dyn StoreConnection,
    incident: i64,
    before: &[AffectedService],
    after: &[AffectedService],
) -> Result<(), MainError> {
    let known: HashMap<ServiceKey, &AffectedService> = before.iter().map(|row| (row.service, row)).collect();
    let retained: HashMap<ServiceKey, &AffectedService> =
        after.iter().map(|row| (row.service, row)).collect();
    let gone: Vec<ServiceKey> = known.keys().filter(|key| !retained.contains_key(key)).copied().collect();
    for some in gone.chunks(SERVICES_PER_STATEMENT) {
        of_incident(incident_service::Entity::delete_many(), incident, some).exec(&connection).await?;
    }
    add_services(connection, incident, after.iter().filter(|row| !known.contains_key(&row.service))).await?;
    // Grouped by value: there are few different values, however many services.
    let mut changed: HashMap<(Option<Impact>, Option<i64>), Vec<ServiceKey>> = HashMap::new();
    for row in after.iter().filter(|row| known.get(&row.service).is_some_and(|before| before != row)) {
        let value = (row.impact, row.recovered_at.map(Timestamp::ms));
        changed.entry(value).or_default().push(row.service);
    }
    for ((impact, recovered_at), services) in changed {
        for some in services.chunks(SERVICES_PER_STATEMENT) {
            let rows = incident_service::Entity::update_many()
                .col_expr(incident_service::Column::Impact, Expr::value(impact.map(Impact::as_str)))
                .col_expr(incident_service::Column::RecoveredAt, Expr::value(recovered_at));
            of_incident(rows, incident, some).exec(&connection).await?;
        }
    }
    let mut moved: HashMap<Timestamp, Vec<ServiceKey>> = HashMap::new();
    let is_moved = |row: &&AffectedService| {
        known.get(&row.service).is_some_and(|before| before.added_at != row.added_at)
    };
    for row in after.iter().filter(is_moved) {
        moved.entry(row.added_at).or_default().push(row.service);
    }
    for (added_at, services) in moved {
        for some in services.chunks(SERVICES_PER_STATEMENT) {
            let rows = incident_service::Entity::update_many()
                .col_expr(incident_service::Column::AddedAt, Expr::value(added_at.ms()));
            of_incident(rows, incident, some).exec(&connection).await?;
        }
    }
    evidence::set_of_known(connection, incident, &known, after).await
}

/// Applies a change of the incident to its services that were not read: derived impacts follow the severity, and when the
/// incident ends, services that have not recovered recover with it.
pub(super) async fn change_others(
    connection: &dyn StoreConnection,
    before: &WholeIncident,
    after: &WholeIncident,
) -> Result<(), MainError> {
    if after.others == 0 {
        return Ok(());
    }
    let (was, is) = (&before.incident, &after.incident);
    let rows =
        || incident_service::Entity::update_many().filter(incident_service::Column::IncidentId.eq(is.key));
    let impact = is.kind.impact(is.severity);
    if was.kind.impact(was.severity) != impact {
        let derived = rows().filter(incident_service::Column::IsDerived.eq(true));
        derived
            .col_expr(incident_service::Column::Impact, Expr::value(impact.map(Impact::as_str)))
            .exec(&connection)
            .await?;
    }
    if let (None, Some(end)) = (was.resolved_at, is.resolved_at) {
        let unrecovered = rows().filter(incident_service::Column::RecoveredAt.is_null());
        unrecovered
            .col_expr(incident_service::Column::RecoveredAt, Expr::value(end.ms()))
            .exec(&connection)
            .await?;
    }
    Ok(())
}

/// Restricts a statement to these services of an incident.
fn of_incident<Q: QueryFilter>(statement: Q, incident: i64, services: &[ServiceKey]) -> Q {
    statement
        .filter(incident_service::Column::IncidentId.eq(incident))
        .filter(incident_service::Column::ServiceId.is_in(services.iter().copied()))
}

/// Changes the stored pages of an incident from `before` to `after`.
pub(super) async fn set_pages(
    connection: &dyn StoreConnection,
    incident: i64,
    before: &[ChosenPage],
    after: &[ChosenPage],
) -> Result<(), MainError> {
    if before == after {
        return Ok(());
    }
    if !before.is_empty() {
        incident_statuspage::Entity::delete_many()
            .filter(incident_statuspage::Column::IncidentId.eq(incident))
            .exec(&connection)
            .await?;
    }
    let rows: Vec<_> = (0..)
        .zip(after)
        .map(|(position, page)| incident_statuspage::ActiveModel {
            incident_id: Set(incident),
            statuspage_id: Set(page.key),
            position: Set(position),
        })
        .collect();
    if !rows.is_empty() {
        incident_statuspage::Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}
