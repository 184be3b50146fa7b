//! The votes of all locations on a service in a time range, read from rows and blocks, reduced to what verdicts need.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::fresh_check::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::model::verdict::LocationVote;
use crate::store::error::HistoryError;
use crate::store::history::blocks::BlockBody;
use crate::store::history::fresh_checks::{bucket_of, of_service};
use crate::store::history::sealed::combined_reads::{self, SegmentItem};
use crate::store::history::segments::Segment;
use crate::store::history::segments::SegmentScope;
use crate::store::history::segments::storage::OpenSegment;
use crate::store::history::{HistorySnapshot, sealed};

/// The votes on a service in `[from, to)`, each with the number of its location, oldest first.
pub async fn of_span(
    snapshot: &HistorySnapshot,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<(i32, LocationVote)>, HistoryError> {
    let mut votes = fresh(snapshot, service, TimeRange { from, to }).await?;
    let touches = |purpose: &SegmentScope| purpose.from < to && purpose.to > from;
    let segments: Vec<Segment> =
        snapshot.segments.iter().filter(|segment| touches(&segment.purpose)).copied().collect();
    for segments in segments.chunks(snapshot.storage.pace().together) {
        let open = snapshot.storage.open(segments).await?;
        let summaries = combined_reads::summaries(&open, service, TimeRange { from, to }, &[]).await?;
        for SegmentItem { index, item: summary } in summaries {
            let OpenSegment { segment, opened } = &open[index];
            let bytes = sealed::body(opened, segment, &summary).await?;
            let found = BlockBody::open(&bytes).and_then(|body| body.votes());
            let found = found.map_err(|error| sealed::damaged(&summary, &error))?;
            let inside = found.into_iter().filter(|vote| (from..to).contains(&vote.checked_at));
            votes.extend(inside.map(|vote| (summary.series.location, vote)));
        }
    }
    votes.sort_unstable_by_key(|(location, vote)| (vote.checked_at, *location));
    Ok(votes)
}

/// Returns the start of a service's oldest result; `None` if it has no results.
pub async fn first_at(
    snapshot: &HistorySnapshot,
    service: ServiceKey,
) -> Result<Option<Timestamp>, HistoryError> {
    let always = TimeRange { from: Timestamp::from_ms(i64::MIN), to: Timestamp::from_ms(i64::MAX) };
    let query = Entity::find().select_only().column(Column::CheckedAt);
    let query = query.filter(Column::Bucket.eq(bucket_of(service))).filter(Column::ServiceId.eq(service));
    let oldest = query.order_by_asc(Column::CheckedAt).limit(1).into_tuple::<i64>().one(&snapshot.rows);
    let mut first = oldest.await?.map(Timestamp::from_ms);
    // The segments are sorted from newest to oldest.
    for segment in snapshot.segments.iter().rev() {
        if first.is_some_and(|first| first <= segment.purpose.from) {
            continue;
        }
        let open = snapshot.storage.open(std::slice::from_ref(segment)).await?;
        let summaries = combined_reads::summaries(&open, service, always, &[]).await?;
        first = summaries.iter().map(|found| found.item.first_at).chain(first).min();
    }
    Ok(first)
}

async fn fresh(
    snapshot: &HistorySnapshot,
    service: ServiceKey,
    span: TimeRange,
) -> Result<Vec<(i32, LocationVote)>, HistoryError> {
    let columns = [Column::LocationId, Column::Status, Column::CheckedAt];
    let query = of_service(service, span).select_only().columns(columns);
    let rows: Vec<(i32, i16, i64)> = query.into_tuple().all(&snapshot.rows).await?;
    let vote = |(location, status, at)| {
        let status = CheckStatus::from_code(status)
            .ok_or_else(|| HistoryError::corrupt("fresh_check", &at, &"unknown status"))?;
        Ok((location, LocationVote { status, checked_at: Timestamp::from_ms(at) }))
    };
    rows.into_iter().map(vote).collect()
}
