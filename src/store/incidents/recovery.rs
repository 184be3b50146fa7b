//! Services that have not recovered from an open incident yet, and storing their recovery.
//!
//! The queries cover all organisations: handlers of client requests must not use them. Notices are ignored, because no
//! service can recover from a notice.

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

/// Number of services per statement, far below the limit of bound values.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// A service that an open incident still affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnrecoveredService {
    /// Database key of the incident.
    pub incident: i64,
    /// Database key of the service.
    pub service: ServiceKey,
    /// Time from which the incident affects the service.
    pub added_at: Timestamp,
}

/// A service that works again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Time from which the service works again.
    pub at: Timestamp,
    /// Database key of the incident of the service's outage; `None` if the outage had none.
    pub incident: Option<i64>,
}

/// The services among these that have not recovered from an open incident; with `None`, all of them.
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

/// Stores that a service has recovered from an incident. Does nothing if its recovery is already stored.
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

/// Stores the recovery of each of these services from every open incident that affected it by then, and in any case from
/// its own incident, which may have been opened after the recovery started. A repetition changes nothing. Returns the
/// newly stored recoveries as pairs of incident and service. The caller must hold the locks of their organisations.
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

/// Selects the keys of open incidents that are not notices.
fn open() -> SelectStatement {
    Query::select()
        .column(incident::Column::Id)
        .from(incident::Entity)
        .and_where(incident::Column::ResolvedAt.is_null())
        .and_where(incident::Column::Kind.ne(IncidentKind::Notice.as_str()))
        .to_owned()
}
