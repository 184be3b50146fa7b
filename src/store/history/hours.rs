//! Finished hours: the results of one service, one location and one hour, summed up.
//!
//! They are derived from the rows and can be derived again at any time; the watermark says up to which hour every
//! service has been derived.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::check_hour::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::history_progress;

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::StoreError;

/// Length of an hour in milliseconds.
pub const HOUR_MS: i64 = 3_600_000;
const WATERMARK: &str = "hours";

/// The sums of one service, one location and one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hour {
    /// The service.
    pub service: ServiceKey,
    /// Start of the hour.
    pub start: Timestamp,
    /// Number of the location.
    pub location: i32,
    /// Finished checks.
    pub checks: u32,
    /// Checks that were `down`.
    pub failed: u32,
    /// Checks with role `full` that got an answer.
    pub answered: u32,
    /// Sum of their response times in microseconds.
    pub sum_us: u64,
    /// The shortest of them; 0 when none.
    pub min_us: u32,
    /// The longest of them; 0 when none.
    pub max_us: u32,
    /// Their serialised histogram; `None` when none.
    pub histogram: Option<Vec<u8>>,
}

/// Writes hours of one service, replacing what was derived before.
///
/// # Errors
/// When the database fails.
pub async fn put(connection: &impl ConnectionTrait, hours: Vec<Hour>) -> Result<(), StoreError> {
    if hours.is_empty() {
        return Ok(());
    }
    let replace = OnConflict::columns([Column::ServiceId, Column::Start, Column::LocationId])
        .update_columns([
            Column::Checks,
            Column::Failed,
            Column::Answered,
            Column::SumUs,
            Column::MinUs,
            Column::MaxUs,
            Column::Histogram,
        ])
        .to_owned();
    let rows = hours.into_iter().map(to_row);
    Entity::insert_many(rows).on_conflict(replace).exec_without_returning(connection).await?;
    Ok(())
}

/// The hours of a service that start in `[from, to)`, oldest first; only of these locations, unless `None`.
///
/// # Errors
/// When the database fails.
pub async fn between(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
    locations: Option<&[i32]>,
) -> Result<Vec<Hour>, StoreError> {
    let mut query = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::Start.gte(from.ms()))
        .filter(Column::Start.lt(to.ms()));
    if let Some(numbers) = locations {
        query = query.filter(Column::LocationId.is_in(numbers.iter().copied()));
    }
    let rows = query.order_by_asc(Column::Start).order_by_asc(Column::LocationId).all(connection).await?;
    Ok(rows.into_iter().map(Hour::from).collect())
}

/// Everything before this instant is derived; `None` when nothing is yet.
///
/// # Errors
/// When the database fails.
pub async fn watermark(connection: &impl ConnectionTrait) -> Result<Option<Timestamp>, StoreError> {
    let row = history_progress::Entity::find_by_id(WATERMARK).one(connection).await?;
    Ok(row.map(|row| Timestamp::from_ms(row.value)))
}

/// Like [`watermark`], and keeps others from moving it until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn lock_watermark(connection: &impl ConnectionTrait) -> Result<Option<Timestamp>, StoreError> {
    let row = history_progress::Entity::find_by_id(WATERMARK).lock_exclusive().one(connection).await?;
    Ok(row.map(|row| Timestamp::from_ms(row.value)))
}

/// Results of `moment` are being stored in this transaction: if its hour was derived before, it will be derived again.
///
/// # Errors
/// When the database fails.
pub async fn reopen(connection: &impl ConnectionTrait, moment: Timestamp) -> Result<(), StoreError> {
    let hour = start_of_hour(moment);
    match lock_watermark(connection).await? {
        Some(derived) if derived > hour => set_watermark(connection, hour).await,
        _ => Ok(()),
    }
}

/// Start of the hour that holds `moment`.
#[must_use]
pub const fn start_of_hour(moment: Timestamp) -> Timestamp {
    Timestamp::from_ms(moment.ms().div_euclid(HOUR_MS) * HOUR_MS)
}

/// Moves the watermark.
///
/// # Errors
/// When the database fails.
pub async fn set_watermark(connection: &impl ConnectionTrait, to: Timestamp) -> Result<(), StoreError> {
    let row = history_progress::ActiveModel { name: Set(WATERMARK.into()), value: Set(to.ms()) };
    let replace = OnConflict::column(history_progress::Column::Name)
        .update_column(history_progress::Column::Value)
        .to_owned();
    history_progress::Entity::insert(row).on_conflict(replace).exec_without_returning(connection).await?;
    Ok(())
}

fn to_row(hour: Hour) -> ActiveModel {
    let count = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    ActiveModel {
        service_id: Set(hour.service),
        start: Set(hour.start.ms()),
        location_id: Set(hour.location),
        checks: Set(count(hour.checks)),
        failed: Set(count(hour.failed)),
        answered: Set(count(hour.answered)),
        sum_us: Set(i64::try_from(hour.sum_us).unwrap_or(i64::MAX)),
        min_us: Set(count(hour.min_us)),
        max_us: Set(count(hour.max_us)),
        histogram: Set(hour.histogram),
    }
}

impl From<Model> for Hour {
    fn from(row: Model) -> Self {
        let count = |count: i32| u32::try_from(count).unwrap_or_default();
        Self {
            service: row.service_id,
            start: Timestamp::from_ms(row.start),
            location: row.location_id,
            checks: count(row.checks),
            failed: count(row.failed),
            answered: count(row.answered),
            sum_us: u64::try_from(row.sum_us).unwrap_or_default(),
            min_us: count(row.min_us),
            max_us: count(row.max_us),
            histogram: row.histogram,
        }
    }
}
