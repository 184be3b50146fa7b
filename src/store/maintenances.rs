//! Maintenances (contract 4.11). Every finder is scoped by organisation, except those for the periodic tasks (`due`).
//!
//! Submodules: `row_changes` writes, `filter` has the filter of lists, `links` the covered services and pages, `timeline`
//! the entries, `effect` the windows of covered services, `of_service` handles the deletion of a service.

pub mod due;
pub mod effect;
pub mod filter;
pub mod links;
pub mod of_service;
pub mod reminders;
pub mod row_changes;
pub mod series;
pub mod timeline;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::maintenance::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::maintenance::origin::SeriesOrigin;
use crate::model::maintenance::{Maintenance, MaintenanceNotices, MaintenanceWindow};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::maintenances::filter::MaintenanceFilter;
use crate::store::page_window::PageWindow;
use crate::store::scope_filter::{ScopedResource, narrowed};

fn seen(visibility: Visibility) -> Select<Entity> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    narrowed(owned, ScopedResource::Maintenances, visibility)
}

/// The visible maintenance with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Maintenance>, MainError> {
    let query = seen(visibility).filter(Column::PublicId.eq(id.as_str()));
    query.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// Like [`find`], and locks the maintenance until the transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Maintenance>, MainError> {
    let query = seen(visibility).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    query.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// The visible maintenances that the filter selects, on this page of the list, latest planned start first, and the total
/// number of selected ones.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &MaintenanceFilter,
    window: PageWindow,
) -> Result<(Vec<Maintenance>, u64), MainError> {
    if filter.selects_nothing() {
        return Ok((Vec::new(), 0));
    }
    let wanted = seen(visibility).filter(filter.condition());
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted
        .order_by_desc(Column::ScheduledStart)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((rows.iter().map(from_row).collect::<Result<_, _>>()?, total))
}

fn to_row(maintenance: &Maintenance) -> ActiveModel {
    let creator = maintenance.created_by.as_ref();
    ActiveModel {
        id: Set(maintenance.key),
        public_id: Set(maintenance.id.to_string()),
        organisation_id: Set(maintenance.organisation),
        title: Set(maintenance.title.to_json().to_string()),
        kind: Set(maintenance.kind.as_str().into()),
        status: Set(maintenance.status.as_str().into()),
        scheduled_start: Set(maintenance.schedule.start.ms()),
        scheduled_end: Set(maintenance.schedule.end.map(Timestamp::ms)),
        actual_start: Set(maintenance.actual_start.map(Timestamp::ms)),
        actual_end: Set(maintenance.actual_end.map(Timestamp::ms)),
        auto_start: Set(maintenance.auto_start),
        auto_complete: Set(maintenance.auto_complete),
        notify_announcement: Set(maintenance.notices.announcement),
        notify_24h: Set(maintenance.notices.day_before),
        notify_1h: Set(maintenance.notices.hour_before),
        notify_start: Set(maintenance.notices.start),
        notify_complete: Set(maintenance.notices.complete),
        created_by_id: Set(creator.map(|creator| creator.id.to_string())),
        created_by_name: Set(creator.map(|creator| creator.name.clone())),
        created_at: Set(maintenance.created_at.ms()),
        updated_at: Set(maintenance.updated_at.ms()),
        series_id: Set(maintenance.origin.map(|origin| origin.series)),
        occurrence: Set(maintenance.origin.map(|origin| origin.occurrence.ms())),
        is_adjusted: Set(maintenance.origin.is_some_and(|origin| origin.is_adjusted)),
    }
}

fn from_row(row: &Model) -> Result<Maintenance, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("maintenance", &row.id, &problem);
    let created_by = match (&row.created_by_id, &row.created_by_name) {
        (Some(id), Some(name)) => Some(AnnouncementAuthor {
            id: id.parse().map_err(|_| corrupt("the id of its creator is malformed"))?,
            name: name.clone(),
        }),
        _ => None,
    };
    Ok(Maintenance {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        title: TranslatedText::from_stored(&row.title).map_err(|_| corrupt("unreadable title"))?,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        schedule: MaintenanceWindow {
            start: Timestamp::from_ms(row.scheduled_start),
            end: row.scheduled_end.map(Timestamp::from_ms),
        },
        actual_start: row.actual_start.map(Timestamp::from_ms),
        actual_end: row.actual_end.map(Timestamp::from_ms),
        auto_start: row.auto_start,
        auto_complete: row.auto_complete,
        notices: MaintenanceNotices {
            announcement: row.notify_announcement,
            day_before: row.notify_24h,
            hour_before: row.notify_1h,
            start: row.notify_start,
            complete: row.notify_complete,
        },
        created_by,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
        origin: origin(row),
    })
}

fn origin(row: &Model) -> Option<SeriesOrigin> {
    let (series, occurrence) = row.series_id.zip(row.occurrence)?;
    Some(SeriesOrigin { series, occurrence: Timestamp::from_ms(occurrence), is_adjusted: row.is_adjusted })
}
