//! Response times of a service summed up per UTC day: what the engine's rolling figures start from.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, Statement};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::service::ServiceKey;
use crate::store::StoreError;
use crate::store::history::hours;

/// Count and sum (microseconds) of the answered checks of locations with role `full`.
pub type AnsweredSums = (u32, u64);

/// Sums per day (as of `Timestamp::day`) of the checks in `[from, to)`. `from` is the start of a day. Derived hours are used
/// as far as they reach, rows beyond.
///
/// # Errors
/// When the database fails.
pub async fn answered(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
) -> Result<BTreeMap<i64, AnsweredSums>, StoreError> {
    let derived = hours::watermark(connection).await?.unwrap_or(from).clamp(from, to);
    let mut days = BTreeMap::new();
    let of_hours = format!(
        "SELECT start / {DAY_MS} AS day, CAST(SUM(answered) AS BIGINT) AS answered, CAST(SUM(sum_us) AS BIGINT) AS sum_us \
        FROM check_hour WHERE service_id = $1 AND start >= $2 AND start < $3 GROUP BY 1"
    );
    let of_rows = format!(
        "SELECT checked_at / {DAY_MS} AS day, COUNT(*) AS answered, CAST(SUM(response_us) AS BIGINT) AS sum_us \
        FROM check_result WHERE service_id = $1 AND checked_at >= $2 AND checked_at < $3 \
        AND role = 0 AND response_us IS NOT NULL GROUP BY 1"
    );
    for (text, from, to) in [(of_hours, from, derived), (of_rows, derived, to)] {
        add(connection, &mut days, (text, service), (from, to)).await?;
    }
    Ok(days)
}

async fn add(
    connection: &impl ConnectionTrait,
    days: &mut BTreeMap<i64, AnsweredSums>,
    (text, service): (String, ServiceKey),
    (from, to): (Timestamp, Timestamp),
) -> Result<(), StoreError> {
    let values = [service.into(), from.ms().into(), to.ms().into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    for row in connection.query_all_raw(statement).await? {
        let (answered, sum_us): (i64, i64) = (row.try_get("", "answered")?, row.try_get("", "sum_us")?);
        let day = days.entry(row.try_get("", "day")?).or_insert((0, 0));
        day.0 += u32::try_from(answered).unwrap_or(u32::MAX);
        day.1 += u64::try_from(sum_us).unwrap_or_default();
    }
    Ok(())
}
