//! Appends results and status changes. Each statement holds many rows, and there are few distinct statement texts, so
//! that each is prepared only once. On PostgreSQL the results of a batch are sent in the binary copy format, at half
//! the cost of the best `INSERT`.
//!
//! Writing a batch again changes nothing: a result is identified by service, time and location. Each row belongs to the
//! bucket of its service, and rows are sent in the order of their keys, so that a commit touches few pages.

use sea_orm::{ConnectionTrait, DbBackend, SqlErr, Statement, Value};

use crate::model::check::{Measurement, Micros};
use crate::model::history::{CheckRecord, StatusChange};
use crate::model::service::ServiceKey;
use crate::store::binary_rows::BinaryRows;
use crate::store::connection::StoreConnection;
use crate::store::error::HistoryError;
use crate::store::history::fresh_checks::bucket_of;
use crate::store::history::insert::{chunks, insert_text};
use crate::store::history::late_results;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::segments::storage::SegmentStorage;
use crate::store::transaction::Transaction;

const CHECK_COLUMNS: &str = "bucket, checked_at, service_id, location_id, scheduled_at, status, attempt, role, status_code, \
    response_us, dns_us, connect_us, tls_us, ttfb_us, transfer_us, total_us, error_code, error_message";
const CHECK_WIDTH: u8 = 18;
const CHANGE_COLUMNS: &str = "service_id, at, from_status, to_status, cause";
const CHANGE_WIDTH: usize = 5;

/// Maximum number of rows per statement: 1,024 rows of 18 values stay below SQLite's limit of 32,766 values.
const CHUNK_MAX_ROWS: usize = 1_024;

/// Number of rows that are sent to PostgreSQL at a time: it inserts them while the next ones are encoded.
const PART_ROWS: usize = 512;

/// Appends finished checks in a transaction. Returns the number of new ones; checks that are already stored, as rows or
/// in blocks, are left unchanged.
///
/// # Errors
///
/// Also when a location has no number yet.
pub async fn checks(
    transaction: &Transaction<HistoryError>,
    storage: &SegmentStorage,
    records: &[CheckRecord],
    locations: &LocationNumbers,
) -> Result<u64, HistoryError> {
    let records = late_results::unsealed(transaction, storage, records, locations).await?;
    let rows = in_order(&records, locations)?;
    let backend = transaction.get_database_backend();
    if backend == DbBackend::Postgres
        && let Some(stored) = copy(transaction, &rows).await?
    {
        return Ok(stored);
    }
    let mut stored = 0;
    for chunk in chunks(&rows, CHUNK_MAX_ROWS) {
        let mut values = Vec::with_capacity(chunk.len() * usize::from(CHECK_WIDTH));
        for (key, record) in chunk {
            push_check(&mut values, *key, record);
        }
        let text = insert_text(backend, "fresh_check", CHECK_COLUMNS, chunk.len(), CHECK_WIDTH.into());
        let done = transaction.execute_raw(Statement::from_sql_and_values(backend, text, values)).await?;
        stored += done.rows_affected();
    }
    Ok(stored)
}

/// Sends all rows to PostgreSQL in one `COPY` and returns their number. `None` if one of the rows exists already, which is
/// rare; `COPY` cannot skip it.
async fn copy(
    transaction: &Transaction<HistoryError>,
    rows: &[(Key, &CheckRecord)],
) -> Result<Option<u64>, HistoryError> {
    if rows.is_empty() {
        return Ok(Some(0));
    }
    let text = format!("COPY fresh_check ({CHECK_COLUMNS}) FROM STDIN (FORMAT binary)");
    transaction.execute_unprepared("SAVEPOINT all_are_new").await?;
    let copied = match transaction.copy_in(&text, Box::new(binary(rows))).await {
        Err(error) if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) => {
            transaction.execute_unprepared("ROLLBACK TO SAVEPOINT all_are_new").await?;
            None
        }
        copied => Some(copied?),
    };
    transaction.execute_unprepared("RELEASE SAVEPOINT all_are_new").await?;
    Ok(copied)
}

/// The rows in the binary copy format, in parts of `PART_ROWS` rows.
fn binary(rows: &[(Key, &CheckRecord)]) -> impl Iterator<Item = Vec<u8>> {
    let mut binary = BinaryRows::new(CHECK_WIDTH.into());
    let mut parts = rows.chunks(PART_ROWS);
    std::iter::from_fn(move || {
        for (key, record) in parts.next()? {
            put_check(&mut binary, *key, record);
        }
        if parts.len() == 0 {
            binary.end();
        }
        Some(binary.take())
    })
}

fn put_check(binary: &mut BinaryRows, (bucket, checked_at, service, location): Key, record: &CheckRecord) {
    let measurement = &record.measurement;
    let failure = measurement.failure.as_deref();
    binary.begin_row();
    binary.put(bucket);
    binary.put(checked_at);
    binary.put(service);
    binary.put(location);
    binary.put(record.scheduled_at.ms());
    binary.put(measurement.status.code());
    binary.put(i16::from(record.attempt));
    binary.put(i16::from(record.role.code()));
    binary.put(status_code(measurement));
    measurement.durations().into_iter().for_each(|time| binary.put(time.map(to_column)));
    binary.put(failure.map(|failure| failure.code.code()));
    binary.put(failure.map(|failure| &*failure.message));
}

/// Key of the row of a result: bucket, start in milliseconds, service, and number of the location.
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

/// Appends status changes. Rows that already exist are left unchanged.
pub async fn changes(connection: &dyn StoreConnection, changes: &[StatusChange]) -> Result<(), HistoryError> {
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
