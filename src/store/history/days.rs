//! Unsealed checks summed up per service and day by the database, for the initial figures of services.

use sea_orm::{ConnectionTrait, FromQueryResult, Statement, Value};

use crate::clock::DAY_MS;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::connection::StoreConnection;
use crate::store::error::HistoryError;

/// Number of buckets read per statement: the database sorts the rows that it sums up.
const BUCKETS_AT_ONCE: usize = 16;

/// Sums over the answered checks of a service on one day, from locations with role `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromQueryResult)]
pub struct DayAnswers {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Number of the day, see [`crate::clock::Timestamp::day`].
    pub day: i64,
    /// Number of answered checks.
    pub answered: i64,
    /// Sum of the response times in microseconds.
    pub sum_us: i64,
}

/// The sums for all services of these buckets over the rows in `[from, to)`, sorted by service and day.
pub async fn fresh(
    connection: &dyn StoreConnection,
    buckets: &[i16],
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<DayAnswers>, HistoryError> {
    let backend = connection.get_database_backend();
    let parameters: Vec<String> = (3..BUCKETS_AT_ONCE + 3).map(|number| format!("${number}")).collect();
    let text = format!(
        "SELECT service_id AS service, checked_at / {DAY_MS} AS day, COUNT(*) AS answered, SUM(response_us) AS sum_us \
        FROM fresh_check WHERE checked_at >= $1 AND checked_at < $2 AND bucket IN ({}) \
        AND role = 0 AND response_us IS NOT NULL GROUP BY service_id, checked_at / {DAY_MS}",
        parameters.join(",")
    );
    let mut found = Vec::new();
    for some in buckets.chunks(BUCKETS_AT_ONCE) {
        // Padded to a fixed number, so that only one statement text is prepared.
        let padding = std::iter::repeat_n(&some[0], BUCKETS_AT_ONCE - some.len());
        let indexes = some.iter().chain(padding).map(|bucket| Value::from(*bucket));
        let values = [from.ms().into(), to.ms().into()].into_iter().chain(indexes);
        let statement = Statement::from_sql_and_values(backend, &text, values);
        found.extend(DayAnswers::find_by_statement(statement).all(&connection).await?);
    }
    found.sort_unstable_by_key(|answers| (answers.service, answers.day));
    Ok(found)
}
