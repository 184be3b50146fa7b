//! On-call schedules. Every finder is scoped by organisation, except `of_all` and `with_keys`.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::oncall_schedule::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::oncall::entry::NamedSchedule;
use crate::model::oncall::schedule::OncallSchedule;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::oncall::layers::StoredLayer;
use crate::store::page_window::PageWindow;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The schedules on this page of the list, oldest first, and their total number.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    window: PageWindow,
) -> Result<(Vec<OncallSchedule>, u64), MainError> {
    let wanted = of_organisation(visibility.organisation());
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_asc(Column::Id).offset(window.offset).limit(window.limit);
    Ok((read_all(rows.all(&connection).await?)?, total))
}

/// All schedules of an organisation, oldest first.
pub async fn all(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<OncallSchedule>, MainError> {
    read_all(of_organisation(organisation).order_by_asc(Column::Id).all(&connection).await?)
}

/// All schedules of all organisations.
pub async fn of_all(connection: &dyn StoreConnection) -> Result<Vec<OncallSchedule>, MainError> {
    read_all(Entity::find().order_by_asc(Column::Id).all(&connection).await?)
}

/// The schedule of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<OncallSchedule>, MainError> {
    let wanted = of_organisation(visibility.organisation()).filter(Column::PublicId.eq(id.as_str()));
    wanted.one(&connection).await?.map(from_row).transpose()
}

/// The schedules with these keys, of any organisation.
pub async fn with_keys(
    connection: &dyn StoreConnection,
    keys: &[i64],
) -> Result<Vec<OncallSchedule>, MainError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = Entity::find().filter(Column::Id.is_in(keys.iter().copied()));
    read_all(wanted.order_by_asc(Column::Id).all(&connection).await?)
}

/// Key, id and name of the schedules of an organisation, by database key.
pub async fn by_key(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<i64, NamedSchedule>, MainError> {
    let wanted = of_organisation(organisation).select_only();
    let wanted = wanted.columns([Column::Id, Column::PublicId, Column::Name]);
    let rows: Vec<(i64, String, String)> = wanted.into_tuple().all(&connection).await?;
    let read = |(key, id, name): (i64, String, String)| {
        let corrupt = |_| MainError::corrupt("oncall_schedule", &key, &"its id is malformed");
        Ok((key, NamedSchedule { key, id: id.parse().map_err(corrupt)?, name }))
    };
    rows.into_iter().map(read).collect()
}

/// Returns the number of schedules of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new schedule; its `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    schedule: OncallSchedule,
) -> Result<OncallSchedule, MainError> {
    let row = ActiveModel { id: NotSet, ..to_row(&schedule)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(OncallSchedule { key, ..schedule })
}

/// Stores all fields of a changed schedule.
pub async fn update(connection: &dyn StoreConnection, schedule: &OncallSchedule) -> Result<(), MainError> {
    to_row(schedule)?.update(&connection).await?;
    Ok(())
}

/// Deletes a schedule with its overrides and cover requests.
pub async fn delete(connection: &dyn StoreConnection, schedule: i64) -> Result<(), MainError> {
    Entity::delete_by_id(schedule).exec(&connection).await?;
    Ok(())
}

/// Names of the schedules of an organisation with a layer that puts this contact on duty.
pub(in crate::store) async fn names_of_contact(
    connection: &dyn StoreConnection,
    organisation: i64,
    contact: i64,
) -> Result<Vec<String>, MainError> {
    let all = all(connection, organisation).await?.into_iter();
    Ok(all.filter(|schedule| schedule.names(contact)).map(|schedule| schedule.name).collect())
}

fn to_row(schedule: &OncallSchedule) -> Result<ActiveModel, MainError> {
    let unwritable = |problem| MainError::corrupt("oncall_schedule", &schedule.id, &problem);
    let layers: Vec<StoredLayer> = schedule.layers.iter().map(StoredLayer::of).collect();
    Ok(ActiveModel {
        id: Set(schedule.key),
        public_id: Set(schedule.id.to_string()),
        organisation_id: Set(schedule.organisation),
        name: Set(schedule.name.clone()),
        time_zone: Set(schedule.zone.name().into()),
        layers: Set(serde_json::to_string(&layers).map_err(unwritable)?),
        created_at: Set(schedule.created_at.ms()),
        updated_at: Set(schedule.updated_at.ms()),
    })
}

fn read_all(rows: Vec<Model>) -> Result<Vec<OncallSchedule>, MainError> {
    rows.into_iter().map(from_row).collect()
}

fn from_row(row: Model) -> Result<OncallSchedule, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("oncall_schedule", &row.id, &problem);
    let layers: Option<Vec<StoredLayer>> = serde_json::from_str(&row.layers).ok();
    let layers = layers.and_then(|layers| layers.into_iter().map(StoredLayer::read).collect());
    Ok(OncallSchedule {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        zone: row.time_zone.parse().map_err(|_| corrupt("unknown time zone"))?,
        layers: layers.ok_or_else(|| corrupt("its layers cannot be read"))?,
        name: row.name,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
