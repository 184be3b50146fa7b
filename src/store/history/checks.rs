//! The check history of a service, newest first (contract 4.8).

use sea_orm::{
    ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationBuilder,
    RelationDef,
};
use watchkeeper_entities::{fresh_check, location};

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Measurement};
use crate::model::service::ServiceKey;
use crate::store::StoreError;
use crate::store::history::History;
use crate::store::history::fresh::{FreshCheck, bucket_of};

/// Which entries of a service's history are wanted.
#[derive(Clone, Debug, Default)]
pub struct CheckFilter {
    /// Only these locations; empty = all.
    pub probes: Vec<String>,
    /// Only these results; empty = all.
    pub statuses: Vec<CheckStatus>,
    /// Only entries at or after this instant.
    pub from: Option<Timestamp>,
    /// Only entries before this instant.
    pub to: Option<Timestamp>,
    /// Only entries older than this position: the last entry of the page before.
    pub before: Option<Position>,
}

/// Place of an entry in the order of the history: newest first, then by location code descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Start of the check.
    pub checked_at: Timestamp,
    /// Location code.
    pub probe: String,
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCheck {
    /// Start of the deciding attempt.
    pub checked_at: Timestamp,
    /// Location code.
    pub probe: String,
    /// When the check was due.
    pub scheduled_at: Timestamp,
    /// The deciding attempt, from 1.
    pub attempt: u8,
    /// What it found.
    pub measurement: Measurement,
}

/// At most `limit` entries of the service, newest first.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn page(
    history: &History,
    service: ServiceKey,
    filter: &CheckFilter,
    limit: u64,
) -> Result<Vec<StoredCheck>, StoreError> {
    let rows = fresh_check::Entity::find()
        .join(JoinType::InnerJoin, location_of_check())
        .filter(condition(service, filter))
        .order_by_desc(fresh_check::Column::CheckedAt)
        .order_by_desc(location::Column::Code)
        .limit(limit)
        .select_also(location::Entity)
        .all(history.reader())
        .await?;
    rows.into_iter().map(|(row, place)| stored(row, place)).collect()
}

fn location_of_check() -> RelationDef {
    let relation: RelationBuilder<fresh_check::Entity, location::Entity> =
        fresh_check::Entity::belongs_to(location::Entity);
    relation.from(fresh_check::Column::LocationId).to(location::Column::Id).into()
}

fn condition(service: ServiceKey, filter: &CheckFilter) -> Condition {
    use fresh_check::Column::{Bucket, CheckedAt, ServiceId, Status};
    let mut all = Condition::all().add(Bucket.eq(bucket_of(service))).add(ServiceId.eq(service));
    if !filter.probes.is_empty() {
        all = all.add(location::Column::Code.is_in(filter.probes.iter().map(String::as_str)));
    }
    if !filter.statuses.is_empty() {
        all = all.add(Status.is_in(filter.statuses.iter().map(|status| status.code())));
    }
    if let Some(from) = filter.from {
        all = all.add(CheckedAt.gte(from.ms()));
    }
    if let Some(to) = filter.to {
        all = all.add(CheckedAt.lt(to.ms()));
    }
    if let Some(Position { checked_at, probe }) = &filter.before {
        let older = Condition::any()
            .add(CheckedAt.lt(checked_at.ms()))
            .add(location::Column::Code.lt(probe.as_str()));
        all = all.add(CheckedAt.lte(checked_at.ms())).add(older);
    }
    all
}

fn stored(row: fresh_check::Model, place: Option<location::Model>) -> Result<StoredCheck, StoreError> {
    let unknown = || StoreError::corrupt("fresh_check", &row.location_id, &"unknown location");
    let probe = place.ok_or_else(unknown)?.code;
    Ok(FreshCheck::try_from(row)?.entry.into_stored(probe))
}
