//! The contents of segments: blocks of checks, and rollups of the same checks.
//!
//! Rows are written with a batch number and are valid only once the catalogue lists their batch ([`segments::publish`]).
//! Every reader ignores batches above the sealed one. A block is identified by its series and the start of its last
//! check.
//!
//! [`segments::publish`]: crate::store::history::segments::publish

pub mod combined_reads;
mod contents;
mod writing;

use std::collections::HashMap;
use std::fmt::Display;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};

pub use contents::{BatchKey, CheckSeries, SealedRollup, SegmentContents};
pub use writing::{erase, purge, write};

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::blocks::BlockError;
use crate::store::history::key_parameters::{KeyParameters, listed};
use crate::store::history::segments::Segment;
use crate::store::history::segments::storage::SegmentConnection;

/// Maximum number of bodies that are read per statement.
const BODIES_AT_ONCE: usize = 16;

/// The services from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceRange {
    /// The first service.
    pub first: ServiceKey,
    /// The last service.
    pub last: ServiceKey,
}

/// A block without its body: its series, time range and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Service and location of the checks.
    pub series: CheckSeries,
    /// Start of the first check.
    pub first_at: Timestamp,
    /// Start of the last check.
    pub last_at: Timestamp,
    /// Number of checks that were up.
    pub up: u32,
    /// Number of checks that were degraded.
    pub degraded: u32,
    /// Number of checks that were down.
    pub down: u32,
}

impl BlockSummary {
    /// Number of checks in the block.
    #[must_use]
    pub const fn checks(&self) -> usize {
        self.up as usize + self.degraded as usize + self.down as usize
    }
}

/// For each series of these services, the newest block that starts at or before `until`: of those that contain checks that are
/// up, and of those that do not, as both kinds may overlap.
///
/// # Errors
///
/// Also when the segment is dropped meanwhile.
pub async fn newest(
    opened: &SegmentConnection,
    segment: &Segment,
    services: &[ServiceKey],
    until: Timestamp,
) -> Result<Vec<BlockSummary>, HistoryError> {
    if services.is_empty() {
        return Ok(Vec::new());
    }
    let KeyParameters { placeholders, values: services, next } = listed(2, services);
    let text = format!(
        "SELECT b.service_id, b.location_id, b.first_at, b.last_at, b.up, b.degraded, b.down FROM {blocks} b JOIN \
        (SELECT service_id, location_id, MAX(last_at) AS last_at FROM {blocks} WHERE batch <= $1 \
        AND service_id IN ({placeholders}) AND first_at <= ${next} GROUP BY service_id, location_id, up > 0) n \
        ON b.service_id = n.service_id AND b.last_at = n.last_at AND b.location_id = n.location_id \
        WHERE b.batch <= $1",
        blocks = opened.blocks
    );
    let values = std::iter::once(segment.sealed_batch.into()).chain(services).chain([until.ms().into()]);
    let rows = opened.connection.query_all_raw(opened.statement(text, values)).await?;
    rows.iter().map(|row| summary(row, 0).map_err(HistoryError::from)).collect()
}

