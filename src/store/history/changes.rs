//! Status changes: the rows from which uptime is computed.

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

/// The last change of every service that has one. The last one in time: what is imported is written later than what
/// came after it.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn latest_of_all(connection: &impl ConnectionTrait) -> Result<Vec<StatusChange>, StoreError> {
    let text = "SELECT c.id, c.service_id, c.at, c.from_status, c.to_status, c.cause FROM status_change c JOIN \
        (SELECT service_id, MAX(at) AS at FROM status_change GROUP BY service_id) n \
        ON c.service_id = n.service_id AND c.at = n.at ORDER BY c.service_id, c.id DESC";
    let statement = Statement::from_string(connection.get_database_backend(), text);
    let mut rows = Entity::find().from_raw_sql(statement).all(connection).await?;
    rows.dedup_by_key(|row| row.service_id);
    rows.iter().map(from_row).collect()
}

/// When the first change of a service was that is not imported.
///
/// # Errors
/// When the database fails.
pub async fn first_own(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
) -> Result<Option<Timestamp>, StoreError> {
    let row = Entity::find()
        .filter(Column::ServiceId.eq(service))
        .filter(Column::Cause.ne(ChangeCause::Imported.code()))
        .order_by_asc(Column::At)
        .one(connection)
        .await?;
    Ok(row.map(|row| Timestamp::from_ms(row.at)))
}

/// Forgets the imported changes of a service, before others take their place.
///
/// # Errors
/// When the database fails.
pub async fn remove_imported(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
) -> Result<(), StoreError> {
    let of_service = Entity::delete_many().filter(Column::ServiceId.eq(service));
    of_service.filter(Column::Cause.eq(ChangeCause::Imported.code())).exec(connection).await?;
    Ok(())
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
