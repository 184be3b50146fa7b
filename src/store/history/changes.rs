//! Status changes: the rows from which uptime is computed.
//!
//! Rows are numbered in the order in which they were recorded, and their times rise with the numbers. The exceptions are
//! changes imported from another tool, changes that late results gave, and services whose wall clock was set back: these
//! services have rows with the cause `clock`, which a separate index finds.
//!
//! Rows about flapping (causes 8 and 9) change no status: only [`flapping`] and `of_flapping` read them.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::SimpleExpr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Statement};
use watchkeeper_entities::status_change::{Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::flapping::{FlappingState, is_transition};
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::partition::{PARTITIONS, Partition, PartitionSet};
use crate::model::service::ServiceKey;
use crate::model::status_timeline::in_time_order;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;

/// Number of services whose last changes are read in one statement: all its rows are in memory at the same time, several hundred
/// bytes each. Not fewer, because PostgreSQL may read all changes for each statement.
const SERVICES_AT_ONCE: usize = 30_000;

/// The changes of a service at or after `from`, oldest first, preceded by the last change before `from`. Together they
/// give the status at every time since `from`.
pub async fn since(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    from: Timestamp,
) -> Result<Vec<StatusChange>, HistoryError> {
    let Some(later) = not_before(connection, service, from).await? else {
        let mut all = in_time_order(recorded(connection, service).await?);
        let first = all.partition_point(|change| change.at < from).saturating_sub(1);
        return Ok(all.split_off(first));
    };
    let before = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::At.lt(from.ms()))
        .filter(of_status())
        .order_by_desc(Column::At)
        .order_by_desc(Column::Id)
        .one(&connection)
        .await?;
    let mut found: Vec<StatusChange> = before.iter().map(from_row).collect::<Result<_, _>>()?;
    found.extend(later);
    Ok(found)
}

/// The rows about flapping of a service in a time range, oldest first.
pub async fn of_flapping(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<Vec<StatusChange>, HistoryError> {
    let rows = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::Cause.gte(ChangeCause::Flapping.code()))
        .filter(Column::At.gte(from.ms()))
        .filter(Column::At.lt(to.ms()))
        .order_by_asc(Column::At);
    rows.all(&connection).await?.iter().map(from_row).collect()
}

/// Condition that excludes rows about flapping, whose causes have the highest numbers.
fn of_status() -> SimpleExpr {
    Column::Cause.lt(ChangeCause::Flapping.code())
}

/// Returns true if the wall clock was ever set back during the history of the service.
async fn was_set_back(connection: &dyn StoreConnection, service: ServiceKey) -> Result<bool, HistoryError> {
    // The cause is a literal in the text; with a bound value the partial index would not be used.
    let text = "SELECT 1 FROM status_change WHERE cause = 6 AND service_id = $1 LIMIT 1";
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, [service.into()]);
    Ok(connection.query_one_raw(statement).await?.is_some())
}

