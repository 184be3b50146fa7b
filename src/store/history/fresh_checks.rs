//! Fresh results: the rows of `fresh_check`, which have not been sealed yet.
//!
//! The table has 1,024 buckets, each sorted by time, and all rows of a service are in one bucket. A commit for many
//! services thus touches few pages, the newest rows of a service are found without a second index, and the rows to be
//! sealed are one range in each bucket.

use std::num::NonZeroU32;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QueryResult, QuerySelect, Select, Statement,
};
use watchkeeper_entities::fresh_check::{Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, Micros};
use crate::model::partition::{PARTITIONS, Partition, PartitionSet};
use crate::model::service::{ProbeRole, ServiceKey};
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::blocks::CheckEntry;
use crate::store::history::sealed::CheckSeries;

/// Number of buckets of the table.
pub const BUCKETS: i16 = 1_024;

// Otherwise the services of one bucket could belong to several partitions.
const _: () =
    assert!(BUCKETS.unsigned_abs().is_multiple_of(PARTITIONS as u16), "buckets are parts of partitions");

/// The bucket of a service, from 0 to `BUCKETS - 1`.
#[must_use]
pub fn bucket_of(service: ServiceKey) -> i16 {
    i16::try_from(service.rem_euclid(i64::from(BUCKETS))).unwrap_or_default()
}

/// The buckets with the services of these partitions, in ascending order.
pub fn buckets_of(partitions: PartitionSet) -> impl Iterator<Item = i16> {
    (0..BUCKETS).filter(move |bucket| partitions.contains(Partition::of(i64::from(*bucket))))
}

/// One fresh result with its series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreshCheck {
    /// Service and location of the result.
    pub series: CheckSeries,
    /// The check without service and location.
    pub entry: CheckEntry,
}

/// The number of rows in one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketFill {
    /// Number of the bucket.
    pub bucket: i16,
    /// Number of results in the bucket.
    pub rows: u64,
    /// Start of the oldest result in the bucket.
    pub oldest: Timestamp,
}

/// The fill of each bucket that has rows.
pub async fn fillings(connection: &dyn StoreConnection) -> Result<Vec<BucketFill>, HistoryError> {
    let query = Entity::find()
        .select_only()
        .column(Column::Bucket)
        .column_as(Column::CheckedAt.count(), "rows")
        .column_as(Column::CheckedAt.min(), "oldest")
        .group_by(Column::Bucket);
    let found: Vec<(i16, i64, i64)> = query.into_tuple().all(&connection).await?;
    let filling = |(bucket, rows, oldest): (i16, i64, i64)| BucketFill {
        bucket,
        rows: u64::try_from(rows).unwrap_or_default(),
        oldest: Timestamp::from_ms(oldest),
    };
    Ok(found.into_iter().map(filling).collect())
}

/// The recent results in a bucket, counted, and the start of its oldest result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentRows {
    /// Number of the bucket.
    pub bucket: i16,
    /// Start of the oldest result in the bucket, even if it is before `since`.
    pub oldest: Timestamp,
    /// Number of results that started at or after `since` and before `until`.
    pub settled: u64,
    /// Number of results that started at or after `until`.
    pub unsettled: u64,
}

