//! What lies in a segment: blocks of checks, and rollups of them.
//!
//! Rows are written under a batch and count only once the catalogue says so ([`segments::publish`]); every reader asks for
//! batches up to the sealed one. A block is named by its series and its last check.
//!
//! [`segments::publish`]: crate::store::history::segments::publish

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement, TransactionTrait as _, Value};

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::StoreError;
use crate::store::history::blocks::{Block, BlockError};
use crate::store::history::insert::{chunks, insert_text};
use crate::store::history::segments::place::Door;
use crate::store::history::segments::{Segment, SegmentId};

const BLOCK_COLUMNS: &str =
    "segment, batch, service_id, location_id, first_at, last_at, up, degraded, down, body";
const BLOCK_WIDTH: usize = 10;
const ROLLUP_COLUMNS: &str = "segment, batch, service_id, location_id, start, body";
const ROLLUP_WIDTH: usize = 6;
/// Most rows per statement.
const CHUNK_MAX_ROWS: usize = 256;

/// The results of one service from one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// The service.
    pub service: ServiceKey,
    /// Number of the location.
    pub location: i32,
}

/// A rollup of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRollup {
    /// The series.
    pub series: Series,
    /// Start of the hour or day.
    pub start: Timestamp,
    /// Its sums and those of its parts; `stats::rollup` reads it.
    pub body: Vec<u8>,
}

/// What goes into a segment together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Blocks.
    pub blocks: Vec<(Series, Block)>,
    /// Rollups of the same checks.
    pub rollups: Vec<SealedRollup>,
}

impl Sealed {
    /// Bytes of everything in it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|(_, block)| block.body.len());
        blocks.chain(self.rollups.iter().map(|rollup| rollup.body.len())).sum()
    }
}

/// What is known of a block without reading its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The series.
    pub series: Series,
    /// Start of its first check.
    pub first_at: Timestamp,
    /// Start of its last check.
    pub last_at: Timestamp,
    /// Checks that were up.
    pub up: u32,
    /// Checks that were degraded.
    pub degraded: u32,
    /// Checks that were down.
    pub down: u32,
}

/// Writes into a segment under a batch that does not count yet.
///
/// # Errors
/// When the database fails.
pub async fn write(
    door: &Door,
    (segment, batch): (SegmentId, i64),
    sealed: &Sealed,
) -> Result<(), StoreError> {
    let connection = door.connection.begin().await?;
    let backend = connection.get_database_backend();
    for chunk in chunks(&sealed.blocks, CHUNK_MAX_ROWS) {
        let values = chunk.iter().flat_map(|(series, block)| block_values((segment, batch), *series, block));
        let text = insert_text(backend, &door.blocks, BLOCK_COLUMNS, (chunk.len(), BLOCK_WIDTH));
        let statement = Statement::from_sql_and_values(backend, text, values.collect::<Vec<_>>());
        connection.execute_raw(statement).await?;
    }
    for chunk in chunks(&sealed.rollups, CHUNK_MAX_ROWS) {
        let values = chunk.iter().flat_map(|rollup| {
            let Series { service, location } = rollup.series;
            let key =
                [segment.into(), batch.into(), service.into(), location.into(), rollup.start.ms().into()];
            key.into_iter().chain([Value::from(rollup.body.clone())])
        });
        let text = insert_text(backend, &door.rollups, ROLLUP_COLUMNS, (chunk.len(), ROLLUP_WIDTH));
        let statement = Statement::from_sql_and_values(backend, text, values.collect::<Vec<_>>());
        connection.execute_raw(statement).await?;
    }
    Ok(connection.commit().await?)
}

