//! What a status page announces to its visitors: open published incidents, running and coming maintenances.
//!
//! An announcement shows on the pages that were chosen for it; without a choice, on every page with a visible component of
//! a service that it names (contract 4.10.2, 4.11.2). Each question is asked once for all announcements.

use std::collections::{HashMap, HashSet};

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{
    incident, incident_service, incident_statuspage, incident_update, maintenance, maintenance_service,
    maintenance_statuspage, maintenance_update, service,
};

use crate::clock::Timestamp;
use crate::model::translated::Translated;
use crate::store::StoreError;

/// Most announcements of a kind that are looked at; beyond that nobody reads.
const MOST: u64 = 200;

/// An incident or a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Title.
    pub title: Translated,
    /// Word of its state.
    pub status: String,
    /// Start, perhaps planned.
    pub start: Timestamp,
    /// Planned end of a maintenance.
    pub end: Option<Timestamp>,
    /// Services that it touches at the moment: key and name, by name.
    pub services: Vec<(i64, String)>,
    /// The public timeline, oldest first.
    pub entries: Vec<TimelineEntry>,
}

/// An entry of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    /// Word of the state.
    pub status: String,
    /// Message.
    pub message: Translated,
    /// When it was written.
    pub at: Timestamp,
}

/// The page that announces.
#[derive(Clone, Debug)]
pub struct Announcer {
    /// Database key of its organisation.
    pub organisation: i64,
    /// Database key of the page.
    pub statuspage: i64,
    /// Database keys of the services with a visible component.
    pub services: HashSet<i64>,
}

/// Who is touched by an announcement: its key, the service's key, whether it still is.
type Touch = (i64, i64, bool);

impl Announcer {
    /// Which of the announcements it makes.
    fn shows(&self, keys: &[i64], chosen: &[(i64, i64)], touched: &[Touch]) -> HashSet<i64> {
        let is_shown = |key: &i64| {
            let mut pages = chosen.iter().filter(|(of, _)| of == key).peekable();
            if pages.peek().is_some() {
                return pages.any(|(_, page)| *page == self.statuspage);
            }
            touched.iter().any(|(of, service, _)| of == key && self.services.contains(service))
        };
        keys.iter().copied().filter(is_shown).collect()
    }
}

/// Open published incidents that the page shows, the latest first.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn incidents(
    connection: &impl ConnectionTrait,
    announcer: &Announcer,
) -> Result<Vec<Announced>, StoreError> {
    let rows = incident::Entity::find()
        .filter(incident::Column::OrganisationId.eq(announcer.organisation))
        .filter(incident::Column::IsPublished.eq(true))
        .filter(incident::Column::ResolvedAt.is_null())
        .order_by_desc(incident::Column::StartedAt)
        .order_by_asc(incident::Column::PublicId)
        .limit(MOST)
        .all(connection)
        .await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let chosen = incident_statuspage::Entity::find()
        .filter(incident_statuspage::Column::IncidentId.is_in(keys.iter().copied()));
    let chosen: Vec<_> =
        chosen.all(connection).await?.iter().map(|row| (row.incident_id, row.statuspage_id)).collect();
    let touched = incident_service::Entity::find()
        .filter(incident_service::Column::IncidentId.is_in(keys.iter().copied()));
    let touched: Vec<Touch> = touched
        .all(connection)
        .await?
        .iter()
        .map(|row| (row.incident_id, row.service_id, row.recovered_at.is_none()))
        .collect();
    let shown = announcer.shows(&keys, &chosen, &touched);
    let entries = incident_update::Entity::find()
        .filter(incident_update::Column::IncidentId.is_in(shown.iter().copied()))
        .order_by_asc(incident_update::Column::Id);
    let entries = entries.all(connection).await?.into_iter();
    let entries = entries
        .map(|row| (row.incident_id, entry("incident_update", row.status, &row.message, row.created_at)));
    let mut entries = by_announcement(entries)?;
    let mut services = services(connection, &touched, &shown).await?;
    let announced = rows.into_iter().filter(|row| shown.contains(&row.id)).map(|row| {
        Ok(Announced {
            title: text("incident", &row.title)?,
            status: row.status,
            start: Timestamp::from_ms(row.started_at),
            end: None,
            services: services.remove(&row.id).unwrap_or_default(),
            entries: entries.remove(&row.id).unwrap_or_default(),
        })
    });
    announced.collect()
}