/// Counts the results of each bucket that started at or after `since`, separately before and after `until`. Buckets
/// without rows are left out. The cost is proportional to the number of counted results, plus one index lookup for each
/// bucket.
pub async fn recent_rows(
    connection: &dyn StoreConnection,
    since: Timestamp,
    until: Timestamp,
) -> Result<Vec<RecentRows>, HistoryError> {
    let text = "WITH RECURSIVE held(bucket) AS ( \
        SELECT MIN(bucket) FROM fresh_check \
        UNION ALL SELECT (SELECT MIN(bucket) FROM fresh_check WHERE bucket > held.bucket) FROM held WHERE held.bucket IS NOT NULL) \
        SELECT bucket, (SELECT MIN(checked_at) FROM fresh_check f WHERE f.bucket = held.bucket) AS oldest, \
        (SELECT COUNT(*) FROM fresh_check f WHERE f.bucket = held.bucket AND f.checked_at >= $1 AND f.checked_at < $2) AS settled, \
        (SELECT COUNT(*) FROM fresh_check f WHERE f.bucket = held.bucket AND f.checked_at >= $2) AS unsettled \
        FROM held WHERE bucket IS NOT NULL";
    let values = [since.ms().into(), until.max(since).ms().into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    let rows = connection.query_all_raw(statement).await?;
    let number = |row: &QueryResult, index: usize| {
        row.try_get_by_index::<i64>(index).map(|number| u64::try_from(number).unwrap_or_default())
    };
    let found = rows.iter().map(|row| {
        Ok(RecentRows {
            bucket: row.try_get_by_index(0)?,
            oldest: Timestamp::from_ms(row.try_get_by_index(1)?),
            settled: number(row, 2)?,
            unsettled: number(row, 3)?,
        })
    });
    found.collect::<Result<_, DbErr>>().map_err(HistoryError::from)
}

/// Returns the number of results in a bucket that are older than `boundary`.
pub async fn rows_before(
    connection: &dyn StoreConnection,
    bucket: i16,
    boundary: Timestamp,
) -> Result<u64, HistoryError> {
    let those = Entity::find().filter(Column::Bucket.eq(bucket)).filter(Column::CheckedAt.lt(boundary.ms()));
    Ok(those.count(&connection).await?)
}

/// Selects the fresh results of a service in `[from, to)`, newest first; callers add columns and filters.
pub(super) fn of_service(service: ServiceKey, TimeRange { from, to }: TimeRange) -> Select<Entity> {
    Entity::find()
        .filter(Column::Bucket.eq(bucket_of(service)))
        .filter(Column::CheckedAt.gte(from.ms()))
        .filter(Column::CheckedAt.lt(to.ms()))
        .filter(Column::ServiceId.eq(service))
        .order_by_desc(Column::CheckedAt)
}

/// The results in a bucket that are older than `boundary`, oldest first.
pub async fn of_bucket(
    connection: &dyn StoreConnection,
    bucket: i16,
    boundary: Timestamp,
) -> Result<Vec<FreshCheck>, HistoryError> {
    let text = format!(
        "SELECT {COLUMNS} FROM fresh_check WHERE bucket = $1 AND checked_at < $2 ORDER BY bucket, checked_at"
    );
    let values = [bucket.into(), boundary.ms().into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(|row| FreshCheck::try_from(model(bucket, row)?)).collect()
}

/// Makes the space of deleted rows available for new ones. SQLite does so by itself. PostgreSQL's own vacuum runs at most
/// once a minute; by then nearly all rows of the table may have been deleted and replaced.
pub async fn reclaim(connection: &dyn StoreConnection) -> Result<(), HistoryError> {
    if connection.get_database_backend() == DbBackend::Postgres {
        connection.execute_unprepared("VACUUM (TRUNCATE OFF) fresh_check").await?;
    }
    Ok(())
}

/// All columns except the bucket, in the order in which [`model`] reads them.
const COLUMNS: &str = "checked_at, service_id, location_id, scheduled_at, status, attempt, role, status_code, response_us, \
    dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us, error_code, error_message";

/// Reads a row by column index: looking columns up by name would double the time of sealing.
fn model(bucket: i16, row: &QueryResult) -> Result<Model, DbErr> {
    Ok(Model {
        bucket,
        checked_at: row.try_get_by_index(0)?,
        service_id: row.try_get_by_index(1)?,
        location_id: row.try_get_by_index(2)?,
        scheduled_at: row.try_get_by_index(3)?,
        status: row.try_get_by_index(4)?,
        attempt: row.try_get_by_index(5)?,
        role: row.try_get_by_index(6)?,
        status_code: row.try_get_by_index(7)?,
        response_us: row.try_get_by_index(8)?,
        dns_us: row.try_get_by_index(9)?,
        connect_us: row.try_get_by_index(10)?,
        tls_us: row.try_get_by_index(11)?,
        ttfb_us: row.try_get_by_index(12)?,
        transfer_us: row.try_get_by_index(13)?,
        total_us: row.try_get_by_index(14)?,
        error_code: row.try_get_by_index(15)?,
        error_message: row.try_get_by_index(16)?,
    })
}

/// Returns the start of the row at this position in a bucket, sorted from oldest to newest: `older` rows precede it.
/// `None` if the bucket has fewer rows.
pub async fn start_of_row(
    connection: &dyn StoreConnection,
    bucket: i16,
    older: u64,
) -> Result<Option<Timestamp>, HistoryError> {
    let query = Entity::find().select_only().column(Column::CheckedAt).filter(Column::Bucket.eq(bucket));
    let row = query.order_by_asc(Column::CheckedAt).offset(older).limit(1).into_tuple::<i64>();
    Ok(row.one(&connection).await?.map(Timestamp::from_ms))
}

/// Deletes the results in a bucket that are older than `boundary`; returns their number.
pub async fn delete(
    connection: &dyn StoreConnection,
    bucket: i16,
    boundary: Timestamp,
) -> Result<u64, HistoryError> {
    let those =
        Entity::delete_many().filter(Column::Bucket.eq(bucket)).filter(Column::CheckedAt.lt(boundary.ms()));
    Ok(those.exec(&connection).await?.rows_affected)
}

impl TryFrom<Model> for FreshCheck {
    type Error = HistoryError;

    fn try_from(row: Model) -> Result<Self, HistoryError> {
        let key = (row.service_id, row.checked_at, row.location_id);
        let corrupt = |problem: &str| HistoryError::corrupt("fresh_check", &format!("{key:?}"), &problem);
        let code = row
            .error_code
            .map(|code| ErrorCode::from_code(code).ok_or_else(|| corrupt("unknown error code")));
        let failure = code
            .transpose()?
            .map(|code| Box::new(CheckFailure::new(code, row.error_message.as_deref().unwrap_or_default())));
        let Model { response_us, dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us, .. } = row;
        let durations = [response_us, dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us];
        let (response_time, timings) = Measurement::split_durations(durations.map(from_column));
        let role = u8::try_from(row.role).ok().and_then(ProbeRole::from_code);
        let entry = CheckEntry {
            checked_at: Timestamp::from_ms(row.checked_at),
            scheduled_at: Timestamp::from_ms(row.scheduled_at),
            attempt: u8::try_from(row.attempt).map_err(|_| corrupt("attempt out of range"))?,
            role: role.ok_or_else(|| corrupt("unknown role"))?,
            measurement: Measurement {
                status: CheckStatus::from_code(row.status).ok_or_else(|| corrupt("unknown status"))?,
                response_time,
                timings,
                status_code: row.status_code.and_then(|code| u16::try_from(code).ok()),
                failure,
            },
        };
        Ok(Self { series: CheckSeries { service: row.service_id, location: row.location_id }, entry })
    }
}

fn from_column(duration_us: Option<i32>) -> Option<Micros> {
    duration_us.and_then(|us| u32::try_from(us).ok()).and_then(NonZeroU32::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_has_a_bucket() {
        assert_eq!([0, 1, 1_023, 1_024, 1_025].map(bucket_of), [0, 1, 1_023, 0, 1]);
        assert!((0..BUCKETS).contains(&bucket_of(i64::MIN)) && (0..BUCKETS).contains(&bucket_of(i64::MAX)));
    }
}
