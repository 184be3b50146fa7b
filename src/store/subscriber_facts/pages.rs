//! The status pages that show an incident or a maintenance (contract 4.10.2): the pages that were chosen for it; if none
//! were, all pages with a visible component of a service that it names. A component below a hidden group is hidden.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait as _};
use watchkeeper_entities::component::{Column, Entity, Model};
use watchkeeper_entities::{incident_service, maintenance_service, maintenance_statuspage};

use crate::model::service::ServiceKey;
use crate::store::error::MainError;

/// Number of services per statement, far below the limit of bound values.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// The facts about a component that decide whether it is visible.
struct ComponentNode {
    page: i64,
    parent: Option<i64>,
    service: Option<ServiceKey>,
    is_visible: bool,
}

/// The keys of the pages that show an incident or a maintenance with these chosen pages and these named services, in
/// ascending order.
pub async fn pages_showing(
    connection: &dyn StoreConnection,
    chosen: &[i64],
    services: &[ServiceKey],
) -> Result<Vec<i64>, MainError> {
    let shown: BTreeSet<i64> = if chosen.is_empty() && !services.is_empty() {
        let named: HashSet<ServiceKey> = services.iter().copied().collect();
        let parts = parts(connection, services).await?;
        let names_one = |part: &ComponentNode| part.service.is_some_and(|service| named.contains(&service));
        let visible = parts.values().filter(|part| names_one(part) && is_visible(part, &parts));
        visible.map(|part| part.page).collect()
    } else {
        chosen.iter().copied().collect()
    };
    Ok(shown.into_iter().collect())
}

/// The services of an incident for which some page has a component.
pub async fn services_on_pages(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Vec<ServiceKey>, MainError> {
    let of_incident = incident_service::Entity::find()
        .select_only()
        .column(incident_service::Column::ServiceId)
        .filter(incident_service::Column::IncidentId.eq(incident))
        .into_query();
    let shown = Entity::find()
        .select_only()
        .column(Column::ServiceId)
        .distinct()
        .filter(Column::ServiceId.in_subquery(of_incident));
    Ok(shown.into_tuple().all(&connection).await?)
}

/// The keys of the pages that show a maintenance, in ascending order.
pub async fn that_show_maintenance(
    connection: &dyn StoreConnection,
    maintenance: i64,
) -> Result<Vec<i64>, MainError> {
    let chosen: Vec<i64> = maintenance_statuspage::Entity::find()
        .select_only()
        .column(maintenance_statuspage::Column::StatuspageId)
        .filter(maintenance_statuspage::Column::MaintenanceId.eq(maintenance))
        .into_tuple()
        .all(&connection)
        .await?;
    let services: Vec<ServiceKey> = maintenance_service::Entity::find()
        .select_only()
        .column(maintenance_service::Column::ServiceId)
        .filter(maintenance_service::Column::MaintenanceId.eq(maintenance))
        .into_tuple()
        .all(&connection)
        .await?;
    pages_showing(connection, &chosen, &services).await
}

/// All components of the pages that have a component of one of these services, by database key.
async fn parts(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<i64, ComponentNode>, MainError> {
    let part = |row: Model| {
        let Model { statuspage_id: page, parent_id: parent, service_id: service, is_visible, .. } = row;
        (row.id, ComponentNode { page, parent, service, is_visible })
    };
    let mut parts = HashMap::new();
    for some in services.chunks(SERVICES_PER_STATEMENT) {
        let with_one = Entity::find()
            .select_only()
            .column(Column::StatuspageId)
            .filter(Column::ServiceId.is_in(some.iter().copied()))
            .into_query();
        let rows = Entity::find().filter(Column::StatuspageId.in_subquery(with_one)).all(&connection).await?;
        parts.extend(rows.into_iter().map(part));
    }
    Ok(parts)
}

fn is_visible(part: &ComponentNode, parts: &HashMap<i64, ComponentNode>) -> bool {
    let above = |part: &&ComponentNode| part.parent.and_then(|parent| parts.get(&parent));
    // `take` ends the iteration if groups form a circle, which should not happen.
    std::iter::successors(Some(part), above).take(parts.len()).all(|part| part.is_visible)
}
