//! The floor: the same results as plain rows with an index, on the same disk, equally durable.
//!
//! One table with a row per result and an index by service and time. Transactions have as many rows as the recorder's,
//! with many rows per statement.

use anyhow::Context as _;
use indicatif::ProgressBar;
use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};
use tokio::time::Instant;

use crate::bench::history::fleet::SimulatedFleet;
use crate::bench::history::ingest::IngestCost;
use crate::bench::history::plan::HistoryBenchPlan;
use crate::bench::history::storage::BenchStorage;
use crate::bench::usage;
use crate::config::Config;
use crate::model::check::Micros;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::store::Database;

const TABLE: &str = "CREATE TABLE plain_check (service_id BIGINT NOT NULL, location_id INTEGER NOT NULL, \
    checked_at BIGINT NOT NULL, scheduled_at BIGINT NOT NULL, status SMALLINT NOT NULL, attempt SMALLINT NOT NULL, \
    role SMALLINT NOT NULL, status_code SMALLINT, response_us INTEGER, dns_us INTEGER, connect_us INTEGER, \
    tls_us INTEGER, ttfb_us INTEGER, transfer_us INTEGER, total_us INTEGER, error_code SMALLINT, error_message TEXT)";
const INDEX: &str = "CREATE INDEX plain_check_by_service ON plain_check (service_id, checked_at DESC)";
const WIDTH: usize = 17;
/// Rows per statement.
const ROWS: usize = 1_024;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainRowFigures {
    /// The cost until the rows were durable.
    pub(super) spent: IngestCost,
    /// Bytes of the rows, including the index.
    pub(super) bytes: u64,
}

pub(super) async fn measure(
    plan: &HistoryBenchPlan,
    config: &Config,
    bar: &ProgressBar,
) -> anyhow::Result<PlainRowFigures> {
    let storage = BenchStorage::new(config)?;
    let database = storage.open_plain(config).await?;
    let empty_bytes = storage.plain_bytes(database.reader()).await?;
    let transaction = database.begin().await?;
    for text in [TABLE, INDEX] {
        transaction.execute_unprepared(text).await?;
    }
    transaction.commit().await?;
    let rows_per_commit = config.record.rows_per_commit as u64;
    let codes = plan.codes()?;
    let mut fleet = SimulatedFleet::new(plan)?;
    let (mut spent, mut left) = (IngestCost::default(), plan.plain_results());
    while left > 0 {
        let size = left.min(rows_per_commit);
        let checks = fleet.batch(usize::try_from(size)?).checks;
        let (started, cpu) = (Instant::now(), usage::cpu()?);
        write(&database, &checks, &codes).await?;
        spent +=
            IngestCost { results: size, elapsed: started.elapsed(), cpu: usage::cpu()?.saturating_sub(cpu) };
        left -= size;
        bar.inc(size);
    }
    let mut bytes = storage.plain_bytes(database.reader()).await?;
    if !storage.is_sqlite() {
        database.reader().execute_unprepared("DROP TABLE plain_check").await?;
    }
    database.close().await;
    if storage.is_sqlite() {
        bytes = storage.plain_file_bytes()?;
    }
    Ok(PlainRowFigures { spent, bytes: bytes.saturating_sub(empty_bytes) })
}

async fn write(database: &Database, checks: &[CheckRecord], codes: &[LocationCode]) -> anyhow::Result<()> {
    let transaction = database.begin().await?;
    let backend = transaction.get_database_backend();
    for chunk in checks.chunks(ROWS) {
        let mut values = Vec::with_capacity(chunk.len() * WIDTH);
        for check in chunk {
            let location = codes.iter().position(|code| *code == check.location);
            push(&mut values, check, i32::try_from(location.context("an unknown location")?)?);
        }
        let statement = Statement::from_sql_and_values(backend, insert_text(backend, chunk.len()), values);
        transaction.execute_raw(statement).await?;
    }
    Ok(transaction.commit().await?)
}

fn insert_text(backend: DbBackend, rows: usize) -> String {
    let placeholder = |number: usize| match backend {
        DbBackend::Postgres => format!("${}", number + 1),
        _ => "?".to_owned(),
    };
    let row = |row: usize| {
        let placeholders: Vec<String> = (row * WIDTH..(row + 1) * WIDTH).map(placeholder).collect();
        format!("({})", placeholders.join(","))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("INSERT INTO plain_check VALUES {}", rows.join(","))
}

fn push(values: &mut Vec<Value>, check: &CheckRecord, location: i32) {
    let measurement = &check.measurement;
    let timings = &measurement.timings;
    let us = |time: Option<Micros>| Value::from(time.and_then(|time| i32::try_from(time.get()).ok()));
    let failure = measurement.failure.as_deref();
    values.extend([
        Value::from(check.service),
        location.into(),
        check.checked_at.ms().into(),
        check.scheduled_at.ms().into(),
        measurement.status.code().into(),
        i16::from(check.attempt).into(),
        0_i16.into(),
        measurement.status_code.and_then(|code| i16::try_from(code).ok()).into(),
        us(measurement.response_time),
        us(timings.dns),
        us(timings.connect),
        us(timings.tls),
        us(timings.ttfb),
        us(timings.transfer),
        us(timings.total),
        failure.map(|failure| failure.code.code()).into(),
        failure.map(|failure| failure.message.to_string()).into(),
    ]);
}
