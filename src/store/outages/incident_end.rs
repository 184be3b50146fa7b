//! The outages that an incident waits for before it ends, however many there are. Handlers of client requests must not use
//! this module.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::incident_service;
use watchkeeper_entities::outage::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::outages::{forget, postpone_recovered};

/// The time of the latest recovery of the outages of this incident; `None` while one of them has not recovered, or if the
/// incident has no outages.
pub async fn last_recovery(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Option<Timestamp>, MainError> {
    let of_incident = || Entity::find().select_only().filter(Column::IncidentId.eq(incident));
    let lasting = of_incident().column(Column::ServiceId).filter(Column::RecoveredAt.is_null()).limit(1);
    if lasting.into_tuple::<i64>().one(&connection).await?.is_some() {
        return Ok(None);
    }
    let last = of_incident().column_as(Column::RecoveredAt.max(), "last").into_tuple::<Option<i64>>();
    Ok(last.one(&connection).await?.flatten().map(Timestamp::from_ms))
}

/// Returns true if a service that has not recovered from the incident has an outage. A service without an outage, added by
/// a member, has nothing to recover from and does not count.
pub async fn is_any_failing(connection: &dyn StoreConnection, incident: i64) -> Result<bool, MainError> {
    let affected = |column| Expr::col((incident_service::Entity, column));
    // A subquery per unrecovered service is cheap, because at the end of most incidents there is none.
    let is_failing = Query::select()
        .expr(Expr::value(1))
        .from(Entity)
        .and_where(
            Expr::col((Entity, Column::ServiceId))
                .equals((incident_service::Entity, incident_service::Column::ServiceId)),
        )
        .and_where(Expr::col((Entity, Column::RecoveredAt)).is_null())
        .to_owned();
    let failing = incident_service::Entity::find()
        .select_only()
        .column(incident_service::Column::ServiceId)
        .filter(affected(incident_service::Column::IncidentId).eq(incident))
        .filter(affected(incident_service::Column::RecoveredAt).is_null())
        .filter(Expr::exists(is_failing))
        .limit(1);
    Ok(failing.into_tuple::<i64>().one(&connection).await?.is_some())
}

/// Deletes up to `most` recovered outages of an incident. If there are more, one of them becomes due for evaluation at
/// `now`, so that the next ones are deleted then.
pub async fn forget_recovered(
    connection: &dyn StoreConnection,
    incident: i64,
    most: u64,
    now: Timestamp,
) -> Result<(), MainError> {
    let recovered = Entity::find()
        .select_only()
        .column(Column::ServiceId)
        .filter(Column::IncidentId.eq(incident))
        .filter(Column::RecoveredAt.is_not_null())
        .limit(most + 1);
    let mut recovered: Vec<ServiceKey> = recovered.into_tuple().all(&connection).await?;
    if recovered.len() as u64 > most {
        let next: Vec<ServiceKey> = recovered.pop().into_iter().collect();
        postpone_recovered(connection, &next, now).await?;
    }
    forget(connection, &recovered).await
}
