//! Incidents that count as downtime of the services that they affect, regardless of measurements. Used for SLA targets.

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait as _, QueryFilter as _, QueryOrder as _};
use watchkeeper_entities::incident::Column;

use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::incidents::list::IncidentFilter;
use crate::store::incidents::{affected, rows};

/// Number of services per statement, because the number of bound values is limited.
const SERVICES_AT_ONCE: usize = 1_000;

/// The time during which an incident counts as downtime of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncidentDowntime {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Id of the incident.
    pub incident: Id,
    /// From the time at which the incident starts to count for the service until the incident ends or the service
    /// recovers, but not beyond the end of the requested range.
    pub time: TimeRange,
}

/// The downtime of these services in a time range, caused by visible incidents that count as downtime, sorted by the start
/// of the incident.
pub async fn downtime_of(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    services: &[ServiceKey],
    range: TimeRange,
) -> Result<Vec<IncidentDowntime>, MainError> {
    let mut counted = Vec::new();
    for services in services.chunks(SERVICES_AT_ONCE) {
        let filter = IncidentFilter {
            services: Some(services.to_vec()),
            from: Some(range.from),
            to: Some(range.to),
            ..IncidentFilter::default()
        };
        let query = filter.select(visibility).filter(Column::SlaCountsAsDowntime.eq(true));
        let found = query.order_by_asc(Column::StartedAt).order_by_asc(Column::Id).all(&connection).await?;
        let keys: Vec<i64> = found.iter().map(|row| row.id).collect();
        let mut affected = affected::affected(connection, visibility, &keys).await?;
        for row in found {
            let incident = rows::from_row(row)?;
            let end = incident.resolved_at.unwrap_or(range.to).min(range.to);
            for service in affected.remove(&incident.key).unwrap_or_default() {
                let to = service.recovered_at.map_or(end, |recovered| recovered.min(end));
                let time = TimeRange { from: incident.affects_from(&service), to }.if_not_empty();
                if let Some(time) = time.filter(|_| services.contains(&service.service)) {
                    counted.push(IncidentDowntime { service: service.service, incident: incident.id, time });
                }
            }
        }
    }
    Ok(counted)
}
