//! Absences of contacts. Finders for clients are scoped by organisation.

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::oncall_absence::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::oncall::entry::{AbsenceEntry, RETENTION_MS};
use crate::model::oncall::schedule::ContactAbsence;
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::store::contacts;
use crate::store::error::MainError;
use crate::store::oncall::window::{OncallColumns, OncallFilter, narrowed};
use crate::store::page_window::PageWindow;

const COLUMNS: OncallColumns<Column> = OncallColumns {
    schedule: None,
    contact: Column::ContactId,
    starts_at: Column::StartsAt,
    ends_at: Column::EndsAt,
};

/// The absences on this page of the list, sorted by start, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    filter: &OncallFilter,
    window: PageWindow,
) -> Result<(Vec<AbsenceEntry>, u64), MainError> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    let wanted = narrowed(owned, filter, &COLUMNS);
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::StartsAt).order_by_asc(Column::Id);
    let rows = rows.offset(window.offset).limit(window.limit).all(&connection).await?;
    Ok((with_names(connection, rows).await?, total))
}

/// The absence of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<AbsenceEntry>, MainError> {
    let owned = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    let row = owned.filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    Ok(with_names(connection, row.into_iter().collect()).await?.pop())
}

/// Deletes absences that ended too long ago to be shown, and returns the number of remaining ones of the organisation.
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

/// Stores a new absence; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    entry: AbsenceEntry,
) -> Result<AbsenceEntry, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&entry) };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(AbsenceEntry { key, ..entry })
}

/// Stores all fields of a changed absence.
pub async fn update(connection: &dyn StoreConnection, entry: &AbsenceEntry) -> Result<(), MainError> {
    to_row(entry).update(&connection).await?;
    Ok(())
}

/// Deletes the absence with this key.
pub async fn delete(connection: &dyn StoreConnection, key: i64) -> Result<(), MainError> {
    Entity::delete_by_id(key).exec(&connection).await?;
    Ok(())
}

/// The absences in an organisation that overlap a time range.
pub(super) async fn touching(
    connection: &dyn StoreConnection,
    organisation: i64,
    range: TimeRange,
) -> Result<Vec<ContactAbsence>, MainError> {
    let rows = Entity::find()
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::EndsAt.gt(range.from.ms()))
        .filter(Column::StartsAt.lt(range.to.ms()))
        .all(&connection)
        .await?;
    Ok(rows.iter().map(|row| ContactAbsence { contact: row.contact_id, range: range_of(row) }).collect())
}

async fn with_names(
    connection: &dyn StoreConnection,
    rows: Vec<Model>,
) -> Result<Vec<AbsenceEntry>, MainError> {
    let contacts = contacts::by_key(connection, rows.iter().map(|row| row.contact_id)).await?;
    let read = |row: Model| {
        let corrupt = |problem: &str| MainError::corrupt("oncall_absence", &row.id, &problem);
        let contact = contacts.get(&row.contact_id).cloned();
        Ok(AbsenceEntry {
            key: row.id,
            id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
            organisation: row.organisation_id,
            contact: contact.ok_or_else(|| corrupt("its contact is not there"))?,
            range: range_of(&row),
            created_at: Timestamp::from_ms(row.created_at),
            updated_at: Timestamp::from_ms(row.updated_at),
        })
    };
    rows.into_iter().map(read).collect()
}

fn range_of(row: &Model) -> TimeRange {
    TimeRange { from: Timestamp::from_ms(row.starts_at), to: Timestamp::from_ms(row.ends_at) }
}

fn to_row(entry: &AbsenceEntry) -> ActiveModel {
    ActiveModel {
        id: Set(entry.key),
        public_id: Set(entry.id.to_string()),
        organisation_id: Set(entry.organisation),
        contact_id: Set(entry.contact.key),
        starts_at: Set(entry.range.from.ms()),
        ends_at: Set(entry.range.to.ms()),
        created_at: Set(entry.created_at.ms()),
        updated_at: Set(entry.updated_at.ms()),
    }
}