/// All changes of a service in the order in which they were recorded.
async fn recorded(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<Vec<StatusChange>, HistoryError> {
    let rows =
        Entity::find().filter(Column::ServiceId.eq(service)).filter(of_status()).order_by_asc(Column::Id);
    rows.all(&connection).await?.iter().map(from_row).collect()
}

/// The changes at or after `from`, transferred as one value: there may be thousands, and transferring a row takes longer
/// than finding it. `None` if the clock was set back in the history of the service: the caller must then read all changes.
async fn not_before(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    from: Timestamp,
) -> Result<Option<Vec<StatusChange>>, HistoryError> {
    // The cause is a literal in the text; with a bound value its index would not be used.
    let text = "SELECT STRING_AGG(at || ' ' || from_status || ' ' || to_status || ' ' || cause, ',' ORDER BY at, id), \
        CASE WHEN EXISTS (SELECT 1 FROM status_change WHERE cause = 6 AND service_id = $1) THEN 1 ELSE 0 END \
        FROM status_change WHERE service_id = $1 AND at >= $2 AND cause < 8";
    let values = [service.into(), from.ms().into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    let Some(row) = connection.query_one_raw(statement).await? else { return Ok(Some(Vec::new())) };
    let all: Option<String> = row.try_get_by_index(0)?;
    if row.try_get_by_index::<i32>(1)? == 1 {
        return Ok(None);
    }
    all.iter()
        .flat_map(|all| all.split(','))
        .map(|text| read(service, text))
        .collect::<Result<_, _>>()
        .map(Some)
}

pub(super) fn read(service: ServiceKey, text: &str) -> Result<StatusChange, HistoryError> {
    let corrupt = || HistoryError::corrupt("status_change", &service, &format!("`{text}` is not a change"));
    let mut words = text.split(' ');
    let at = words.next().and_then(|word| word.parse().ok()).ok_or_else(corrupt)?;
    let mut code = || words.next().and_then(|word| word.parse().ok()).ok_or_else(corrupt);
    let (from, to, cause): (i16, i16, i16) = (code()?, code()?, code()?);
    from_codes(service, at, from, to, cause).ok_or_else(corrupt)
}

/// The last change of every service of these partitions that has one. It is the last in time, because imported changes may
/// be written after later ones; only if the wall clock was set back, it is the last recorded.
pub async fn latest_of(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
) -> Result<Vec<StatusChange>, HistoryError> {
    let numbers: Vec<String> = partitions.iter().map(|partition| partition.to_string()).collect();
    let among = match partitions {
        PartitionSet::NONE => return Ok(Vec::new()),
        PartitionSet::ALL => String::new(),
        _ => format!("AND service_id % {PARTITIONS} IN ({})", numbers.join(", ")),
    };
    let text = format!(
        "SELECT c.id, c.service_id, c.at, c.from_status, c.to_status, c.cause FROM status_change c JOIN \
        (SELECT service_id, MAX(at) AS at FROM status_change WHERE service_id > $1 AND cause < 8 {among} \
        GROUP BY service_id ORDER BY service_id LIMIT {SERVICES_AT_ONCE}) n \
        ON c.service_id = n.service_id AND c.at = n.at AND c.cause < 8 ORDER BY c.service_id, c.id DESC"
    );
    let backend = connection.get_database_backend();
    let mut found: Vec<StatusChange> = Vec::new();
    loop {
        let after = found.last().map_or(ServiceKey::MIN, |change| change.service);
        let statement = Statement::from_sql_and_values(backend, &text, [after.into()]);
        let mut rows = Entity::find().from_raw_sql(statement).all(&connection).await?;
        rows.dedup_by_key(|row| row.service_id);
        for row in &rows {
            found.push(from_row(row)?);
        }
        if rows.len() < SERVICES_AT_ONCE {
            break;
        }
    }
    for last in last_recorded(connection).await? {
        if let Ok(index) = found.binary_search_by_key(&last.service_id, |change| change.service) {
            found[index] = from_row(&last)?;
        }
    }
    Ok(found)
}

/// The transitions since `from` and the flapping state of services of these partitions; a service without either is not
/// in the result. Uses one statement, however many services there are.
pub async fn flapping(
    connection: &dyn StoreConnection,
    partitions: PartitionSet,
    from: Timestamp,
) -> Result<HashMap<ServiceKey, FlappingState>, HistoryError> {
    // Status 1 is up, 2 and 3 are degraded and down.
    let text = "SELECT id, service_id, at, from_status, to_status, cause FROM status_change WHERE cause >= 8 OR (at >= $1 \
        AND cause <> 5 AND cause <> 7 AND ((from_status = 1 AND to_status IN (2, 3)) OR (to_status = 1 AND from_status IN (2, 3)))) \
        ORDER BY service_id, at, id";
    let backend = connection.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, text, [from.ms().into()]);
    let rows = Entity::find().from_raw_sql(statement).all(&connection).await?;
    let mut found = HashMap::new();
    for rows in rows.chunk_by(|row, next| row.service_id == next.service_id) {
        let service = rows[0].service_id;
        if !partitions.contains(Partition::of(service)) {
            continue;
        }
        let changes = rows.iter().map(from_row).collect::<Result<Vec<_>, _>>()?;
        let last_flapping = changes.iter().rfind(|change| change.cause.is_about_flapping());
        let is_flapping =
            last_flapping.is_some_and(|last_flapping| last_flapping.cause == ChangeCause::Flapping);
        let transitions = changes.iter().filter(|change| is_transition(change.from, change.to));
        found.insert(service, FlappingState::resumed(transitions.map(|turn| turn.at), is_flapping));
    }
    Ok(found)
}

/// The last recorded change of every service in whose history the wall clock was set back; imported changes are ignored.
async fn last_recorded(connection: &dyn StoreConnection) -> Result<Vec<Model>, HistoryError> {
    let text = "SELECT c.id, c.service_id, c.at, c.from_status, c.to_status, c.cause FROM status_change c JOIN \
        (SELECT MAX(id) AS id FROM status_change WHERE cause <> 5 AND cause < 8 AND service_id IN \
        (SELECT service_id FROM status_change WHERE cause = 6) GROUP BY service_id) n ON c.id = n.id";
    let statement = Statement::from_string(connection.get_database_backend(), text);
    Ok(Entity::find().from_raw_sql(statement).all(&connection).await?)
}

/// Returns the time of the first change of a service that was not imported; `None` if there is none.
pub async fn first_own(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<Option<Timestamp>, HistoryError> {
    let row = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::Cause.ne(ChangeCause::Imported.code()))
        .filter(of_status())
        .order_by_asc(Column::At)
        .one(&connection)
        .await?;
    Ok(row.map(|row| Timestamp::from_ms(row.at)))
}

/// Deletes the imported changes of a service, before a new import replaces them.
pub async fn remove_imported(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<(), HistoryError> {
    let of_service = Entity::delete_many().filter(Column::ServiceId.eq(service));
    of_service.filter(Column::Cause.eq(ChangeCause::Imported.code())).exec(&connection).await?;
    Ok(())
}

/// Deletes the changes in a time range that were derived from late results, before they are derived again.
pub async fn remove_filled(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    TimeRange { from, to }: TimeRange,
) -> Result<(), HistoryError> {
    let of_service = Entity::delete_many().filter(Column::ServiceId.eq(service));
    let filled = of_service.filter(Column::Cause.eq(ChangeCause::Filled.code()));
    filled.filter(Column::At.gte(from.ms())).filter(Column::At.lt(to.ms())).exec(&connection).await?;
    Ok(())
}

/// The last change of a service: the last in time, or the last recorded if the wall clock was set back.
pub async fn latest(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<Option<StatusChange>, HistoryError> {
    let of_service = Entity::find().filter(Column::ServiceId.eq(service)).filter(of_status());
    if was_set_back(connection, service).await? {
        let own = of_service.filter(Column::Cause.ne(ChangeCause::Imported.code()));
        let row = own.order_by_desc(Column::Id).one(&connection).await?;
        return row.as_ref().map(from_row).transpose();
    }
    let row = of_service.order_by_desc(Column::At).order_by_desc(Column::Id).one(&connection).await?;
    row.as_ref().map(from_row).transpose()
}

/// Row numbers of the changes before `before` that a later change, up to `before`, has superseded: no figure of a later time
/// needs them. A change recorded before the wall clock was set back supersedes none that was recorded after it, and the
/// record of the setback itself is never included.
pub async fn superseded_before(
    connection: &dyn StoreConnection,
    before: Timestamp,
) -> Result<Vec<i64>, HistoryError> {
    let text = "SELECT old.id FROM status_change AS old WHERE old.at < $1 AND old.cause <> 6 AND EXISTS (SELECT 1 FROM status_change AS newer \
        WHERE newer.service_id = old.service_id AND newer.at > old.at AND newer.at <= $1 AND newer.cause < 8 AND (newer.id > old.id OR old.cause = 5))";
    let backend = connection.get_database_backend();
    let rows =
        connection.query_all_raw(Statement::from_sql_and_values(backend, text, [before.ms().into()])).await?;
    rows.iter().map(|row| row.try_get_by_index(0).map_err(HistoryError::from)).collect()
}

/// Deletes the changes with these row numbers.
pub async fn delete(connection: &dyn StoreConnection, ids: &[i64]) -> Result<(), HistoryError> {
    Entity::delete_many().filter(Column::Id.is_in(ids.iter().copied())).exec(&connection).await?;
    Ok(())
}

pub(super) fn from_row(row: &Model) -> Result<StatusChange, HistoryError> {
    let change = from_codes(row.service_id, row.at, row.from_status, row.to_status, row.cause);
    change.ok_or_else(|| HistoryError::corrupt("status_change", &row.id, &"unknown status or cause"))
}

fn from_codes(service: ServiceKey, at: i64, from: i16, to: i16, cause: i16) -> Option<StatusChange> {
    Some(StatusChange {
        service,
        at: Timestamp::from_ms(at),
        from: MeasuredStatus::from_code(from)?,
        to: MeasuredStatus::from_code(to)?,
        cause: ChangeCause::from_code(cause)?,
    })
}
