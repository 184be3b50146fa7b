//! The outages that wait for the end of an incident, however many they are. Handlers of clients must not use it.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::incident_service;
use watchkeeper_entities::outage::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::outages::{forget, postpone_recovered};

/// The time of the last recovery of the services whose outages wait for the end of this incident; `None` while one of
/// them has not recovered, or when there are none.
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

/// Returns true if a service that has not recovered from the incident is in trouble. A service that never was (added
/// by a member) has nothing to recover from, and does not count.
pub async fn is_any_failing(connection: &dyn StoreConnection, incident: i64) -> Result<bool, MainError> {
    let affected = |column| Expr::col((incident_service::Entity, column));
    // Evaluated for each service that has not recovered, of which there is none at the end of most incidents.
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

/// Deletes outages of an incident that have recovered, at most `most`; if there are more, one of them becomes due
/// now, and may delete the next ones.
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