/// Running and coming maintenances that the page shows, the earliest first.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn maintenances(
    connection: &impl ConnectionTrait,
    announcer: &Announcer,
) -> Result<Vec<Announced>, StoreError> {
    let rows = maintenance::Entity::find()
        .filter(maintenance::Column::OrganisationId.eq(announcer.organisation))
        .filter(maintenance::Column::Status.is_in(["in_progress", "scheduled"]))
        .order_by_asc(maintenance::Column::ScheduledStart)
        .order_by_asc(maintenance::Column::PublicId)
        .limit(MOST)
        .all(connection)
        .await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let chosen = maintenance_statuspage::Entity::find()
        .filter(maintenance_statuspage::Column::MaintenanceId.is_in(keys.iter().copied()));
    let chosen: Vec<_> =
        chosen.all(connection).await?.iter().map(|row| (row.maintenance_id, row.statuspage_id)).collect();
    let touched = maintenance_service::Entity::find()
        .filter(maintenance_service::Column::MaintenanceId.is_in(keys.iter().copied()));
    let touched: Vec<Touch> =
        touched.all(connection).await?.iter().map(|row| (row.maintenance_id, row.service_id, true)).collect();
    let shown = announcer.shows(&keys, &chosen, &touched);
    let entries = maintenance_update::Entity::find()
        .filter(maintenance_update::Column::MaintenanceId.is_in(shown.iter().copied()))
        .order_by_asc(maintenance_update::Column::Id);
    let entries = entries.all(connection).await?.into_iter();
    let entries = entries.map(|row| {
        (row.maintenance_id, entry("maintenance_update", row.status, &row.message, row.created_at))
    });
    let mut entries = by_announcement(entries)?;
    let mut services = services(connection, &touched, &shown).await?;
    let announced = rows.into_iter().filter(|row| shown.contains(&row.id)).map(|row| {
        Ok(Announced {
            title: text("maintenance", &row.title)?,
            status: row.status,
            start: Timestamp::from_ms(row.scheduled_start),
            end: row.scheduled_end.map(Timestamp::from_ms),
            services: services.remove(&row.id).unwrap_or_default(),
            entries: entries.remove(&row.id).unwrap_or_default(),
        })
    });
    announced.collect()
}

/// Names of the services that are touched, by announcement.
async fn services(
    connection: &impl ConnectionTrait,
    touched: &[Touch],
    shown: &HashSet<i64>,
) -> Result<HashMap<i64, Vec<(i64, String)>>, StoreError> {
    let is_meant = |touch: &&Touch| touch.2 && shown.contains(&touch.0);
    let keys: HashSet<i64> = touched.iter().filter(is_meant).map(|(_, service, _)| *service).collect();
    let names: Vec<(i64, String)> = service::Entity::find()
        .select_only()
        .columns([service::Column::Id, service::Column::Name])
        .filter(service::Column::Id.is_in(keys))
        .order_by_asc(service::Column::Name)
        .order_by_asc(service::Column::Id)
        .into_tuple()
        .all(connection)
        .await?;
    let mut found: HashMap<i64, Vec<(i64, String)>> = HashMap::new();
    for (key, name) in names {
        for (of, ..) in touched.iter().filter(is_meant).filter(|(_, service, _)| *service == key) {
            found.entry(*of).or_default().push((key, name.clone()));
        }
    }
    Ok(found)
}

fn by_announcement(
    entries: impl Iterator<Item = (i64, Result<TimelineEntry, StoreError>)>,
) -> Result<HashMap<i64, Vec<TimelineEntry>>, StoreError> {
    let mut found: HashMap<i64, Vec<TimelineEntry>> = HashMap::new();
    for (of, entry) in entries {
        found.entry(of).or_default().push(entry?);
    }
    Ok(found)
}

fn entry(table: &'static str, status: String, message: &str, at: i64) -> Result<TimelineEntry, StoreError> {
    Ok(TimelineEntry { status, message: text(table, message)?, at: Timestamp::from_ms(at) })
}

fn text(table: &'static str, stored: &str) -> Result<Translated, StoreError> {
    Translated::from_stored(stored).map_err(|error| StoreError::corrupt(table, &"text", &error))
}
