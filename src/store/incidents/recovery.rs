//! Services of open incidents that have not recovered yet, for whoever sees that they have.
//!
//! It works for every organisation at once; nothing that answers a client may use it. Notices affect nothing, so nothing
//! recovers from them.

use sea_orm::sea_query::{CaseStatement, Expr, Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::incident;
use watchkeeper_entities::incident_service::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::incident::IncidentKind;
use crate::model::service::ServiceKey;
use crate::store::MainError;

/// Most services in one statement: far below what a statement may bind.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// A service that an open incident affects still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrecovered {
    /// Key of the incident.
    pub incident: i64,
    /// The service.
    pub service: ServiceKey,
    /// The time since which it is affected.
    pub added_at: Timestamp,
}

/// The unrecovered among these services; among all when `None`.
///
/// # Errors
/// When the database fails.
pub async fn unrecovered(
    connection: &impl ConnectionTrait,
    services: Option<&[ServiceKey]>,
) -> Result<Vec<Unrecovered>, MainError> {
    let waiting =
        Entity::find().filter(Column::RecoveredAt.is_null()).filter(Column::IncidentId.in_subquery(open()));
    let mut rows = Vec::new();
    match services {
        None => rows = waiting.all(connection).await?,
        Some(services) => {
            for chunk in services.chunks(SERVICES_PER_STATEMENT) {
                let among = waiting.clone().filter(Column::ServiceId.is_in(chunk.iter().copied()));
                rows.extend(among.all(connection).await?);
            }
        }
    }
    let read = |row: watchkeeper_entities::incident_service::Model| Unrecovered {
        incident: row.incident_id,
        service: row.service_id,
        added_at: Timestamp::from_ms(row.added_at),
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Notes that a service has recovered from an incident, unless that is known. Doing it again changes nothing.
///
/// # Errors
/// When the database fails.
pub async fn mark(
    connection: &impl ConnectionTrait,
    affected: Unrecovered,
    recovered_at: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::RecoveredAt, Expr::value(recovered_at.ms()))
        .filter(Column::IncidentId.eq(affected.incident))
        .filter(Column::ServiceId.eq(affected.service))
        .filter(Column::RecoveredAt.is_null())
        .exec(connection)
        .await?;
    Ok(())
}

/// The keys of the open incidents from which a service is about to be marked as recovered by [`mark_service`].
///
/// # Errors
/// When the database fails.
pub async fn incidents_to_mark(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    (recovered_at, own): (Timestamp, Option<i64>),
) -> Result<Vec<i64>, MainError> {
    let was_in = Condition::any()
        .add(Column::AddedAt.lte(recovered_at.ms()))
        .add_option(own.map(|own| Column::IncidentId.eq(own)));
    let keys = Entity::find()
        .select_only()
        .column(Column::IncidentId)
        .filter(Column::ServiceId.eq(service))
        .filter(Column::RecoveredAt.is_null())
        .filter(was_in)
        .filter(Column::IncidentId.in_subquery(open()));
    Ok(keys.into_tuple().all(connection).await?)
}

/// Notes that a service has recovered from every open incident that it was in by then, and from its own in any case: that
/// may have been told of it later than its return began. Doing it again changes nothing. Gives the number of incidents for which
/// that is news.
///
/// # Errors
/// When the database fails.
pub async fn mark_service(
    connection: &impl ConnectionTrait,
    service: ServiceKey,
    (recovered_at, own): (Timestamp, Option<i64>),
) -> Result<u64, MainError> {
    let at = recovered_at.ms();
    let not_before = CaseStatement::new()
        .case(Column::AddedAt.gt(at), Expr::col(Column::AddedAt))
        .finally(Expr::value(at));
    let was_in =
        Condition::any().add(Column::AddedAt.lte(at)).add_option(own.map(|own| Column::IncidentId.eq(own)));
    let marked = Entity::update_many()
        .col_expr(Column::RecoveredAt, not_before.into())
        .filter(Column::ServiceId.eq(service))
        .filter(Column::RecoveredAt.is_null())
        .filter(was_in)
        .filter(Column::IncidentId.in_subquery(open()))
        .exec(connection)
        .await?;
    Ok(marked.rows_affected)
}

/// Keys of open incidents from which services recover.
fn open() -> SelectStatement {
    Query::select()
        .column(incident::Column::Id)
        .from(incident::Entity)
        .and_where(incident::Column::ResolvedAt.is_null())
        .and_where(incident::Column::Kind.ne(IncidentKind::Notice.as_str()))
        .to_owned()
}
