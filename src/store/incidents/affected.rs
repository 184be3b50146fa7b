//! Reads the services that incidents affect.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, JoinType, QueryFilter, QuerySelect};
use watchkeeper_entities::{incident_service, service};

use crate::clock::Timestamp;
use crate::model::incident::{AffectedService, sort_by_name};
use crate::model::service::{NamedService, ServiceKey};
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::incidents::evidence;
use crate::store::incidents::links::SERVICES_PER_STATEMENT;
use crate::store::named_services;
use crate::store::scope_filter::ScopedResource;

/// The visible services that each of these incidents affects, sorted by name.
pub(super) async fn affected(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    incidents: &[i64],
) -> Result<HashMap<i64, Vec<AffectedService>>, MainError> {
    narrowly_affected(connection, ScopedResource::Services.condition(visibility), incidents).await
}

/// Like `affected`, but regardless of access scopes.
pub(super) async fn affected_in_full(
    connection: &dyn StoreConnection,
    incidents: &[i64],
) -> Result<HashMap<i64, Vec<AffectedService>>, MainError> {
    narrowly_affected(connection, None, incidents).await
}

async fn narrowly_affected(
    connection: &dyn StoreConnection,
    condition: Option<Expr>,
    incidents: &[i64],
) -> Result<HashMap<i64, Vec<AffectedService>>, MainError> {
    let mut found: HashMap<i64, Vec<AffectedService>> = HashMap::new();
    if incidents.is_empty() {
        return Ok(found);
    }
    let to_service = incident_service::Entity::belongs_to(service::Entity)
        .from(incident_service::Column::ServiceId)
        .to(service::Column::Id)
        .into();
    let mut links = incident_service::Entity::find()
        .join(JoinType::InnerJoin, to_service)
        .filter(incident_service::Column::IncidentId.is_in(incidents.iter().copied()));
    if let Some(condition) = condition {
        links = links.filter(condition);
    }
    let links = links.all(&connection).await?;
    let named = named_services::by_keys(connection, links.iter().map(|link| link.service_id)).await?;
    for link in links {
        let Some(service) = named.get(&link.service_id) else { continue };
        found.entry(link.incident_id).or_default().push(to_affected(&link, service)?);
    }
    for services in found.values_mut() {
        sort_by_name(services);
    }
    Ok(found)
}

/// The services among `services` that an incident affects, sorted by name.
pub(super) async fn affected_among(
    connection: &dyn StoreConnection,
    incident: i64,
    services: &[ServiceKey],
) -> Result<Vec<AffectedService>, MainError> {
    let mut found = Vec::new();
    for some in services.chunks(SERVICES_PER_STATEMENT) {
        let among = among(connection.get_database_backend(), incident, some);
        let mut affected = narrowly_affected(connection, Some(among), &[incident]).await?;
        found.extend(affected.remove(&incident).unwrap_or_default());
    }
    sort_by_name(&mut found);
    Ok(found)
}

fn to_affected(link: &incident_service::Model, service: &NamedService) -> Result<AffectedService, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("incident_service", &link.service_id, &problem);
    let impact = link.impact.as_deref().map(str::parse).transpose();
    Ok(AffectedService {
        service: link.service_id,
        id: service.id,
        name: service.name.clone(),
        impact: impact.map_err(|_| corrupt("unknown impact"))?,
        is_derived: link.is_derived,
        added_at: Timestamp::from_ms(link.added_at),
        recovered_at: link.recovered_at.map(Timestamp::from_ms),
        evidence: link.evidence.as_deref().and_then(evidence::from_stored),
    })
}

/// Condition for these services of an incident. It causes one lookup in the primary key for each of them, however many
/// services the incident has.
///
/// PostgreSQL would read all services of the incident for `service_id IN (…)` until it has statistics of their number, and
/// an incident grows faster than statistics are collected.
fn among(backend: DbBackend, incident: i64, services: &[ServiceKey]) -> Expr {
    if backend != DbBackend::Postgres {
        return incident_service::Column::ServiceId.is_in(services.iter().copied());
    }
    let keys: Vec<String> =
        (2..).take(services.len()).map(|index| format!("(CAST(${index} AS bigint))")).collect();
    let rows = format!(
        "incident_service.ctid = ANY(ARRAY(SELECT found.ctid FROM (VALUES {}) AS wanted (service_id) CROSS JOIN LATERAL \
        (SELECT ctid FROM incident_service WHERE incident_id = $1 AND service_id = wanted.service_id LIMIT 1) AS found))",
        keys.join(", ")
    );
    Expr::cust_with_values(rows, std::iter::once(incident).chain(services.iter().copied()))
}
