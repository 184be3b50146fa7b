//! Fresh answers summed up per service and day by the database: what figures of all services are started with.

use sea_orm::{ConnectionTrait, FromQueryResult, Statement};

use crate::clock::DAY_MS;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::HistoryError;
use crate::store::history::fresh::BUCKETS;

/// Buckets read at a time: the database sorts what it sums up.
const BUCKETS_AT_ONCE: i16 = 16;

/// The answered checks of a service on one day, from locations with role `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromQueryResult)]
pub struct DayAnswers {
    /// The service.
    pub service: ServiceKey,
    /// The day, as of [`crate::clock::Timestamp::day`].
    pub day: i64,
    /// Their number.
    pub answered: i64,
    /// Sum of their response times in microseconds.
    pub sum_us: i64,
}

/// The fresh answers of all services in `[from, to)`, by service.
///
/// # Errors
/// When the database fails.
pub async fn fresh(
    connection: &impl ConnectionTrait,
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<DayAnswers>, HistoryError> {
    let backend = connection.get_database_backend();
    let text = format!(
        "SELECT service_id AS service, checked_at / {DAY_MS} AS day, COUNT(*) AS answered, SUM(response_us) AS sum_us \
        FROM fresh_check WHERE bucket >= $1 AND bucket < $2 AND checked_at >= $3 AND checked_at < $4 \
        AND role = 0 AND response_us IS NOT NULL GROUP BY service_id, checked_at / {DAY_MS}"
    );
    let mut found = Vec::new();
    for first in (0..BUCKETS).step_by(usize::from(BUCKETS_AT_ONCE.unsigned_abs())) {
        let buckets = [first.into(), (first + BUCKETS_AT_ONCE).into()];
        let values = buckets.into_iter().chain([from.ms().into(), to.ms().into()]);
        let statement = Statement::from_sql_and_values(backend, &text, values);
        found.extend(DayAnswers::find_by_statement(statement).all(connection).await?);
    }
    found.sort_unstable_by_key(|answers| (answers.service, answers.day));
    Ok(found)
}
