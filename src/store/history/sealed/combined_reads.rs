//! Reads from several segments with one statement. Segments of PostgreSQL are tables of one database, so a read takes one
//! round trip, however many segments it covers.

use sea_orm::{ConnectionTrait as _, DbBackend, DbErr, QueryResult, Statement, Value};

use super::{BlockSummary, CheckSeries, KeyParameters, SealedRollup, listed};
use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::segments::storage::OpenSegment;

/// An item that was read from one of several segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentItem<T> {
    /// Index of the segment in the list that was read.
    pub index: usize,
    /// The item.
    pub item: T,
}

/// The blocks of a service that overlap `[from, to)`, in no particular order. If `statuses` is not empty, only blocks that
/// contain a check with one of them.
///
/// # Errors
///
/// Also when a segment is dropped meanwhile.
pub async fn summaries(
    segments: &[OpenSegment],
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
    statuses: &[CheckStatus],
) -> Result<Vec<SegmentItem<BlockSummary>>, HistoryError> {
    let held: Vec<String> = statuses.iter().map(|status| format!("{} > 0", status.as_str())).collect();
    let held = if held.is_empty() { String::new() } else { format!(" AND ({})", held.join(" OR ")) };
    let shared = [service.into(), from.ms().into(), to.ms().into()];
    let rows = read(segments, &shared, |OpenSegment { segment, opened }, batch| {
        let text = format!(
            "service_id, location_id, first_at, last_at, up, degraded, down FROM {} \
            WHERE service_id = $1 AND last_at >= $2 AND first_at < $3 AND batch <= ${batch}{held}",
            opened.blocks
        );
        (text, vec![segment.sealed_batch.into()])
    });
    found(&rows.await?, super::summary)
}

/// The rollups of these services that overlap `[from, to)`, in no particular order.
///
/// # Errors
///
/// Also when a segment is dropped meanwhile.
pub async fn rollups(
    segments: &[OpenSegment],
    services: &[ServiceKey],
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<SegmentItem<SealedRollup>>, HistoryError> {
    if services.is_empty() {
        return Ok(Vec::new());
    }
    let KeyParameters { placeholders, values: services, .. } = listed(2, services);
    let shared: Vec<Value> = std::iter::once(to.ms().into()).chain(services).collect();
    let rows = read(segments, &shared, |OpenSegment { segment, opened }, start| {
        let text = format!(
            "service_id, location_id, start, body FROM {} \
            WHERE service_id IN ({placeholders}) AND start < $1 AND start >= ${start} AND batch <= ${}",
            opened.rollups,
            start + 1
        );
        let from = segment.purpose.level.rollups().start_of(from);
        (text, vec![from.ms().into(), segment.sealed_batch.into()])
    });
    found(&rows.await?, |row, column| {
        Ok(SealedRollup {
            series: CheckSeries {
                service: row.try_get_by_index(column)?,
                location: row.try_get_by_index(column + 1)?,
            },
            start: Timestamp::from_ms(row.try_get_by_index(column + 2)?),
            body: row.try_get_by_index(column + 3)?,
        })
    })
}

/// Reads from all segments with one statement. The parameters in `shared` come first. For each segment, `part` is called
/// with the number of the next parameter, and returns the text after `SELECT` and the values of the segment's own
/// parameters.
async fn read(
    segments: &[OpenSegment],
    shared: &[Value],
    part: impl Fn(&OpenSegment, usize) -> (String, Vec<Value>),
) -> Result<Vec<QueryResult>, HistoryError> {
    let Some(OpenSegment { opened, .. }) = segments.first() else { return Ok(Vec::new()) };
    let backend = opened.connection.get_database_backend();
    if segments.len() > 1 && backend != DbBackend::Postgres {
        // Tables in segment files have the same names, so a combined statement would read one file several times.
        return Err(DbErr::Custom("segments in files are read one by one".into()).into());
    }
    let mut values = shared.to_vec();
    let mut parts = Vec::with_capacity(segments.len());
    for (index, segment) in segments.iter().enumerate() {
        let (text, own) = part(segment, values.len() + 1);
        parts.push(format!("SELECT {index}, {text}"));
        values.extend(own);
    }
    let statement = Statement::from_sql_and_values(backend, parts.join(" UNION ALL "), values);
    Ok(opened.connection.query_all_raw(statement).await?)
}

fn found<T>(
    rows: &[QueryResult],
    item: impl Fn(&QueryResult, usize) -> Result<T, DbErr>,
) -> Result<Vec<SegmentItem<T>>, HistoryError> {
    let found = |row| {
        let index: i32 = QueryResult::try_get_by_index(row, 0)?;
        Ok(SegmentItem { index: usize::try_from(index).unwrap_or_default(), item: item(row, 1)? })
    };
    rows.iter().map(found).collect::<Result<_, DbErr>>().map_err(Into::into)
}
