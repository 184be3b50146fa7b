//! Reads the facts that decide the statuses of a page's components, with a constant number of queries (contract 4.14.5).
//!
//! Measurements are not included: they come from the engine.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::SelectStatement;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use watchkeeper_entities::{
    component, incident, incident_service, incident_statuspage, maintenance, maintenance_service, service,
};

use crate::model::announcement::ChosenPages;
use crate::model::component::status::{ComponentInputs, ComponentStatus, OpenIncident};
use crate::model::incident::{Impact, IncidentKind, Severity};
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::scope_filter::{ScopedResource, narrowed};
use crate::store::services::outlines;

/// Kinds of incidents that affect component statuses; notices do not.
const KINDS: [IncidentKind; 2] = [IncidentKind::Standard, IncidentKind::AgentLiveness];

/// The inputs for the components of one page, restricted to the visible services.
pub async fn gather(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    page: i64,
) -> Result<ComponentInputs, MainError> {
    let organisation = visibility.organisation();
    let shown = narrowed(service::Entity::find(), ScopedResource::Services, visibility)
        .filter(service::Column::OrganisationId.eq(organisation))
        .filter(service::Column::Id.in_subquery(shown_services(page)));
    let services = outlines::selected(connection, shown).await?;
    if services.is_empty() {
        return Ok(ComponentInputs::default());
    }
    Ok(ComponentInputs {
        services,
        maintained: maintained(connection, page).await?,
        incidents: incidents(connection, organisation, page).await?,
    })
}

/// Selects the keys of the services that components of the page show.
fn shown_services(page: i64) -> SelectStatement {
    component::Entity::find()
        .select_only()
        .column(component::Column::ServiceId)
        .filter(component::Column::StatuspageId.eq(page))
        .filter(component::Column::ServiceId.is_not_null())
        .into_query()
}

async fn maintained(connection: &dyn StoreConnection, page: i64) -> Result<HashSet<ServiceKey>, MainError> {
    let running = maintenance::Entity::find()
        .select_only()
        .column(maintenance::Column::Id)
        .filter(maintenance::Column::Status.eq(MaintenanceStatus::InProgress.as_str()))
        .into_query();
    let rows = maintenance_service::Entity::find()
        .filter(maintenance_service::Column::ServiceId.in_subquery(shown_services(page)))
        .filter(maintenance_service::Column::MaintenanceId.in_subquery(running))
        .all(&connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.service_id).collect())
}

/// Selects the keys of the organisation's open, published incidents that are not notices.
fn open_incidents(organisation: i64) -> SelectStatement {
    incident::Entity::find()
        .select_only()
        .column(incident::Column::Id)
        .filter(incident::Column::OrganisationId.eq(organisation))
        .filter(incident::Column::ResolvedAt.is_null())
        .filter(incident::Column::IsPublished.eq(true))
        .filter(incident::Column::Kind.is_in(KINDS.map(IncidentKind::as_str)))
        .into_query()
}

async fn incidents(
    connection: &dyn StoreConnection,
    organisation: i64,
    page: i64,
) -> Result<Vec<OpenIncident>, MainError> {
    let affected = incident_service::Entity::find()
        .filter(incident_service::Column::ServiceId.in_subquery(shown_services(page)))
        .filter(incident_service::Column::IncidentId.in_subquery(open_incidents(organisation)))
        .all(&connection)
        .await?;
    if affected.is_empty() {
        return Ok(Vec::new());
    }
    let severities = severities(connection, organisation).await?;
    let mut chosen: HashMap<i64, Vec<i64>> = HashMap::new();
    let rows = incident_statuspage::Entity::find()
        .filter(incident_statuspage::Column::IncidentId.in_subquery(open_incidents(organisation)))
        .all(&connection)
        .await?;
    for row in rows {
        chosen.entry(row.incident_id).or_default().push(row.statuspage_id);
    }
    let mut incidents: HashMap<i64, OpenIncident> = HashMap::new();
    for row in affected {
        let Some(severity) = severities.get(&row.incident_id) else { continue };
        let corrupt =
            |error: strum::ParseError| MainError::corrupt("incident_service", &row.incident_id, &error);
        let impact = row.impact.as_deref().map(str::parse::<Impact>).transpose().map_err(corrupt)?;
        let claim = ComponentStatus::claimed(impact, *severity);
        let incident = incidents.entry(row.incident_id).or_insert_with(|| {
            let pages = chosen.get(&row.incident_id).into_iter().flatten().copied();
            OpenIncident { pages: ChosenPages::of(pages, page), affected: Vec::new() }
        });
        incident.affected.push((row.service_id, row.recovered_at.is_none().then_some(claim)));
    }
    Ok(incidents.into_values().collect())
}

async fn severities(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<i64, Severity>, MainError> {
    let rows: Vec<(i64, String)> = incident::Entity::find()
        .select_only()
        .columns([incident::Column::Id, incident::Column::Severity])
        .filter(incident::Column::Id.in_subquery(open_incidents(organisation)))
        .into_tuple()
        .all(&connection)
        .await?;
    let severity = |(key, word): (i64, String)| {
        let severity = word
            .parse::<Severity>()
            .map_err(|error: strum::ParseError| MainError::corrupt("incident", &key, &error));
        Ok((key, severity?))
    };
    rows.into_iter().map(severity).collect()
}