/// The blocks of several services that overlap `[from, to)`, in no particular order.
///
/// # Errors
///
/// Also when the segment is dropped meanwhile.
pub async fn summaries_of(
    opened: &SegmentConnection,
    segment: &Segment,
    services: &[ServiceKey],
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<BlockSummary>, HistoryError> {
    let parameters: Vec<String> = (4..services.len() + 4).map(|number| format!("${number}")).collect();
    let text = format!(
        "SELECT service_id, location_id, first_at, last_at, up, degraded, down FROM {} \
        WHERE service_id IN ({}) AND last_at >= $1 AND first_at < $2 AND batch <= $3",
        opened.blocks,
        parameters.join(",")
    );
    let span = [from.ms().into(), to.ms().into(), segment.sealed_batch.into()];
    let values = span.into_iter().chain(services.iter().map(|service| Value::from(*service)));
    let rows = opened.connection.query_all_raw(opened.statement(text, values)).await?;
    rows.iter().map(|row| summary(row, 0).map_err(HistoryError::from)).collect()
}

/// The body of a block.
///
/// # Errors
///
/// Also when the block or the segment is dropped meanwhile.
pub async fn body(
    opened: &SegmentConnection,
    segment: &Segment,
    summary: &BlockSummary,
) -> Result<Vec<u8>, HistoryError> {
    let found = bodies(opened, segment, std::slice::from_ref(summary)).await?;
    found.into_iter().next().ok_or_else(|| gone(summary))
}

/// The bodies of blocks, in the order of their summaries. All blocks must belong to the same service.
///
/// # Errors
///
/// Also when a block or the segment is dropped meanwhile.
pub async fn bodies(
    opened: &SegmentConnection,
    segment: &Segment,
    summaries: &[BlockSummary],
) -> Result<Vec<Vec<u8>>, HistoryError> {
    let mut bodies = Vec::with_capacity(summaries.len());
    for chunk in summaries.chunks(BODIES_AT_ONCE) {
        let times: Vec<i64> = chunk.iter().map(|summary| summary.last_at.ms()).collect();
        let KeyParameters { placeholders, values: times, .. } = listed(3, &times);
        let text = format!(
            "SELECT location_id, last_at, body FROM {} WHERE service_id = $1 AND batch <= $2 AND last_at IN ({placeholders})",
            opened.blocks
        );
        let service = chunk[0].series.service;
        let values = [service.into(), segment.sealed_batch.into()].into_iter().chain(times);
        let rows = opened.connection.query_all_raw(opened.statement(text, values)).await?;
        let mut found: HashMap<(i32, i64), &QueryResult> = HashMap::with_capacity(rows.len());
        for row in &rows {
            found.insert((row.try_get_by_index(0)?, row.try_get_by_index(1)?), row);
        }
        for summary in chunk {
            let row = found.get(&(summary.series.location, summary.last_at.ms()));
            bodies.push(row.ok_or_else(|| gone(summary))?.try_get_by_index(2)?);
        }
    }
    Ok(bodies)
}

fn gone(summary: &BlockSummary) -> HistoryError {
    HistoryError::corrupt("check_block", &summary.last_at, &"the block is gone")
}

/// The services with keys above `after` that have blocks in the segment, in ascending order, at most `most`.
///
/// # Errors
///
/// Also when the segment is dropped meanwhile.
pub async fn services_after(
    opened: &SegmentConnection,
    segment: &Segment,
    after: ServiceKey,
    most: u64,
) -> Result<Vec<ServiceKey>, HistoryError> {
    let text = format!(
        "SELECT DISTINCT service_id FROM {} WHERE service_id > $1 AND batch <= $2 ORDER BY service_id LIMIT {most}",
        opened.blocks
    );
    let values = [after.into(), segment.sealed_batch.into()];
    let rows = opened.connection.query_all_raw(opened.statement(text, values)).await?;
    rows.iter().map(|row| row.try_get_by_index(0).map_err(HistoryError::from)).collect()
}

/// All blocks of the services from `first` to `last`, sorted by series and time.
///
/// # Errors
///
/// Also when the segment is dropped meanwhile.
pub async fn blocks_of(
    opened: &SegmentConnection,
    segment: &Segment,
    ServiceRange { first, last }: ServiceRange,
) -> Result<Vec<(BlockSummary, Vec<u8>)>, HistoryError> {
    let text = format!(
        "SELECT service_id, location_id, first_at, last_at, up, degraded, down, body FROM {} \
        WHERE service_id >= $1 AND service_id <= $2 AND batch <= $3 ORDER BY service_id, location_id, first_at",
        opened.blocks
    );
    let values = [first.into(), last.into(), segment.sealed_batch.into()];
    let rows = opened.connection.query_all_raw(opened.statement(text, values)).await?;
    rows.iter()
        .map(|row| Ok((summary(row, 0)?, row.try_get_by_index(7)?)))
        .collect::<Result<_, DbErr>>()
        .map_err(Into::into)
}

/// The error for a block that cannot be decoded.
#[must_use]
pub fn damaged(summary: &BlockSummary, error: &BlockError) -> HistoryError {
    HistoryError::corrupt("check_block", &format!("{:?} until {}", summary.series, summary.last_at), error)
}

/// The error for a rollup that cannot be decoded.
#[must_use]
pub fn damaged_rollup(rollup: &SealedRollup, error: &dyn Display) -> HistoryError {
    HistoryError::corrupt("check_rollup", &format!("{:?} from {}", rollup.series, rollup.start), error)
}

/// Reads a summary from seven columns of a row, the first of which has the index `column`.
fn summary(row: &QueryResult, column: usize) -> Result<BlockSummary, DbErr> {
    let count = |nth| {
        let count: Result<i32, DbErr> = row.try_get_by_index(column + nth);
        count.map(|count| u32::try_from(count).unwrap_or_default())
    };
    Ok(BlockSummary {
        series: CheckSeries {
            service: row.try_get_by_index(column)?,
            location: row.try_get_by_index(column + 1)?,
        },
        first_at: Timestamp::from_ms(row.try_get_by_index(column + 2)?),
        last_at: Timestamp::from_ms(row.try_get_by_index(column + 3)?),
        up: count(4)?,
        degraded: count(5)?,
        down: count(6)?,
    })
}
