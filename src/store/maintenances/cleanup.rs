//! Settles maintenances when one of their services is deleted (contract 4.3.9).
//!
//! Locks are taken from the maintenance to its services everywhere; whoever deletes a service calls [`lock_of`] before he
//! locks the service, and [`detach`] after.

use sea_orm::sea_query::{Expr, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, ExprTrait as _, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait as _, UpdateMany,
};
use watchkeeper_entities::maintenance::{Column, Entity};
use watchkeeper_entities::maintenance_service::{Column as Link, Entity as Links};

use crate::clock::Timestamp;
use crate::model::event::Act;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::store::maintenances::series::{cleanup as series_cleanup, occurrences};
use crate::store::{MainError, events};

/// The numbers of maintenances that were cancelled, deleted or detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detached {
    /// They concerned nothing else and had not ended.
    pub cancelled: u64,
    /// They concerned nothing else, and were to go with the service.
    pub deleted: u64,
    /// They stay as they are, without the service.
    pub detached: u64,
}

/// Keeps others from changing the maintenances that cover the service until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn lock_of(connection: &impl ConnectionTrait, service: ServiceKey) -> Result<(), MainError> {
    let linked = Links::find()
        .select_only()
        .column(Link::MaintenanceId)
        .filter(Link::ServiceId.eq(service))
        .into_query();
    let _: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::Id.in_subquery(linked))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(connection)
        .await?;
    Ok(())
}

/// Detaches the service from every maintenance. Those that concern nothing else are deleted if `delete_orphaned`, else
/// cancelled unless they have ended. The windows of the service go with the service.
///
/// # Errors
/// When the database fails.
pub async fn detach(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    delete_orphaned: bool,
    now: Timestamp,
) -> Result<Detached, MainError> {
    lock_of(connection, service).await?;
    series_cleanup::detach(connection, service, delete_orphaned).await?;
    let linked = Links::find().filter(Link::ServiceId.eq(service)).count(connection).await?;
    if linked == 0 {
        return Ok(Detached::default());
    }
    let (mut cancelled, mut deleted) = (0, 0);
    let lone = || Expr::exists(links_of(Expr::col(Link::ServiceId).ne(service))).not();
    let of_service = || Condition::all().add(Expr::exists(links_of(Expr::col(Link::ServiceId).eq(service))));
    if delete_orphaned {
        remember(connection, service).await?;
        let others = of_service().add(Expr::exists(links_of(Expr::col(Link::ServiceId).ne(service))));
        events::of_maintenances(connection, Act::Updated, others, &[service]).await?;
        events::of_maintenances(connection, Act::Deleted, of_service().add(lone()), &[]).await?;
        let orphaned = Entity::delete_many().filter(of_service()).filter(lone());
        deleted = orphaned.exec(connection).await?.rows_affected;
    } else {
        events::of_maintenances(connection, Act::Updated, of_service(), &[service]).await?;
        let running = orphaned_in(service, MaintenanceStatus::InProgress);
        let running = running.col_expr(Column::ActualEnd, Expr::value(now.ms()));
        let waiting = orphaned_in(service, MaintenanceStatus::Scheduled);
        for ending in [running, waiting] {
            cancelled += ending.exec(connection).await?.rows_affected;
        }
    }
    Links::delete_many().filter(Link::ServiceId.eq(service)).exec(connection).await?;
    Ok(Detached { cancelled, deleted, detached: linked - cancelled - deleted })
}

/// Takes the maintenances that concern the service alone out of their series, so that these do not create them again.
async fn remember(connection: &impl ConnectionTrait, service: ServiceKey) -> Result<(), MainError> {
    let windows: Vec<(i64, i64)> = Entity::find()
        .select_only()
        .columns([Column::SeriesId, Column::Occurrence])
        .filter(Column::SeriesId.is_not_null())
        .filter(Expr::exists(links_of(Expr::col(Link::ServiceId).eq(service))))
        .filter(Expr::exists(links_of(Expr::col(Link::ServiceId).ne(service))).not())
        .into_tuple()
        .all(connection)
        .await?;
    let windows: Vec<_> =
        windows.into_iter().map(|(series, start)| (series, Timestamp::from_ms(start))).collect();
    occurrences::skip_all(connection, &windows).await
}

/// Cancels the maintenances in this state that concern the service alone.
fn orphaned_in(service: ServiceKey, status: MaintenanceStatus) -> UpdateMany<Entity> {
    Entity::update_many()
        .col_expr(Column::Status, Expr::value(MaintenanceStatus::Cancelled.as_str()))
        .filter(Column::Status.eq(status.as_str()))
        .filter(Expr::exists(links_of(Expr::col(Link::ServiceId).eq(service))))
        .filter(Expr::exists(links_of(Expr::col(Link::ServiceId).ne(service))).not())
}

/// The links of the maintenance of the surrounding statement that meet a condition.
fn links_of(condition: sea_orm::sea_query::SimpleExpr) -> SelectStatement {
    Query::select()
        .expr(Expr::value(1))
        .from(Links)
        .and_where(Expr::col((Links, Link::MaintenanceId)).equals((Entity, Column::Id)))
        .and_where(condition)
        .to_owned()
}
