//! The check history of a service, newest first (contract 4.8).

use std::num::NonZeroU32;

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder,
    QuerySelect, RelationBuilder, RelationDef,
};
use watchkeeper_entities::{check_result, location};

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, ErrorCode, Failure, Measurement, Micros, Timings};
use crate::model::service::ServiceKey;
use crate::store::StoreError;

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
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    filter: &CheckFilter,
    limit: u64,
) -> Result<Vec<StoredCheck>, StoreError> {
    let rows: Vec<Row> = check_result::Entity::find()
        .join(JoinType::InnerJoin, location_of_check())
        .column_as(location::Column::Code, "probe")
        .filter(condition(service, filter))
        .order_by_desc(check_result::Column::CheckedAt)
        .order_by_desc(location::Column::Code)
        .limit(limit)
        .into_model::<Row>()
        .all(connection)
        .await?;
    rows.into_iter().map(StoredCheck::try_from).collect()
}

fn location_of_check() -> RelationDef {
    let relation: RelationBuilder<check_result::Entity, location::Entity> =
        check_result::Entity::belongs_to(location::Entity);
    relation.from(check_result::Column::LocationId).to(location::Column::Id).into()
}

fn condition(service: ServiceKey, filter: &CheckFilter) -> Condition {
    use check_result::Column::{CheckedAt, ServiceId, Status};
    let mut all = Condition::all().add(ServiceId.eq(service));
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

#[derive(FromQueryResult)]
struct Row {
    id: i64,
    checked_at: i64,
    probe: String,
    scheduled_at: i64,
    status: i16,
    attempt: i16,
    status_code: Option<i16>,
    response_us: Option<i32>,
    dns_us: Option<i32>,
    connect_us: Option<i32>,
    tls_us: Option<i32>,
    ttfb_us: Option<i32>,
    transfer_us: Option<i32>,
    total_us: Option<i32>,
    error_code: Option<i16>,
    error_message: Option<String>,
}

impl TryFrom<Row> for StoredCheck {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let corrupt = |problem: &str| StoreError::corrupt("check_result", &row.id, &problem);
        let code = row
            .error_code
            .map(|code| ErrorCode::from_code(code).ok_or_else(|| corrupt("unknown error code")));
        let failure = code
            .transpose()?
            .map(|code| Box::new(Failure::new(code, row.error_message.as_deref().unwrap_or_default())));
        let timings = Timings {
            dns: from_column(row.dns_us),
            connect: from_column(row.connect_us),
            tls: from_column(row.tls_us),
            ttfb: from_column(row.ttfb_us),
            transfer: from_column(row.transfer_us),
            total: from_column(row.total_us),
        };
        Ok(Self {
            checked_at: Timestamp::from_ms(row.checked_at),
            scheduled_at: Timestamp::from_ms(row.scheduled_at),
            attempt: u8::try_from(row.attempt).map_err(|_| corrupt("attempt out of range"))?,
            measurement: Measurement {
                status: CheckStatus::from_code(row.status).ok_or_else(|| corrupt("unknown status"))?,
                response_time: from_column(row.response_us),
                timings,
                status_code: row.status_code.and_then(|code| u16::try_from(code).ok()),
                failure,
            },
            probe: row.probe,
        })
    }
}

fn from_column(duration_us: Option<i32>) -> Option<Micros> {
    duration_us.and_then(|us| u32::try_from(us).ok()).and_then(NonZeroU32::new)
}
