//! Maintenances as announcements.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};
use watchkeeper_entities::{maintenance, maintenance_service, maintenance_statuspage, maintenance_update};

use crate::clock::Timestamp;
use crate::model::maintenance::MaintenanceStatus;
use crate::store::announcements::{
    AnnouncementCandidates, AnnouncementEntry, AnnouncementKind, AnnouncementSelection, PageChoice,
    ServiceMention, StoredAnnouncement, public_id, text,
};
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

pub(super) struct MaintenanceAnnouncements;

/// States of the maintenances that visitors see as current.
const ANNOUNCED: [MaintenanceStatus; 2] = [MaintenanceStatus::InProgress, MaintenanceStatus::Scheduled];

fn all(organisation: i64) -> Select<maintenance::Entity> {
    maintenance::Entity::find()
        .select_only()
        .column(maintenance::Column::Id)
        .filter(maintenance::Column::OrganisationId.eq(organisation))
}

fn coming(organisation: i64) -> Select<maintenance::Entity> {
    all(organisation).filter(maintenance::Column::Status.is_in(ANNOUNCED.map(MaintenanceStatus::as_str)))
}

/// The planned start of the earliest maintenance.
pub(super) async fn first_start(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Option<Timestamp>, MainError> {
    let first = all(organisation).select_only().column_as(maintenance::Column::ScheduledStart.min(), "first");
    let found: Option<Option<i64>> = first.into_tuple().one(&connection).await?;
    Ok(found.flatten().map(Timestamp::from_ms))
}

fn selected(
    candidates: Select<maintenance::Entity>,
    selection: AnnouncementSelection,
) -> Select<maintenance::Entity> {
    match selection {
        AnnouncementSelection::All => candidates,
        AnnouncementSelection::StartedIn(range) => candidates
            .filter(maintenance::Column::ScheduledStart.gte(range.from.ms()))
            .filter(maintenance::Column::ScheduledStart.lt(range.to.ms())),
        AnnouncementSelection::Single(id) => candidates.filter(maintenance::Column::PublicId.eq(id.as_str())),
    }
}

/// The candidates with these keys, with their chosen pages and mentioned services.
async fn gather(
    connection: &dyn StoreConnection,
    keys: Vec<i64>,
    chosen: Select<maintenance_statuspage::Entity>,
    touched: Select<maintenance_service::Entity>,
) -> Result<AnnouncementCandidates, MainError> {
    let choice = |row: maintenance_statuspage::Model| PageChoice {
        announcement: row.maintenance_id,
        statuspage: row.statuspage_id,
    };
    let touch = |row: maintenance_service::Model| ServiceMention {
        announcement: row.maintenance_id,
        service: row.service_id,
        is_affected: true,
    };
    Ok(AnnouncementCandidates {
        keys,
        choices: chosen.all(&connection).await?.into_iter().map(choice).collect(),
        touches: touched.all(&connection).await?.into_iter().map(touch).collect(),
    })
}

/// Keys of the maintenances in the given order, with only the first planned one of each series: thirty nights of the
/// same work would leave no room for other maintenances.
fn next_of_each_series(rows: Vec<(i64, Option<i64>, String)>) -> Vec<i64> {
    let mut announced = HashSet::new();
    let mut is_announced = |series: Option<i64>, status: &str| {
        let waits = status == MaintenanceStatus::Scheduled.as_str();
        !waits || series.is_none_or(|series| announced.insert(series))
    };
    rows.into_iter()
        .filter(|(_, series, status)| is_announced(*series, status))
        .map(|(key, ..)| key)
        .collect()
}

impl AnnouncementKind for MaintenanceAnnouncements {
    type Status = MaintenanceStatus;

    async fn candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
    ) -> Result<AnnouncementCandidates, MainError> {
        let rows: Vec<(i64, Option<i64>, String)> = coming(organisation)
            .columns([maintenance::Column::SeriesId, maintenance::Column::Status])
            .order_by_asc(maintenance::Column::ScheduledStart)
            .order_by_asc(maintenance::Column::PublicId)
            .into_tuple()
            .all(&connection)
            .await?;
        let keys = next_of_each_series(rows);
        let chosen = maintenance_statuspage::Entity::find().filter(
            maintenance_statuspage::Column::MaintenanceId.in_subquery(coming(organisation).into_query()),
        );
        let touched = maintenance_service::Entity::find().filter(
            maintenance_service::Column::MaintenanceId.in_subquery(coming(organisation).into_query()),
        );
        gather(connection, keys, chosen, touched).await
    }

    async fn latest_candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
        selection: AnnouncementSelection,
        window: PageWindow,
    ) -> Result<AnnouncementCandidates, MainError> {
        let keys: Vec<i64> = selected(all(organisation), selection)
            .order_by_desc(maintenance::Column::ScheduledStart)
            .order_by_asc(maintenance::Column::PublicId)
            .offset(window.offset)
            .limit(window.limit)
            .into_tuple()
            .all(&connection)
            .await?;
        let chosen = maintenance_statuspage::Entity::find()
            .filter(maintenance_statuspage::Column::MaintenanceId.is_in(keys.iter().copied()));
        let touched = maintenance_service::Entity::find()
            .filter(maintenance_service::Column::MaintenanceId.is_in(keys.iter().copied()));
        gather(connection, keys, chosen, touched).await
    }

    async fn heads(
        connection: &dyn StoreConnection,
        keys: &[i64],
    ) -> Result<HashMap<i64, StoredAnnouncement<MaintenanceStatus>>, MainError> {
        let these = maintenance::Entity::find().filter(maintenance::Column::Id.is_in(keys.iter().copied()));
        let head = |row: maintenance::Model| {
            let head = StoredAnnouncement {
                id: public_id("maintenance", row.id, &row.public_id)?,
                may_name: None,
                title: text("maintenance", &row.title)?,
                status: status("maintenance", row.id, &row.status)?,
                has_progress: true,
                start: Timestamp::from_ms(row.scheduled_start),
                end: row.scheduled_end.map(Timestamp::from_ms),
                ended_at: row.actual_end.map(Timestamp::from_ms),
                severity: None,
                created_at: Timestamp::from_ms(row.created_at),
                updated_at: Timestamp::from_ms(row.updated_at),
                services: Vec::new(),
                ever_affected: Vec::new(),
                entries: Vec::new(),
            };
            Ok((row.id, head))
        };
        these.all(&connection).await?.into_iter().map(head).collect()
    }

    async fn entries(
        connection: &dyn StoreConnection,
        keys: &[i64],
    ) -> Result<Vec<(i64, AnnouncementEntry<MaintenanceStatus>)>, MainError> {
        let these = maintenance_update::Entity::find()
            .filter(maintenance_update::Column::MaintenanceId.is_in(keys.iter().copied()))
            .order_by_asc(maintenance_update::Column::Id);
        let entry = |row: maintenance_update::Model| {
            let entry = AnnouncementEntry {
                id: public_id("maintenance_update", row.id, &row.public_id)?,
                status: status("maintenance_update", row.id, &row.status)?,
                message: text("maintenance_update", &row.message)?,
                at: Timestamp::from_ms(row.created_at),
            };
            Ok((row.maintenance_id, entry))
        };
        these.all(&connection).await?.into_iter().map(entry).collect()
    }
}

fn status(table: &'static str, key: i64, stored: &str) -> Result<MaintenanceStatus, MainError> {
    stored.parse().map_err(|error| MainError::corrupt(table, &key, &error))
}
