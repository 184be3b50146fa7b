//! The newest results, read back when the engine starts: with them a restart keeps verdicts and finds its own gap.

use std::collections::HashMap;

use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect,
};
use watchkeeper_entities::fresh_check::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::service::ServiceKey;
use crate::model::verdict::Vote;
use crate::store::StoreError;
use crate::store::history::fresh::{BUCKETS, bucket_of};

/// Buckets read at a time.
const BUCKETS_AT_ONCE: i16 = 64;
/// A location that has not been heard of for so many results is not looked for any further.
const RESULTS_OF_ONE_SERVICE: u64 = 100;

/// The newest result per service and location number.
pub type LatestVotes = HashMap<ServiceKey, HashMap<i32, Vote>>;

/// The newest results of all services that are still fresh and not older than `since`.
///
/// # Errors
/// When the database fails.
pub async fn all_since(
    connection: &impl ConnectionTrait,
    since: Timestamp,
) -> Result<LatestVotes, StoreError> {
    let mut votes = LatestVotes::new();
    for first in (0..BUCKETS).step_by(usize::from(BUCKETS_AT_ONCE.unsigned_abs())) {
        // One short range a bucket, not one long one over whatever lies in between.
        let buckets = first..first + BUCKETS_AT_ONCE;
        let query = columns().filter(Column::Bucket.is_in(buckets)).filter(Column::CheckedAt.gte(since.ms()));
        for row in query.into_model::<Row>().all(connection).await? {
            take(&mut votes, &row);
        }
    }
    Ok(votes)
}

/// The newest results of one service, however old.
///
/// # Errors
/// When the database fails.
pub async fn of_service(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
) -> Result<HashMap<i32, Vote>, StoreError> {
    let rows = columns()
        .filter(Column::Bucket.eq(bucket_of(service)))
        .filter(Column::ServiceId.eq(service))
        .order_by_desc(Column::CheckedAt)
        .limit(RESULTS_OF_ONE_SERVICE)
        .into_model::<Row>()
        .all(connection)
        .await?;
    let mut votes = LatestVotes::new();
    for row in &rows {
        take(&mut votes, row);
    }
    Ok(votes.remove(&service).unwrap_or_default())
}

fn columns() -> sea_orm::Select<Entity> {
    Entity::find().select_only().columns([
        Column::ServiceId,
        Column::LocationId,
        Column::Status,
        Column::CheckedAt,
    ])
}

fn take(votes: &mut LatestVotes, row: &Row) {
    let Some(status) = CheckStatus::from_code(row.status) else {
        return;
    };
    let vote = Vote { status, checked_at: Timestamp::from_ms(row.checked_at) };
    let newest = votes.entry(row.service_id).or_default().entry(row.location_id).or_insert(vote);
    if newest.checked_at < vote.checked_at {
        *newest = vote;
    }
}

#[derive(FromQueryResult)]
struct Row {
    service_id: i64,
    location_id: i32,
    status: i16,
    checked_at: i64,
}
