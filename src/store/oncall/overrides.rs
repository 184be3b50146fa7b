//! Overrides of on-call schedules. Finders for clients are scoped by organisation.

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::oncall_override::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::oncall::entry::{OverrideEntry, RETENTION_MS};
use crate::model::oncall::schedule::DutyOverride;
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::store::contacts;
use crate::store::error::MainError;
use crate::store::oncall::schedules;
use crate::store::oncall::window::{OncallColumns, OncallFilter, narrowed};
use crate::store::page_window::PageWindow;

const COLUMNS: OncallColumns<Column> = OncallColumns {
    schedule: Some(Column::ScheduleId),
    contact: Column::ContactId,
    starts_at: Column::StartsAt,
    ends_at: Column::EndsAt,
};

/// The overrides on this page of the list, sorted by start, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &OncallFilter,
    window: PageWindow,
) -> Result<(Vec<OverrideEntry>, u64), MainError> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    let wanted = narrowed(owned, filter, &COLUMNS);
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::StartsAt).order_by_asc(Column::Id);
    let rows = rows.offset(window.offset).limit(window.limit).all(&connection).await?;
    Ok((with_names(connection, visibility.organisation(), rows).await?, total))
}

/// The override of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<OverrideEntry>, MainError> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    let row = owned.filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    Ok(with_names(connection, visibility.organisation(), row.into_iter().collect()).await?.pop())
}

/// Deletes overrides that ended too long ago to be shown, and returns the number of remaining ones of the organisation.
/// Without a trusted time, nothing is deleted.
pub async fn make_room(
    connection: &dyn StoreConnection,
    organisation: i64,
    trusted_now: Option<Timestamp>,
) -> Result<u64, MainError> {
    let of_organisation = || Column::OrganisationId.eq(organisation);
    if let Some(now) = trusted_now {
        let old = Column::EndsAt.lt(now.plus_ms(-RETENTION_MS).ms());
        Entity::delete_many().filter(of_organisation()).filter(old).exec(&connection).await?;
    }
    Ok(Entity::find().filter(of_organisation()).count(&connection).await?)
}

/// Stores a new override; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    entry: OverrideEntry,
) -> Result<OverrideEntry, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&entry) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(OverrideEntry { key, ..entry })
}

/// Stores all fields of a changed override.
pub async fn update(connection: &dyn StoreConnection, entry: &OverrideEntry) -> Result<(), MainError> {
    to_row(entry).update(&connection).await?;
    Ok(())
}

/// Deletes the override with this key.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

/// The overrides of these schedules that overlap a time range, each with the key of its schedule.
pub(super) async fn touching(
    connection: &dyn StoreConnection,
    schedules: &[i64],
    range: TimeRange,
) -> Result<Vec<(i64, DutyOverride)>, MainError> {
    let rows = Entity::find()
        .filter(Column::ScheduleId.is_in(schedules.iter().copied()))
        .filter(Column::EndsAt.gt(range.from.ms()))
        .filter(Column::StartsAt.lt(range.to.ms()))
        .all(&connection)
        .await?;
    let read = |row: &Model| {
        let placed =
            DutyOverride { key: row.id, id: read_id(row)?, contact: row.contact_id, range: range_of(row) };
        Ok((row.schedule_id, placed))
    };
    rows.iter().map(read).collect()
}

/// Names of the schedules with an override of a contact that has not ended at `now`.
pub(in crate::store) async fn schedules_of_contact(
    connection: &dyn StoreConnection,
    contact: i64,
    now: Timestamp,
) -> Result<Vec<String>, MainError> {
    let keys: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::ScheduleId)
        .distinct()
        .filter(Column::ContactId.eq(contact))
        .filter(Column::EndsAt.gt(now.ms()))
        .into_tuple()
        .all(&connection)
        .await?;
    let schedules = schedules::with_keys(connection, &keys).await?;
    Ok(schedules.into_iter().map(|schedule| schedule.name).collect())
}

async fn with_names(
    connection: &dyn StoreConnection,
    organisation: i64,
    rows: Vec<Model>,
) -> Result<Vec<OverrideEntry>, MainError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let schedules = schedules::by_key(connection, organisation).await?;
    let contacts = contacts::by_key(connection, rows.iter().map(|row| row.contact_id)).await?;
    let read = |row: Model| {
        let corrupt =
            || MainError::corrupt("oncall_override", &row.id, &"its schedule or contact is missing");
        Ok(OverrideEntry {
            key: row.id,
            id: read_id(&row)?,
            organisation: row.organisation_id,
            schedule: schedules.get(&row.schedule_id).cloned().ok_or_else(corrupt)?,
            contact: contacts.get(&row.contact_id).cloned().ok_or_else(corrupt)?,
            range: range_of(&row),
            created_at: Timestamp::from_ms(row.created_at),
            updated_at: Timestamp::from_ms(row.updated_at),
        })
    };
    rows.into_iter().map(read).collect()
}

fn read_id(row: &Model) -> Result<Id, MainError> {
    let corrupt = |_| MainError::corrupt("oncall_override", &row.id, &"its id is malformed");
    row.public_id.parse().map_err(corrupt)
}

fn range_of(row: &Model) -> TimeRange {
    TimeRange { from: Timestamp::from_ms(row.starts_at), to: Timestamp::from_ms(row.ends_at) }
}

fn to_row(entry: &OverrideEntry) -> ActiveModel {
    ActiveModel {
        id: Set(entry.key),
        public_id: Set(entry.id.to_string()),
        organisation_id: Set(entry.organisation),
        schedule_id: Set(entry.schedule.key),
        contact_id: Set(entry.contact.key),
        starts_at: Set(entry.range.from.ms()),
        ends_at: Set(entry.range.to.ms()),
        created_at: Set(entry.created_at.ms()),
        updated_at: Set(entry.updated_at.ms()),
    }
}
