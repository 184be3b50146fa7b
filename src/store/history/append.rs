//! Appending results and status changes: many rows a statement, few statement texts, so that each is prepared once.
//!
//! A batch that is written again changes nothing: a result is identified by service, time and location. Results go to
//! the bucket of their service in the order of their keys, so that a commit touches few pages.

use sea_orm::{ConnectionTrait, DbBackend, SqlErr, Statement, Value};

use crate::model::check::{Measurement, Micros};
use crate::model::history::{CheckRecord, StatusChange};
use crate::model::service::ServiceKey;
use crate::store::HistoryError;
use crate::store::history::fresh::bucket_of;
use crate::store::history::insert::{chunks, insert_text};
use crate::store::history::late;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::segments::storage::SegmentStorage;
use crate::store::history::unnest::Columns;

const CHECK_COLUMNS: &str = "bucket, checked_at, service_id, location_id, scheduled_at, status, attempt, role, status_code, \
    response_us, dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us, error_code, error_message";
const CHECK_WIDTH: usize = 18;
/// Their types in PostgreSQL.
const CHECK_TYPES: [&str; CHECK_WIDTH] = [
    "smallint", "bigint", "bigint", "int", "bigint", "smallint", "smallint", "smallint", "smallint", "int",
    "int", "int", "int", "int", "int", "int", "smallint", "text",
];
const CHANGE_COLUMNS: &str = "service_id, at, from_status, to_status, cause";
const CHANGE_WIDTH: usize = 5;

/// Most rows per statement: 1,024 of 18 values stay below SQLite's limit of 32,766 values a statement.
const CHUNK_MAX_ROWS: usize = 1_024;

/// Appends finished checks in a transaction; how many are new. Those that exist already, as rows or in blocks, are left as
/// they are.
///
/// # Errors
/// When the database fails, or a location has no number yet.
pub async fn checks(
    connection: &impl ConnectionTrait,
    storage: &SegmentStorage,
    records: &[CheckRecord],
    locations: &LocationNumbers,
) -> Result<u64, HistoryError> {
    let backend = connection.get_database_backend();
    let mut stored = 0;
    let records = late::unsealed(connection, storage, records, locations).await?;
    if backend == DbBackend::Postgres {
        return checks_by_column(connection, &in_order(&records, locations)?).await;
    }
    for chunk in chunks(&in_order(&records, locations)?, CHUNK_MAX_ROWS) {
        let mut values = Vec::with_capacity(chunk.len() * CHECK_WIDTH);
        for (key, record) in chunk {
            push_check(&mut values, *key, record);
        }
        let text = insert_text(backend, "fresh_check", CHECK_COLUMNS, chunk.len(), CHECK_WIDTH);
        let done = connection.execute_raw(Statement::from_sql_and_values(backend, text, values)).await?;
        stored += done.rows_affected();
    }
    Ok(stored)
}

/// All rows in one statement; how many are new.
///
/// Nearly always all of them are. A statement that minds those that exist looks for each row first and writes its row in
/// two steps (three records of the write-ahead log instead of two), so it is sent only when another has failed.
async fn checks_by_column(
    connection: &impl ConnectionTrait,
    rows: &[(Key, &CheckRecord)],
) -> Result<u64, HistoryError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let insert = |ending: &str| {
        let columns = by_column(rows);
        let text = columns.insert_text("fresh_check", CHECK_COLUMNS) + ending;
        connection.execute_raw(Statement::from_sql_and_values(DbBackend::Postgres, text, columns.values()))
    };
    connection.execute_unprepared("SAVEPOINT all_are_new").await?;
    let done = match insert("").await {
        Err(error) if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) => {
            connection.execute_unprepared("ROLLBACK TO SAVEPOINT all_are_new").await?;
            insert(" ON CONFLICT DO NOTHING").await?
        }
        done => done?,
    };
    connection.execute_unprepared("RELEASE SAVEPOINT all_are_new").await?;
    Ok(done.rows_affected())
}

fn by_column(rows: &[(Key, &CheckRecord)]) -> Columns {
    let mut columns = Columns::new(&CHECK_TYPES);
    for ((bucket, checked_at, service, location), record) in rows {
        let measurement = &record.measurement;
        let failure = measurement.failure.as_deref();
        let numbers = [
            i64::from(*bucket),
            *checked_at,
            *service,
            i64::from(*location),
            record.scheduled_at.ms(),
            i64::from(measurement.status.code()),
            i64::from(record.attempt),
            i64::from(record.role.code()),
        ];
        numbers.into_iter().for_each(|number| columns.number(Some(number)));
        columns.number(status_code(measurement).map(i64::from));
        measurement
            .durations()
            .into_iter()
            .for_each(|time| columns.number(time.map(to_column).map(i64::from)));
        columns.number(failure.map(|failure| i64::from(failure.code.code())));
        columns.text(failure.map(|failure| &*failure.message));
    }
    columns
}

/// Bucket, start, service and number of the location of a result: the key of its row.
type Key = (i16, i64, ServiceKey, i32);

fn in_order<'a>(
    records: &'a [CheckRecord],
    locations: &LocationNumbers,
) -> Result<Vec<(Key, &'a CheckRecord)>, HistoryError> {
    let keyed = records.iter().map(|record| {
        let location = locations.number(&record.location)?;
        Ok(((bucket_of(record.service), record.checked_at.ms(), record.service, location), record))
    });
    let mut keyed = keyed.collect::<Result<Vec<_>, HistoryError>>()?;
    keyed.sort_unstable_by_key(|(key, _)| *key);
    Ok(keyed)
}

/// Appends status changes. Rows that exist already are left as they are.
///
/// # Errors
/// When the database fails.
pub async fn changes(
    connection: &impl ConnectionTrait,
    changes: &[StatusChange],
) -> Result<(), HistoryError> {
    let backend = connection.get_database_backend();
    for chunk in chunks(changes, CHUNK_MAX_ROWS) {
        let values: Vec<Value> = chunk
            .iter()
            .flat_map(|change| {
                [
                    Value::from(change.service),
                    change.at.ms().into(),
                    change.from.code().into(),
                    change.to.code().into(),
                    change.cause.code().into(),
                ]
            })
            .collect();
        let text = insert_text(backend, "status_change", CHANGE_COLUMNS, chunk.len(), CHANGE_WIDTH);
        connection.execute_raw(Statement::from_sql_and_values(backend, text, values)).await?;
    }
    Ok(())
}

fn push_check(values: &mut Vec<Value>, (bucket, checked_at, service, location): Key, record: &CheckRecord) {
    let measurement = &record.measurement;
    let failure = measurement.failure.as_deref();
    values.extend([
        Value::from(bucket),
        checked_at.into(),
        service.into(),
        location.into(),
        record.scheduled_at.ms().into(),
        measurement.status.code().into(),
        i16::from(record.attempt).into(),
        i16::from(record.role.code()).into(),
        status_code(measurement).into(),
    ]);
    values.extend(measurement.durations().map(|time| Value::from(time.map(to_column))));
    values.push(failure.map(|failure| failure.code.code()).into());
    values.push(failure.map(|failure| failure.message.to_string()).into());
}

fn status_code(measurement: &Measurement) -> Option<i16> {
    measurement.status_code.and_then(|code| i16::try_from(code).ok())
}

fn to_column(duration: Micros) -> i32 {
    i32::try_from(duration.get()).unwrap_or(i32::MAX)
}
