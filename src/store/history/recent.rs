//! The newest results, read when the engine starts, so that a restart keeps verdicts and detects the no-data period that
//! it caused.
//!
//! Nearly all of them are still rows and are read with few queries. Missing ones are looked up for many services at a
//! time: first in older rows, then in blocks. The summary of a block usually contains enough; its body is read only if
//! its checks have different statuses.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::fresh_check::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::model::verdict::LocationVote;
use crate::store::error::HistoryError;
use crate::store::history::blocks::{BlockBody, BlockFilter};
use crate::store::history::fresh_checks::{BUCKETS, bucket_of, buckets_of};
use crate::store::history::sealed::{self, BlockSummary, CheckSeries};
use crate::store::history::segments::storage::SegmentConnection;
use crate::store::history::segments::{self, Segment};
use crate::store::history::{History, progress};

/// Number of buckets per statement: the database sorts their rows, and all rows of the result are in memory at the same time,
/// several hundred bytes each.
const BUCKETS_AT_ONCE: usize = 16;
/// Maximum number of older rows that are searched for one service; locations without a result among them are looked up in
/// blocks.
const RESULTS_OF_ONE_SERVICE: u64 = 100;
/// Number of services or buckets whose older rows are looked up at the same time.
const LOOKUPS_AT_ONCE: usize = 8;
/// A time and a status are read as one number: the time times this, plus the code of the status.
const STATUS_RADIX: i64 = 16;
const _: () = assert!(
    CheckStatus::Up.code() < 16 && CheckStatus::Degraded.code() < 16 && CheckStatus::Down.code() < 16
);
/// Number of services per query of a segment.
const SERVICES_AT_ONCE: usize = 256;

/// The newest result of each location number, by service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatestVotes(HashMap<ServiceKey, Vec<(i32, LocationVote)>>);

/// A service whose newest results are requested: of each expected location, or of any location if none is expected.
#[derive(Clone, Debug)]
pub struct ExpectedVotes {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Numbers of the locations that may have a vote; empty for any location.
    pub locations: Vec<i32>,
    /// Time from which results count as votes. If a service has no result since then, its last results are read
    /// nevertheless.
    pub since: Timestamp,
}

/// A time range that includes both ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct InclusiveSpan {
    /// Start of the span, inclusive.
    pub since: Timestamp,
    /// End of the span, inclusive. Later results were recorded before the wall clock was set back, and are ignored.
    pub until: Timestamp,
}

/// The newest fresh results within the span, for the services of these partitions.
pub async fn within(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    span: InclusiveSpan,
) -> Result<LatestVotes, HistoryError> {
    let mut votes = LatestVotes::default();
    votes.add_within(connection, partitions, span).await?;
    Ok(votes)
}

/// The rows from before a span, for services that have none in it.
#[derive(Clone, Debug, Default)]
pub struct OlderRows {
    partitions: PartitionSet,
    since: Timestamp,
    /// The buckets that were asked: true if a bucket has rows from before the span. If not, its services have no rows but those
    /// that [`within`] reads, and rows from after the span.
    buckets: HashMap<i16, bool>,
    /// Number of services that have been looked up.
    lookups: usize,
}

impl OlderRows {
    /// The rows from before `since` of the services of these partitions.
    #[must_use]
    pub fn before(partitions: PartitionSet, since: Timestamp) -> Self {
        Self { partitions, since, ..Self::default() }
    }

    /// Returns the services that may have rows. Each bucket is asked once.
    async fn with_rows(
        &mut self,
        connection: &dyn StoreConnection,
        services: &[ServiceKey],
    ) -> Result<Vec<ServiceKey>, HistoryError> {
        let buckets: BTreeSet<i16> = services.iter().map(|service| bucket_of(*service)).collect();
        let unknown: Vec<i16> =
            buckets.into_iter().filter(|bucket| !self.buckets.contains_key(bucket)).collect();
        let since = self.since;
        let mut asked = stream::iter(unknown)
            .map(|bucket| async move {
                let oldest = oldest(connection, bucket).await?;
                Ok::<_, HistoryError>((bucket, oldest.is_some_and(|oldest| oldest < since)))
            })
            .buffer_unordered(LOOKUPS_AT_ONCE);
        while let Some((bucket, has_rows)) = asked.try_next().await? {
            self.buckets.insert(bucket, has_rows);
        }
        let has_rows = |service: &ServiceKey| self.buckets.get(&bucket_of(*service)) == Some(&true);
        Ok(services.iter().copied().filter(has_rows).collect())
    }

