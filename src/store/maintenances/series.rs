//! Series of maintenances. Every finder is scoped by organisation, except [`due`] and [`claim`] for the periodic task, and
//! those by database key.
//!
//! This file has the rows of series. Covered services and pages are in `links`, existing maintenances and skipped windows
//! in `occurrences`, the deletion of a service in `of_service`. `lifecycle` creates the maintenances of a series.

pub mod links;
pub mod occurrences;
pub mod of_service;

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::LockType;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, Condition, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::maintenance_series::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::maintenance::MaintenanceNotices;
use crate::model::maintenance::origin::SeriesKey;
use crate::model::maintenance::series::{MaintenanceSeries, PLANNING_EVERY_MS, SeriesStatus};
use crate::model::recurrence::{Recurrence, WallWindow};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Number of series per statement.
const AT_ONCE: usize = 1_000;

/// The members of a series that are shown with each of its maintenances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesName {
    /// Id of the series.
    pub id: Id,
    /// The recurrence rule as text.
    pub rrule: String,
    /// Name of the time zone of the series.
    pub time_zone: String,
}

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The series of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<MaintenanceSeries>, MainError> {
    let query = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    query.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// Like [`find`], and locks the series against changes until the transaction ends. Rows that refer to the series may still
/// be written, so that a transaction that has locked a maintenance can remove it from the series.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<MaintenanceSeries>, MainError> {
    let query = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    query.lock(LockType::NoKeyUpdate).one(&connection).await?.as_ref().map(from_row).transpose()
}

/// The series on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
    window: PageWindow,
) -> Result<(Vec<MaintenanceSeries>, u64), MainError> {
    let wanted = of_organisation(organisation);
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::PublicId)
        .offset(window.offset)
        .limit(window.limit)
        .all(&connection)
        .await?;
    Ok((rows.iter().map(from_row).collect::<Result<_, _>>()?, total))
}

/// Returns the number of series of the organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// The id, rule and time zone of each of these series, by database key.
pub async fn names(
    connection: &dyn StoreConnection,
    keys: &[SeriesKey],
) -> Result<HashMap<SeriesKey, SeriesName>, MainError> {
    let mut found = HashMap::new();
    for keys in keys.chunks(AT_ONCE) {
        let rows = Entity::find().filter(Column::Id.is_in(keys.iter().copied())).all(&connection).await?;
        for row in rows {
            let id = public_id(&row)?;
            found.insert(row.id, SeriesName { id, rrule: row.rrule, time_zone: row.time_zone });
        }
    }
    Ok(found)
}

/// Keys of active series whose planning is due at `now`: at most `limit`, in ascending order, above `after`. A planning
/// time implausibly far in the future, stored while the clock was ahead, is due as well.
pub async fn due(
    connection: &dyn StoreConnection,
    now: Timestamp,
    after: SeriesKey,
    limit: u64,
) -> Result<Vec<SeriesKey>, MainError> {
    let furthest = now.plus_ms(2 * PLANNING_EVERY_MS);
    let moment =
        Condition::any().add(Column::NextLookAt.lte(now.ms())).add(Column::NextLookAt.gt(furthest.ms()));
    let keys = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::Status.eq(SeriesStatus::Active.as_str()))
        .filter(moment)
        .filter(Column::Id.gt(after))
        .order_by_asc(Column::Id)
        .limit(limit);
    Ok(keys.into_tuple().all(&connection).await?)
}

/// The database key of the organisation of a series; `None` if the series does not exist.
pub async fn organisation_of(
    connection: &dyn StoreConnection,
    key: SeriesKey,
) -> Result<Option<i64>, MainError> {
    let owner = Entity::find_by_id(key).select_only().column(Column::OrganisationId);
    Ok(owner.into_tuple().one(&connection).await?)
}

/// The series with this key, locked against changes until the transaction ends.
pub async fn claim(
    connection: &dyn StoreConnection,
    key: SeriesKey,
) -> Result<Option<MaintenanceSeries>, MainError> {
    let query = Entity::find_by_id(key).lock(LockType::NoKeyUpdate);
    query.one(&connection).await?.as_ref().map(from_row).transpose()
}

