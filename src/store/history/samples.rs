//! Results reduced to the few columns that figures need, oldest first.

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, FromQueryResult, QueryFilter, QuerySelect};
use watchkeeper_entities::fresh_check::Column;

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::CheckSample;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::blocks::BlockBody;
use crate::store::history::fresh_checks::of_service;
use crate::store::history::sealed::{self, BlockSummary, combined_reads};
use crate::store::history::segments::storage::OpenSegment;

/// Maximum number of blocks whose bodies are in memory at a time.
const BLOCKS_AT_ONCE: usize = 64;

/// The fresh samples of a service in `[from, to)`, oldest first, from these location numbers; `None` = all locations.
pub async fn fresh(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    span: TimeRange,
    locations: Option<&[i32]>,
) -> Result<Vec<CheckSample>, HistoryError> {
    let mut query = of_service(service, span).select_only().columns([
        Column::CheckedAt,
        Column::LocationId,
        Column::Status,
        Column::Role,
        Column::ResponseUs,
    ]);
    if let Some(numbers) = locations {
        query = query.filter(Column::LocationId.is_in(numbers.iter().copied()));
    }
    let rows = query.into_model::<SampleRow>().all(&connection).await?;
    Ok(rows.into_iter().rev().map(CheckSample::from).collect())
}

/// The sealed samples of a service in `[from, to)` from one segment, oldest first.
///
/// # Errors
///
/// Also when the segment is dropped meanwhile.
pub async fn sealed(
    open: &OpenSegment,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<CheckSample>, HistoryError> {
    let mut samples = Vec::new();
    let OpenSegment { segment, opened } = open;
    let summaries =
        combined_reads::summaries(std::slice::from_ref(open), service, TimeRange { from, to }, &[]).await?;
    let summaries: Vec<BlockSummary> = summaries.into_iter().map(|found| found.item).collect();
    // A few at a time: all bodies of a long time range would need too much memory.
    for part in summaries.chunks(BLOCKS_AT_ONCE) {
        let bodies = sealed::bodies(opened, segment, part).await?;
        for (summary, bytes) in part.iter().zip(&bodies) {
            let found = BlockBody::open(bytes).and_then(|body| body.samples(summary.series.location));
            let found = found.map_err(|error| sealed::damaged(summary, &error))?;
            samples.extend(found.into_iter().filter(|sample| (from..to).contains(&sample.checked_at)));
        }
    }
    samples.sort_by_key(|sample| sample.checked_at);
    Ok(samples)
}

#[derive(FromQueryResult)]
struct SampleRow {
    checked_at: i64,
    location_id: i32,
    status: i16,
    role: i16,
    response_us: Option<i32>,
}

impl From<SampleRow> for CheckSample {
    fn from(row: SampleRow) -> Self {
        let answered_in_full = row.response_us.filter(|_| row.role == 0);
        Self {
            checked_at: Timestamp::from_ms(row.checked_at),
            location: row.location_id,
            is_down: row.status == CheckStatus::Down.code(),
            response_us: answered_in_full.and_then(|us| u32::try_from(us).ok()),
        }
    }
}
