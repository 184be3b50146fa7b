//! Services of open incidents that have not recovered yet, and the marking of their recovery.
//!
//! The queries cover every organisation at once; handlers of clients must not use them. Notices affect nothing, so
//! nothing recovers from them.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, OnConflict, Query, SelectStatement};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use watchkeeper_entities::incident;
use watchkeeper_entities::incident_service::{Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::incident::IncidentKind;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;

/// Maximum number of services per statement: far below the limit of bound values.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// A service that an open incident still affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnrecoveredService {
    /// Database key of the incident.
    pub incident: i64,
    /// Database key of the service.
    pub service: ServiceKey,
    /// The time since which it is affected.
    pub added_at: Timestamp,
}

/// A service that works again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The time since which it works.
    pub at: Timestamp,
    /// Key of the incident of its outage.
    pub incident: Option<i64>,
}

/// The unrecovered among these services; among all when `None`.
pub async fn unrecovered(
    connection: &dyn StoreConnection,
    services: Option<&[ServiceKey]>,
) -> Result<Vec<UnrecoveredService>, MainError> {
    let waiting =
        Entity::find().filter(Column::RecoveredAt.is_null()).filter(Column::IncidentId.in_subquery(open()));
    let mut rows = Vec::new();
    match services {
        None => rows = waiting.all(&connection).await?,
        Some(services) => {
            for chunk in services.chunks(SERVICES_PER_STATEMENT) {
                let among = waiting.clone().filter(Column::ServiceId.is_in(chunk.iter().copied()));
                rows.extend(among.all(&connection).await?);
            }
        }
    }
    let read = |row: watchkeeper_entities::incident_service::Model| UnrecoveredService {
        incident: row.incident_id,
        service: row.service_id,
        added_at: Timestamp::from_ms(row.added_at),
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Marks a service as recovered from an incident, unless it is. Repeating it changes nothing.
pub async fn mark(
    connection: &dyn StoreConnection,
    affected: UnrecoveredService,
    recovered_at: Timestamp,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::RecoveredAt, Expr::value(recovered_at.ms()))
        .filter(Column::IncidentId.eq(affected.incident))
        .filter(Column::ServiceId.eq(affected.service))
        .filter(Column::RecoveredAt.is_null())
        .exec(&connection)
        .await?;
    Ok(())
}

/// Marks each of these services as recovered from every open incident that it was in by then, and from its own in any
/// case, which may have been opened after its recovery started. Repeating it changes nothing. Returns the new
/// recoveries, by incident and service. The organisations of the services are locked.
pub async fn mark_services(
    connection: &dyn StoreConnection,
    recovered: &[RecoveredService],
) -> Result<Vec<(i64, ServiceKey)>, MainError> {
    let mut marked_services = Vec::new();
    for chunk in recovered.chunks(SERVICES_PER_STATEMENT) {
        let by_service: HashMap<ServiceKey, &RecoveredService> =
            chunk.iter().map(|recovered| (recovered.service, recovered)).collect();
        let waiting = Entity::find()
            .filter(Column::ServiceId.is_in(by_service.keys().copied()))
            .filter(Column::RecoveredAt.is_null())
            .filter(Column::IncidentId.in_subquery(open()))
            .order_by_asc(Column::IncidentId)
            .order_by_asc(Column::ServiceId)
            .all(&connection)
            .await?;
        let marked = waiting.into_iter().filter_map(|row| {
            let RecoveredService { at, incident, .. } = by_service.get(&row.service_id)?;
            let was_in = row.added_at <= at.ms() || *incident == Some(row.incident_id);
            was_in.then(|| Model { recovered_at: Some(at.ms().max(row.added_at)), ..row })
        });
        let marked: Vec<Model> = marked.collect();
        for rows in marked.chunks(SERVICES_PER_STATEMENT) {
            let replaced = OnConflict::columns([Column::IncidentId, Column::ServiceId])
                .update_column(Column::RecoveredAt)
                .to_owned();
            let rows = rows.iter().map(|row| row.clone().into_active_model().reset_all());
            Entity::insert_many(rows).on_conflict(replaced).exec_without_returning(&connection).await?;
        }
        marked_services.extend(marked.iter().map(|row| (row.incident_id, row.service_id)));
    }
    Ok(marked_services)
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
