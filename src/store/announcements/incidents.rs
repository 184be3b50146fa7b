//! Published incidents as announcements.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};
use watchkeeper_entities::{incident, incident_service, incident_statuspage, incident_update};

use crate::clock::Timestamp;
use crate::model::incident::{IncidentKind, IncidentStatus};
use crate::store::announcements::{
    AnnouncementCandidates, AnnouncementEntry, AnnouncementKind, AnnouncementSelection, PageChoice,
    ServiceMention, StoredAnnouncement, public_id, text,
};
use crate::store::error::MainError;
use crate::store::incidents::automation::titled_services;
use crate::store::page_window::PageWindow;

pub(super) struct IncidentAnnouncements;

fn published(organisation: i64) -> Select<incident::Entity> {
    incident::Entity::find()
        .select_only()
        .column(incident::Column::Id)
        .filter(incident::Column::OrganisationId.eq(organisation))
        .filter(incident::Column::IsPublished.eq(true))
}

fn open(organisation: i64) -> Select<incident::Entity> {
    published(organisation).filter(incident::Column::ResolvedAt.is_null())
}

/// The start of the earliest published incident.
pub(super) async fn first_start(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Option<Timestamp>, MainError> {
    let first = published(organisation).select_only().column_as(incident::Column::StartedAt.min(), "first");
    let found: Option<Option<i64>> = first.into_tuple().one(&connection).await?;
    Ok(found.flatten().map(Timestamp::from_ms))
}

fn selected(
    candidates: Select<incident::Entity>,
    selection: AnnouncementSelection,
) -> Select<incident::Entity> {
    match selection {
        AnnouncementSelection::All => candidates,
        AnnouncementSelection::StartedIn(range) => candidates
            .filter(incident::Column::StartedAt.gte(range.from.ms()))
            .filter(incident::Column::StartedAt.lt(range.to.ms())),
        AnnouncementSelection::Single(id) => candidates.filter(incident::Column::PublicId.eq(id.as_str())),
    }
}

/// The candidates with these keys, with their chosen pages and mentioned services.
async fn gather(
    connection: &dyn StoreConnection,
    keys: Vec<i64>,
    chosen: Select<incident_statuspage::Entity>,
    touched: Select<incident_service::Entity>,
) -> Result<AnnouncementCandidates, MainError> {
    let choice = |row: incident_statuspage::Model| PageChoice {
        announcement: row.incident_id,
        statuspage: row.statuspage_id,
    };
    let touch = |row: incident_service::Model| ServiceMention {
        announcement: row.incident_id,
        service: row.service_id,
        is_affected: row.recovered_at.is_none(),
    };
    Ok(AnnouncementCandidates {
        keys,
        choices: chosen.all(&connection).await?.into_iter().map(choice).collect(),
        touches: touched.all(&connection).await?.into_iter().map(touch).collect(),
    })
}

impl AnnouncementKind for IncidentAnnouncements {
    type Status = IncidentStatus;

    async fn candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
    ) -> Result<AnnouncementCandidates, MainError> {
        let keys = open(organisation)
            .order_by_desc(incident::Column::StartedAt)
            .order_by_asc(incident::Column::PublicId)
            .into_tuple()
            .all(&connection)
            .await?;
        let chosen = incident_statuspage::Entity::find()
            .filter(incident_statuspage::Column::IncidentId.in_subquery(open(organisation).into_query()));
        let touched = incident_service::Entity::find()
            .filter(incident_service::Column::IncidentId.in_subquery(open(organisation).into_query()));
        gather(connection, keys, chosen, touched).await
    }

    async fn latest_candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
        selection: AnnouncementSelection,
        window: PageWindow,
    ) -> Result<AnnouncementCandidates, MainError> {
        let keys: Vec<i64> = selected(published(organisation), selection)
            .order_by_desc(incident::Column::StartedAt)
            .order_by_asc(incident::Column::PublicId)
            .offset(window.offset)
            .limit(window.limit)
            .into_tuple()
            .all(&connection)
            .await?;
        let chosen = incident_statuspage::Entity::find()
            .filter(incident_statuspage::Column::IncidentId.is_in(keys.iter().copied()));
        let touched = incident_service::Entity::find()
            .filter(incident_service::Column::IncidentId.is_in(keys.iter().copied()));
        gather(connection, keys, chosen, touched).await
    }

    async fn heads(
        connection: &dyn StoreConnection,
        keys: &[i64],
    ) -> Result<HashMap<i64, StoredAnnouncement<IncidentStatus>>, MainError> {
        let these = incident::Entity::find().filter(incident::Column::Id.is_in(keys.iter().copied()));
        let mut titled = titled_services(connection, keys).await?;
        let head = |row: incident::Model| -> Result<_, MainError> {
            let severity = row.severity.parse();
            let severity = severity.map_err(|error| MainError::corrupt("incident", &row.id, &error))?;
            let head = StoredAnnouncement {
                id: public_id("incident", row.id, &row.public_id)?,
                may_name: titled.remove(&row.id),
                title: text("incident", &row.title)?,
                status: status("incident", row.id, &row.status)?,
                has_progress: row.kind != IncidentKind::Notice.as_str(),
                start: Timestamp::from_ms(row.started_at),
                end: None,
                ended_at: row.resolved_at.map(Timestamp::from_ms),
                severity: Some(severity),
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
    ) -> Result<Vec<(i64, AnnouncementEntry<IncidentStatus>)>, MainError> {
        let these = incident_update::Entity::find()
            .filter(incident_update::Column::IncidentId.is_in(keys.iter().copied()))
            .filter(incident_update::Column::IsInternal.eq(false))
            .order_by_asc(incident_update::Column::Id);
        let entry = |row: incident_update::Model| {
            let entry = AnnouncementEntry {
                id: public_id("incident_update", row.id, &row.public_id)?,
                status: status("incident_update", row.id, &row.status)?,
                message: text("incident_update", &row.message)?,
                at: Timestamp::from_ms(row.created_at),
            };
            Ok((row.incident_id, entry))
        };
        these.all(&connection).await?.into_iter().map(entry).collect()
    }
}

fn status(table: &'static str, key: i64, stored: &str) -> Result<IncidentStatus, MainError> {
    stored.parse().map_err(|error| MainError::corrupt(table, &key, &error))
}