    /// Adds the newest rows of these services. A lookup may read all older rows of a bucket: once there were as many lookups as
    /// buckets, the older rows of all services are read instead, once.
    async fn add_rows(
        &mut self,
        connection: &dyn StoreConnection,
        votes: &mut LatestVotes,
        services: &[ServiceKey],
        span: InclusiveSpan,
    ) -> Result<(), HistoryError> {
        let services = self.with_rows(connection, services).await?;
        if services.is_empty() {
            return Ok(());
        }
        self.lookups += services.len();
        if self.lookups > usize::from(BUCKETS.unsigned_abs()) {
            let older = InclusiveSpan { since: Timestamp::from_ms(i64::MIN), until: span.since };
            votes.add_within(connection, self.partitions, older).await?;
            self.buckets.extend((0..BUCKETS).map(|bucket| (bucket, false)));
            return Ok(());
        }
        let mut found = stream::iter(services)
            .map(|service| rows_of(connection, service, span.until))
            .buffer_unordered(LOOKUPS_AT_ONCE);
        while let Some(rows) = found.try_next().await? {
            rows.iter().for_each(|row| votes.take_row(row));
        }
        Ok(())
    }
}

/// Start of the oldest row of a bucket.
async fn oldest(connection: &dyn StoreConnection, bucket: i16) -> Result<Option<Timestamp>, HistoryError> {
    let query = Entity::find().select_only().column(Column::CheckedAt).filter(Column::Bucket.eq(bucket));
    let oldest = query.order_by_asc(Column::CheckedAt).limit(1).into_tuple::<i64>().one(&connection).await?;
    Ok(oldest.map(Timestamp::from_ms))
}

/// Start of the newest fresh result, which tells when this installation last recorded one; `None` if there is none.
pub async fn last_fresh(connection: &dyn StoreConnection) -> Result<Option<Timestamp>, HistoryError> {
    let mut last = None;
    for bucket in 0..BUCKETS {
        // Reads the last key of one bucket; a single statement for all buckets would scan them completely.
        let query = Entity::find().select_only().column(Column::CheckedAt).filter(Column::Bucket.eq(bucket));
        let query = query.order_by_desc(Column::CheckedAt).limit(1);
        last = Ord::max(last, query.into_tuple::<i64>().one(&connection).await?);
    }
    Ok(last.map(Timestamp::from_ms))
}

/// Adds the votes that [`within`] did not find, from older rows and sealed results.
pub async fn complete(
    history: &History,
    votes: &mut LatestVotes,
    expected: &[ExpectedVotes],
    span: InclusiveSpan,
    older: &mut OlderRows,
) -> Result<(), HistoryError> {
    let reader = history.reader();
    let lacking: Vec<ServiceKey> = expected
        .iter()
        .filter(|service| service.lacks_rows(votes, span.since))
        .map(|service| service.service)
        .collect();
    older.add_rows(reader, votes, &lacking, span).await?;
    // Read after the rows, so that results that are sealed in between are found in blocks.
    let sealed = progress::lock_sealing_horizon(reader).await?;
    for segment in segments::visible(reader).await? {
        let lacking = expected.iter().filter(|service| service.lacks_blocks(votes, sealed, &segment));
        let lacking: Vec<ServiceKey> = lacking.map(|service| service.service).collect();
        if lacking.is_empty() {
            continue;
        }
        let opened = history.storage().connect(segment.id).await?;
        for services in lacking.chunks(SERVICES_AT_ONCE) {
            let newest = sealed::newest(&opened, &segment, services, span.until).await?;
            add_sealed(votes, &opened, &segment, &newest, span.until).await?;
        }
    }
    Ok(())
}

impl ExpectedVotes {
    fn lacks_rows(&self, votes: &LatestVotes, span_start: Timestamp) -> bool {
        let known = votes.of(self.service);
        known.is_empty() || self.since < span_start && !self.is_complete(known)
    }

    /// Returns true if this segment may contain newer results than `votes`; `sealed` is the sealing horizon.
    fn lacks_blocks(&self, votes: &LatestVotes, sealed: Timestamp, segment: &Segment) -> bool {
        let known = votes.of(self.service);
        let end = sealed.min(segment.purpose.to);
        let is_newest = known.iter().all(|(_, vote)| vote.checked_at >= end);
        known.is_empty() || self.since < end && !(is_newest && self.is_complete(known))
    }

    fn is_complete(&self, known: &[(i32, LocationVote)]) -> bool {
        self.locations.iter().all(|number| known.iter().any(|(location, _)| location == number))
    }
}

/// The newest rows of one service that started at or before `until`, however old.
async fn rows_of(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    until: Timestamp,
) -> Result<Vec<VoteRow>, HistoryError> {
    let query = columns()
        .filter(Column::Bucket.eq(bucket_of(service)))
        .filter(Column::ServiceId.eq(service))
        .filter(Column::CheckedAt.lte(until.ms()))
        .order_by_desc(Column::CheckedAt)
        .limit(RESULTS_OF_ONE_SERVICE);
    Ok(query.into_model::<VoteRow>().all(&connection).await?)
}

