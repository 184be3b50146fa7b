//! The services on which a service depends, and those that depend on it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::service::{Service, ServiceKey};
use crate::store::{dependencies, named_services};

/// A service or tag near a service.
pub(super) struct NeighbourLink {
    /// `None` for a tag.
    pub(super) link: Option<String>,
    pub(super) name: String,
}

/// Returns what a service depends on, from its JSON in the API.
pub(super) fn parents(service: &Value) -> Vec<NeighbourLink> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let link = |parent: &Value| NeighbourLink {
        link: (parent["kind"] == "service").then(|| format!("/console/services/{}", text(&parent["id"]))),
        name: text(&parent["name"]),
    };
    service["depends_on"].as_array().into_iter().flatten().map(link).collect()
}

/// Reads the services that depend on a service, by name. As in the API, users who see only a part of the organisation see
/// none.
///
/// # Errors
/// When the database fails.
pub(super) async fn children(visit: &UserVisit, service: &Service) -> Result<Vec<NeighbourLink>, ApiError> {
    if visit.signed_in.caller.visibility().is_confined() {
        return Ok(Vec::new());
    }
    let main = visit.visit.state().databases.main.reader();
    let graph = dependencies::find_neighbours(main, &[service.key]).await?;
    let keys: BTreeSet<ServiceKey> = graph.children_of(service.key).collect();
    let mut named: Vec<_> = named_services::by_keys(main, keys).await?.into_values().collect();
    named.sort_by(|one, other| (&one.name, one.key).cmp(&(&other.name, other.key)));
    let link = |child: crate::model::service::NamedService| NeighbourLink {
        link: Some(format!("/console/services/{}", child.id)),
        name: child.name,
    };
    Ok(named.into_iter().map(link).collect())
}
