//! Writing the contents of a segment, and deleting them.

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};

use crate::model::service::ServiceKey;
use crate::store::error::HistoryError;
use crate::store::history::blocks::CheckBlock;
use crate::store::history::insert::{chunks, insert_text};
use crate::store::history::sealed::contents::{BatchKey, CheckSeries, SegmentContents};
use crate::store::history::segments::storage::SegmentConnection;

const BLOCK_COLUMNS: &str =
    "segment, batch, service_id, location_id, first_at, last_at, up, degraded, down, body";
const BLOCK_WIDTH: usize = 10;
const ROLLUP_COLUMNS: &str = "segment, batch, service_id, location_id, start, body";
const ROLLUP_WIDTH: usize = 6;
/// Maximum number of rows per statement.
const CHUNK_MAX_ROWS: usize = 256;

/// Writes contents to a segment under a batch that has not been published yet.
pub async fn write(
    opened: &SegmentConnection,
    batch: BatchKey,
    sealed: &SegmentContents,
) -> Result<(), HistoryError> {
    let connection = opened.connection.begin().await?;
    let backend = connection.get_database_backend();
    for chunk in chunks(&sealed.blocks, CHUNK_MAX_ROWS) {
        let values = chunk.iter().flat_map(|(series, block)| block_values(batch, *series, block));
        let text = insert_text(backend, &opened.blocks, BLOCK_COLUMNS, chunk.len(), BLOCK_WIDTH);
        let statement = Statement::from_sql_and_values(backend, text, values.collect::<Vec<_>>());
        connection.execute_raw(statement).await?;
    }
    for chunk in chunks(&sealed.rollups, CHUNK_MAX_ROWS) {
        let values = chunk.iter().flat_map(|rollup| {
            let CheckSeries { service, location } = rollup.series;
            let key = [
                batch.segment.into(),
                batch.number.into(),
                service.into(),
                location.into(),
                rollup.start.ms().into(),
            ];
            key.into_iter().chain([Value::from(rollup.body.clone())])
        });
        let text = insert_text(backend, &opened.rollups, ROLLUP_COLUMNS, chunk.len(), ROLLUP_WIDTH);
        let statement = Statement::from_sql_and_values(backend, text, values.collect::<Vec<_>>());
        connection.execute_raw(statement).await?;
    }
    Ok(connection.commit().await?)
}

fn block_values(batch: BatchKey, series: CheckSeries, block: &CheckBlock) -> [Value; BLOCK_WIDTH] {
    let count = |count: u32| Value::from(i32::try_from(count).unwrap_or(i32::MAX));
    [
        batch.segment.into(),
        batch.number.into(),
        series.service.into(),
        series.location.into(),
        block.first_at.ms().into(),
        block.last_at.ms().into(),
        count(block.up),
        count(block.degraded),
        count(block.down),
        block.body.clone().into(),
    ]
}

/// Deletes the rows of batches above `sealed_batch`, which were never published.
pub async fn purge(opened: &SegmentConnection, sealed_batch: i64) -> Result<(), HistoryError> {
    for table in [&opened.blocks, &opened.rollups] {
        // Leftover rows were written last, so SQLite finds them by row id; PostgreSQL has an index by batch.
        let text = match opened.connection.get_database_backend() {
            DbBackend::Sqlite => format!(
                "DELETE FROM {table} WHERE rowid > COALESCE( \
                (SELECT rowid FROM {table} WHERE batch <= $1 ORDER BY rowid DESC LIMIT 1), 0)"
            ),
            _ => format!("DELETE FROM {table} WHERE batch > $1"),
        };
        opened.connection.execute_raw(opened.statement(text, [sealed_batch.into()])).await?;
    }
    Ok(())
}

/// Deletes all blocks and rollups of a service from the segment.
pub async fn erase(opened: &SegmentConnection, service: ServiceKey) -> Result<(), HistoryError> {
    for table in [&opened.blocks, &opened.rollups] {
        let text = format!("DELETE FROM {table} WHERE service_id = $1");
        opened.connection.execute_raw(opened.statement(text, [service.into()])).await?;
    }
    Ok(())
}
