//! The few columns of results that figures are made of, oldest first.

use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::check_result::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::Sample;
use crate::model::service::ServiceKey;
use crate::store::StoreError;

/// The samples of a service in `[from, to)`, oldest first; only of these locations, unless `None`.
///
/// # Errors
/// When the database fails.
pub async fn between(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
    locations: Option<&[i32]>,
) -> Result<Vec<Sample>, StoreError> {
    let mut query = Entity::find()
        .select_only()
        .columns([Column::CheckedAt, Column::LocationId, Column::Status, Column::Role, Column::ResponseUs])
        .filter(Column::ServiceId.eq(service))
        .filter(Column::CheckedAt.gte(from.ms()))
        .filter(Column::CheckedAt.lt(to.ms()));
    if let Some(numbers) = locations {
        query = query.filter(Column::LocationId.is_in(numbers.iter().copied()));
    }
    let rows = query.order_by_asc(Column::CheckedAt).into_model::<Row>().all(connection).await?;
    Ok(rows.into_iter().map(Sample::from).collect())
}

/// The smallest service key above `after` that has results.
///
/// # Errors
/// When the database fails.
pub async fn next_service(
    connection: &impl ConnectionTrait,
    after: ServiceKey,
) -> Result<Option<ServiceKey>, StoreError> {
    let found: Option<i64> = Entity::find()
        .select_only()
        .column(Column::ServiceId)
        .filter(Column::ServiceId.gt(after))
        .order_by_asc(Column::ServiceId)
        .limit(1)
        .into_tuple()
        .one(connection)
        .await?;
    Ok(found)
}

/// Start of the oldest check that is stored, in the order of arrival.
///
/// # Errors
/// When the database fails.
pub async fn oldest(connection: &impl ConnectionTrait) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<i64> = Entity::find()
        .select_only()
        .column(Column::CheckedAt)
        .order_by_asc(Column::Id)
        .limit(1)
        .into_tuple()
        .one(connection)
        .await?;
    Ok(found.map(Timestamp::from_ms))
}

/// The place of the newest arrival; [`arrived_since`] takes it.
///
/// # Errors
/// When the database fails.
pub async fn newest_arrival(connection: &impl ConnectionTrait) -> Result<i64, StoreError> {
    let ids = Entity::find().select_only().column(Column::Id).order_by_desc(Column::Id).limit(1);
    Ok(ids.into_tuple().one(connection).await?.unwrap_or_default())
}

/// Whether a check that started before `before` has arrived after this place.
///
/// # Errors
/// When the database fails.
pub async fn arrived_since(
    connection: &impl ConnectionTrait,
    arrival: i64,
    before: Timestamp,
) -> Result<bool, StoreError> {
    let late = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::Id.gt(arrival))
        .filter(Column::CheckedAt.lt(before.ms()))
        .limit(1);
    let found: Option<i64> = late.into_tuple().one(connection).await?;
    Ok(found.is_some())
}

#[derive(FromQueryResult)]
struct Row {
    checked_at: i64,
    location_id: i32,
    status: i16,
    role: i16,
    response_us: Option<i32>,
}

impl From<Row> for Sample {
    fn from(row: Row) -> Self {
        let answered_in_full = row.response_us.filter(|_| row.role == 0);
        Self {
            checked_at: Timestamp::from_ms(row.checked_at),
            location: row.location_id,
            is_down: row.status == CheckStatus::Down.code(),
            response_us: answered_in_full.and_then(|us| u32::try_from(us).ok()),
        }
    }
}
