//! Status changes: the rows from which uptime is computed.

use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Statement};
use watchkeeper_entities::status_change::{Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::store::StoreError;

/// The changes of a service since `from`, oldest first, led by the last one before it: together they say what the
/// status was at every moment since `from`.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn since(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    from: Timestamp,
) -> Result<Vec<StatusChange>, StoreError> {
    let of_service = || Entity::find().filter(Column::ServiceId.eq(service));
    let before = of_service()
        .filter(Column::At.lt(from.ms()))
        .order_by_desc(Column::At)
        .order_by_desc(Column::Id)
        .one(connection)
        .await?;
    let after = of_service()
        .filter(Column::At.gte(from.ms()))
        .order_by_asc(Column::At)
        .order_by_asc(Column::Id)
        .all(connection)
        .await?;
    before.into_iter().chain(after).map(|row| from_row(&row)).collect()
}

/// The last change of every service that has one.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn latest_of_all(connection: &impl ConnectionTrait) -> Result<Vec<StatusChange>, StoreError> {
    let newest =
        Query::select().expr(Column::Id.max()).from(Entity).group_by_col(Column::ServiceId).to_owned();
    let rows = Entity::find().filter(Column::Id.in_subquery(newest)).all(connection).await?;
    rows.iter().map(from_row).collect()
}

/// The last change of a service.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn latest(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
) -> Result<Option<StatusChange>, StoreError> {
    let row = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .order_by_desc(Column::At)
        .order_by_desc(Column::Id)
        .one(connection)
        .await?;
    row.as_ref().map(from_row).transpose()
}

/// Forgets changes before `before`, at most a few thousand at a time; how many there were. The last one of each service stays:
/// it says what the status has been since.
///
/// # Errors
/// When the database fails.
pub async fn prune(connection: &impl ConnectionTrait, before: Timestamp) -> Result<u64, StoreError> {
    let text = "DELETE FROM status_change WHERE id IN (SELECT old.id FROM status_change AS old WHERE old.at < $1 AND EXISTS \
        (SELECT 1 FROM status_change AS newer WHERE newer.service_id = old.service_id AND newer.at > old.at AND newer.at <= $1) \
        LIMIT 2000)";
    let statement =
        Statement::from_sql_and_values(connection.get_database_backend(), text, [before.ms().into()]);
    Ok(connection.execute_raw(statement).await?.rows_affected())
}

fn from_row(row: &Model) -> Result<StatusChange, StoreError> {
    let corrupt = |problem: &str| StoreError::corrupt("status_change", &row.id, &problem);
    let status = |code| MeasuredStatus::from_code(code).ok_or_else(|| corrupt("unknown status"));
    Ok(StatusChange {
        service: row.service_id,
        at: Timestamp::from_ms(row.at),
        from: status(row.from_status)?,
        to: status(row.to_status)?,
        cause: ChangeCause::from_code(row.cause).ok_or_else(|| corrupt("unknown cause"))?,
    })
}