/// Stores a new series; its `key` is assigned by the database and returned in the result.
pub async fn insert(
    connection: &dyn StoreConnection,
    series: MaintenanceSeries,
) -> Result<MaintenanceSeries, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&series) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(MaintenanceSeries { key, ..series })
}

/// Stores all fields of the series.
pub async fn update(connection: &dyn StoreConnection, series: &MaintenanceSeries) -> Result<(), MainError> {
    to_row(series).update(&connection).await?;
    Ok(())
}

/// Deletes the series with its links. Its maintenances must have been removed from it before.
pub async fn delete(connection: &dyn StoreConnection, key: SeriesKey) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

fn to_row(series: &MaintenanceSeries) -> ActiveModel {
    let (creator, window) = (series.created_by.as_ref(), series.recurrence.parts());
    ActiveModel {
        id: Set(series.key),
        public_id: Set(series.id.to_string()),
        organisation_id: Set(series.organisation),
        title: Set(series.title.to_json().to_string()),
        message: Set(series.message.as_ref().map(|message| message.to_json().to_string())),
        kind: Set(series.kind.as_str().into()),
        status: Set(series.status.as_str().into()),
        rrule: Set(series.recurrence.rule.as_str().into()),
        time_zone: Set(series.recurrence.zone.name().into()),
        first_wall_ms: Set(window.first_ms),
        length_ms: Set(window.length_ms),
        auto_start: Set(series.auto_start),
        auto_complete: Set(series.auto_complete),
        notify_announcement: Set(series.notices.announcement),
        notify_24h: Set(series.notices.day_before),
        notify_1h: Set(series.notices.hour_before),
        notify_start: Set(series.notices.start),
        notify_complete: Set(series.notices.complete),
        next_look_at: Set(series.next_planning_at.ms()),
        created_by_id: Set(creator.map(|creator| creator.id.to_string())),
        created_by_name: Set(creator.map(|creator| creator.name.clone())),
        created_at: Set(series.created_at.ms()),
        updated_at: Set(series.updated_at.ms()),
    }
}

fn from_row(row: &Model) -> Result<MaintenanceSeries, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("maintenance_series", &row.id, &problem);
    let message = row.message.as_deref().map(TranslatedText::from_stored).transpose();
    Ok(MaintenanceSeries {
        key: row.id,
        id: public_id(row)?,
        organisation: row.organisation_id,
        title: TranslatedText::from_stored(&row.title).map_err(|_| corrupt("unreadable title"))?,
        message: message.map_err(|_| corrupt("unreadable message"))?,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        recurrence: recurrence(row)?,
        auto_start: row.auto_start,
        auto_complete: row.auto_complete,
        notices: MaintenanceNotices {
            announcement: row.notify_announcement,
            day_before: row.notify_24h,
            hour_before: row.notify_1h,
            start: row.notify_start,
            complete: row.notify_complete,
        },
        next_planning_at: Timestamp::from_ms(row.next_look_at),
        created_by: created_by(row)?,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}

fn public_id(row: &Model) -> Result<Id, MainError> {
    let problem = "its id is malformed";
    row.public_id.parse().map_err(|_| MainError::corrupt("maintenance_series", &row.id, &problem))
}

fn recurrence(row: &Model) -> Result<Recurrence, MainError> {
    let corrupt = |problem: &dyn ToString| {
        MainError::corrupt("maintenance_series", &row.id, &problem.to_string().as_str())
    };
    let rule = row.rrule.parse().map_err(|problem| corrupt(&problem))?;
    let zone = row.time_zone.parse().map_err(|problem| corrupt(&problem))?;
    let window = WallWindow { first_ms: row.first_wall_ms, length_ms: row.length_ms };
    Recurrence::of(rule, zone, window).map_err(|problem| corrupt(&problem))
}

fn created_by(row: &Model) -> Result<Option<AnnouncementAuthor>, MainError> {
    let Some((id, name)) = row.created_by_id.as_ref().zip(row.created_by_name.clone()) else {
        return Ok(None);
    };
    let problem = "the id of its creator is malformed";
    let id = id.parse().map_err(|_| MainError::corrupt("maintenance_series", &row.id, &problem))?;
    Ok(Some(AnnouncementAuthor { id, name }))
}
