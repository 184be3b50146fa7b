//! Service windows: periods that determine how the time of a service counts. They are pauses, status overrides, planned
//! maintenances, and times in which the service was unreachable.
//!
//! A window is written in the transaction of the action that causes it, so uptime never depends on a message. A service
//! has at most one open window of each kind. Only maintenance windows are open once per maintenance; they are opened and
//! closed by `maintenances::effect`.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{CaseStatement, Expr};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::service_window::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::store::error::MainError;

/// Opens a window at `at` and closes an open one of the same kind.
pub async fn open(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    kind: WindowKind,
    at: Timestamp,
) -> Result<(), MainError> {
    close(connection, service, kind.word(), at).await?;
    let status = match kind {
        WindowKind::Pause | WindowKind::Maintenance | WindowKind::Unreachable => None,
        WindowKind::Override(status) => Some(status.as_str().to_owned()),
    };
    let row = ActiveModel {
        service_id: Set(service),
        kind: Set(kind.word().into()),
        status: Set(status),
        from_at: Set(at.ms()),
        to_at: Set(None),
        maintenance_id: Set(None),
        ..ActiveModel::default()
    };
    Entity::insert(row).exec_without_returning(&connection).await?;
    Ok(())
}

/// Closes the open pause of a service, if there is one.
pub async fn close_pause(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    at: Timestamp,
) -> Result<(), MainError> {
    close(connection, service, "pause", at).await
}

/// Closes the open window of kind `unreachable` of a service, if there is one.
pub async fn close_unreachable(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    at: Timestamp,
) -> Result<(), MainError> {
    close(connection, service, "unreachable", at).await
}

/// Closes the open override of a service, if there is one.
pub async fn close_override(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    at: Timestamp,
) -> Result<(), MainError> {
    close(connection, service, "override", at).await
}

async fn close(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    kind: &str,
    at: Timestamp,
) -> Result<(), MainError> {
    // If the clock was set back, the window ends at its start, and not before it.
    let not_before = CaseStatement::new()
        .case(Column::FromAt.gt(at.ms()), Expr::col(Column::FromAt))
        .finally(Expr::value(at.ms()));
    Entity::update_many()
        .col_expr(Column::ToAt, not_before.into())
        .filter(Column::ServiceId.eq(service))
        .filter(Column::Kind.eq(kind))
        .filter(Column::ToAt.is_null())
        .exec(&connection)
        .await?;
    Ok(())
}

/// The windows of these services that end after `from` or are open, sorted by service and start.
pub async fn since(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
    from: Timestamp,
) -> Result<Vec<ServiceWindow>, MainError> {
    let rows = Entity::find()
        .filter(Column::ServiceId.is_in(services.iter().copied()))
        .filter(Condition::any().add(Column::ToAt.is_null()).add(Column::ToAt.gt(from.ms())))
        .order_by_asc(Column::ServiceId)
        .order_by_asc(Column::FromAt)
        .order_by_asc(Column::Id)
        .all(&connection)
        .await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Model) -> Result<ServiceWindow, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("service_window", &row.id, &problem);
    let kind = match (row.kind.as_str(), row.status.as_deref()) {
        ("pause", _) => WindowKind::Pause,
        ("maintenance", _) => WindowKind::Maintenance,
        ("unreachable", _) => WindowKind::Unreachable,
        ("override", Some(status)) => {
            WindowKind::Override(status.parse().map_err(|_| corrupt("unknown status"))?)
        }
        _ => return Err(corrupt("unknown kind")),
    };
    let to = row.to_at.map(Timestamp::from_ms);
    Ok(ServiceWindow { service: row.service_id, kind, from: Timestamp::from_ms(row.from_at), to })
}