fn block_values((segment, batch): (SegmentId, i64), series: Series, block: &Block) -> [Value; BLOCK_WIDTH] {
    let count = |count: u32| Value::from(i32::try_from(count).unwrap_or(i32::MAX));
    [
        segment.into(),
        batch.into(),
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

/// Removes what was written for a batch that never came to count.
///
/// # Errors
/// When the database fails.
pub async fn purge(door: &Door, sealed_batch: i64) -> Result<(), StoreError> {
    for table in [&door.blocks, &door.rollups] {
        let text = format!("DELETE FROM {table} WHERE batch > $1");
        door.connection.execute_raw(statement(door, text, [sealed_batch.into()])).await?;
    }
    Ok(())
}

/// Removes everything of a service.
///
/// # Errors
/// When the database fails.
pub async fn erase(door: &Door, service: ServiceKey) -> Result<(), StoreError> {
    for table in [&door.blocks, &door.rollups] {
        let text = format!("DELETE FROM {table} WHERE service_id = $1");
        door.connection.execute_raw(statement(door, text, [service.into()])).await?;
    }
    Ok(())
}

/// The blocks of a service that have checks in `[from, to)`, those with the newest last check first.
///
/// # Errors
/// When the database fails or the segment is gone.
pub async fn outlines(
    door: &Door,
    segment: &Segment,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<Outline>, StoreError> {
    let text = format!(
        "SELECT service_id, location_id, first_at, last_at, up, degraded, down FROM {} \
        WHERE service_id = $1 AND last_at >= $2 AND first_at < $3 AND batch <= $4 ORDER BY last_at DESC",
        door.blocks
    );
    let values = [service.into(), from.ms().into(), to.ms().into(), segment.sealed_batch.into()];
    let rows = door.connection.query_all_raw(statement(door, text, values)).await?;
    rows.iter().map(|row| outline(row).map_err(StoreError::from)).collect()
}

/// The body of a block.
///
/// # Errors
/// When the database fails, or the block or segment is gone.
pub async fn body(door: &Door, segment: &Segment, outline: &Outline) -> Result<Vec<u8>, StoreError> {
    let text = format!(
        "SELECT body FROM {} WHERE service_id = $1 AND last_at = $2 AND location_id = $3 AND batch <= $4",
        door.blocks
    );
    let Series { service, location } = outline.series;
    let values = [service.into(), outline.last_at.ms().into(), location.into(), segment.sealed_batch.into()];
    let row = door.connection.query_one_raw(statement(door, text, values)).await?;
    let gone = || StoreError::corrupt("check_block", &outline.last_at, &"the block is gone");
    Ok(row.ok_or_else(gone)?.try_get_by_index(0)?)
}

/// The next services above `after` that have blocks in a segment, at most `most`.
///
/// # Errors
/// When the database fails or the segment is gone.
pub async fn services_after(
    door: &Door,
    segment: &Segment,
    after: ServiceKey,
    most: u64,
) -> Result<Vec<ServiceKey>, StoreError> {
    let text = format!(
        "SELECT DISTINCT service_id FROM {} WHERE service_id > $1 AND batch <= $2 ORDER BY service_id LIMIT {most}",
        door.blocks
    );
    let values = [after.into(), segment.sealed_batch.into()];
    let rows = door.connection.query_all_raw(statement(door, text, values)).await?;
    rows.iter().map(|row| row.try_get_by_index(0).map_err(StoreError::from)).collect()
}

/// All blocks of the services from `first` to `last`, by series and time.
///
/// # Errors
/// When the database fails or the segment is gone.
pub async fn blocks_of(
    door: &Door,
    segment: &Segment,
    (first, last): (ServiceKey, ServiceKey),
) -> Result<Vec<(Outline, Vec<u8>)>, StoreError> {
    let text = format!(
        "SELECT service_id, location_id, first_at, last_at, up, degraded, down, body FROM {} \
        WHERE service_id >= $1 AND service_id <= $2 AND batch <= $3 ORDER BY service_id, location_id, first_at",
        door.blocks
    );
    let values = [first.into(), last.into(), segment.sealed_batch.into()];
    let rows = door.connection.query_all_raw(statement(door, text, values)).await?;
    rows.iter()
        .map(|row| Ok((outline(row)?, row.try_get_by_index(7)?)))
        .collect::<Result<_, DbErr>>()
        .map_err(Into::into)
}

/// The rollups of a service that start in `[from, to)`, oldest first.
///
/// # Errors
/// When the database fails or the segment is gone.
pub async fn rollups(
    door: &Door,
    segment: &Segment,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<SealedRollup>, StoreError> {
    let text = format!(
        "SELECT location_id, start, body FROM {} \
        WHERE service_id = $1 AND start >= $2 AND start < $3 AND batch <= $4 ORDER BY start",
        door.rollups
    );
    let values = [service.into(), from.ms().into(), to.ms().into(), segment.sealed_batch.into()];
    let rows = door.connection.query_all_raw(statement(door, text, values)).await?;
    let rollup = |row: &QueryResult| {
        Ok(SealedRollup {
            series: Series { service, location: row.try_get_by_index(0)? },
            start: Timestamp::from_ms(row.try_get_by_index(1)?),
            body: row.try_get_by_index(2)?,
        })
    };
    rows.iter().map(rollup).collect::<Result<_, DbErr>>().map_err(Into::into)
}

/// A block that cannot be read.
#[must_use]
pub fn damaged(outline: &Outline, error: &BlockError) -> StoreError {
    StoreError::corrupt("check_block", &format!("{:?} until {}", outline.series, outline.last_at), error)
}

fn statement(door: &Door, text: String, values: impl IntoIterator<Item = Value>) -> Statement {
    let backend: DbBackend = door.connection.get_database_backend();
    Statement::from_sql_and_values(backend, text, values)
}

fn outline(row: &QueryResult) -> Result<Outline, DbErr> {
    let count =
        |place| row.try_get_by_index::<i32>(place).map(|count| u32::try_from(count).unwrap_or_default());
    Ok(Outline {
        series: Series { service: row.try_get_by_index(0)?, location: row.try_get_by_index(1)? },
        first_at: Timestamp::from_ms(row.try_get_by_index(2)?),
        last_at: Timestamp::from_ms(row.try_get_by_index(3)?),
        up: count(4)?,
        degraded: count(5)?,
        down: count(6)?,
    })
}