/// Adds the last check of each of these blocks that started at or before `until`.
async fn add_sealed(
    votes: &mut LatestVotes,
    opened: &SegmentConnection,
    segment: &Segment,
    newest: &[BlockSummary],
    until: Timestamp,
) -> Result<(), HistoryError> {
    let mut mixed: Vec<BlockSummary> = Vec::new();
    for summary in newest {
        match only_status(summary).filter(|_| summary.last_at <= until) {
            Some(status) => votes.take(summary.series, LocationVote { status, checked_at: summary.last_at }),
            None => mixed.push(*summary),
        }
    }
    mixed.sort_by_key(|summary| summary.series);
    for part in mixed.chunk_by(|left, right| left.series.service == right.series.service) {
        let bodies = sealed::bodies(opened, segment, part).await?;
        for (summary, bytes) in part.iter().zip(&bodies) {
            let from = (summary.last_at <= until).then_some(summary.last_at);
            let last =
                BlockFilter { from, to: Some(until.plus_ms(1)), newest: Some(1), ..BlockFilter::default() };
            let entries = BlockBody::open(bytes).and_then(|body| body.matching(&last));
            for entry in entries.map_err(|error| sealed::damaged(summary, &error))? {
                let vote = LocationVote { status: entry.measurement.status, checked_at: entry.checked_at };
                votes.take(summary.series, vote);
            }
        }
    }
    Ok(())
}

/// The status of all checks of a block, if they have the same status.
const fn only_status(summary: &BlockSummary) -> Option<CheckStatus> {
    match (summary.up, summary.degraded, summary.down) {
        (1.., 0, 0) => Some(CheckStatus::Up),
        (0, 1.., 0) => Some(CheckStatus::Degraded),
        (0, 0, 1..) => Some(CheckStatus::Down),
        _ => None,
    }
}

fn columns() -> sea_orm::Select<Entity> {
    Entity::find().select_only().columns([
        Column::ServiceId,
        Column::LocationId,
        Column::Status,
        Column::CheckedAt,
    ])
}

impl LatestVotes {
    /// The newest results of a service, in no particular order; empty if it has none.
    #[must_use]
    pub fn of(&self, service: ServiceKey) -> &[(i32, LocationVote)] {
        self.0.get(&service).map_or(&[], Vec::as_slice)
    }

    /// The newest results of each service.
    pub fn iter(&self) -> impl Iterator<Item = (ServiceKey, &[(i32, LocationVote)])> {
        self.0.iter().map(|(service, votes)| (*service, votes.as_slice()))
    }

    /// Adds the newest fresh results within the span, of the services of these partitions.
    async fn add_within(
        &mut self,
        connection: &dyn StoreConnection,
        partitions: PartitionSet,
        InclusiveSpan { since, until }: InclusiveSpan,
    ) -> Result<(), HistoryError> {
        let buckets: Vec<i16> = buckets_of(partitions).collect();
        for some in buckets.chunks(BUCKETS_AT_ONCE) {
            // One short range per bucket, instead of a long range over all rows in between. Only the newest row of a series leaves
            // the database: each row that does costs ten times as much as one that is only read.
            let newest = Expr::col(Column::CheckedAt).mul(STATUS_RADIX).add(Expr::col(Column::Status)).max();
            let query = Entity::find().select_only().columns([Column::ServiceId, Column::LocationId]);
            let query = query.expr_as(newest, "newest").filter(Column::Bucket.is_in(some.iter().copied()));
            let query = query.filter(Column::CheckedAt.between(since.ms(), until.ms()));
            let query = query.group_by(Column::ServiceId).group_by(Column::LocationId);
            for row in query.into_model::<NewestRow>().all(&connection).await? {
                self.take_newest(&row);
            }
        }
        Ok(())
    }

    fn take_newest(&mut self, row: &NewestRow) {
        let (checked_at, status) = (row.newest.div_euclid(STATUS_RADIX), row.newest.rem_euclid(STATUS_RADIX));
        let status = i16::try_from(status).ok().and_then(CheckStatus::from_code);
        self.take_status(row.service_id, row.location_id, status, checked_at);
    }

    fn take_row(&mut self, row: &VoteRow) {
        self.take_status(row.service_id, row.location_id, CheckStatus::from_code(row.status), row.checked_at);
    }

    fn take_status(&mut self, service: i64, location: i32, status: Option<CheckStatus>, checked_at: i64) {
        if let Some(status) = status {
            let vote = LocationVote { status, checked_at: Timestamp::from_ms(checked_at) };
            self.take(CheckSeries { service, location }, vote);
        }
    }

    fn take(&mut self, series: CheckSeries, vote: LocationVote) {
        let votes = self.0.entry(series.service).or_default();
        match votes.iter_mut().find(|(location, _)| *location == series.location) {
            Some((_, newest)) if newest.checked_at < vote.checked_at => *newest = vote,
            Some(_) => {}
            None => {
                // Most services have a single location.
                votes.reserve_exact(1);
                votes.push((series.location, vote));
            }
        }
    }
}

/// The newest row of a series.
#[derive(FromQueryResult)]
struct NewestRow {
    service_id: i64,
    location_id: i32,
    /// [`STATUS_RADIX`] times the time of the check, plus its status: so the greatest one is the newest.
    newest: i64,
}

#[derive(FromQueryResult)]
struct VoteRow {
    service_id: i64,
    location_id: i32,
    status: i16,
    checked_at: i64,
}
