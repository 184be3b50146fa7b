//! Reads `depends_on` of a service: the services and tags that it depends on, which are looked up in the organisation.
//!
//! An entry is the id of a service, or a tag by its id or name. All entries are resolved before anything is stored. Cycles
//! are detected when everything is stored in the transaction, with the current tags; the error names the services of the
//! cycle.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::dependency::{DEPENDENCIES_MAX, Dependency};
use crate::model::service::ServiceKey;
use crate::model::tag::Tag;
use crate::model::tag::TagName;
use crate::store::{Transaction, dependencies, id_lookup, named_services, outages, tags};

/// The dependencies in a body, and the errors found in them.
pub(super) struct DependencyInput {
    pub(super) errors: FieldErrors,
    /// The dependencies that were sent; `None` when the body has no `depends_on`.
    choice: Option<Vec<Dependency>>,
}

impl DependencyInput {
    /// Creates the input of a body whose dependencies are not read.
    pub(super) fn unread() -> Self {
        Self { errors: FieldErrors::default(), choice: None }
    }

    /// Reads the body of a write to the service with this id (`None` = a new service), and looks up the entries.
    pub(super) async fn read(
        body: &Map<String, Value>,
        transaction: &Transaction,
        caller: &Caller,
        own: Option<Id>,
    ) -> Result<Self, ApiError> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let entries = fields.optional("depends_on").and_then(|field| field.list(DEPENDENCIES_MAX));
        if entries.is_some() && caller.visibility().is_confined() {
            // The service may depend on services that this caller does not see; these dependencies would be lost.
            return Err(ApiError::Confined);
        }
        let Some(entries) = entries else { return Ok(Self { errors: errors.into_inner(), choice: None }) };
        let texts: Vec<Option<&str>> = entries.iter().map(|entry| entry.string().map(str::trim)).collect();
        let ids: Vec<Id> = texts.iter().flatten().filter_map(|text| text.parse().ok()).collect();
        let names: Vec<TagName> = texts.iter().flatten().filter_map(|text| text.parse().ok()).collect();
        let services = id_lookup::services_to_link(transaction, caller.visibility(), &ids).await?;
        let tags = tags::find_all(transaction, caller.visibility(), &ids, &names).await?;
        let mut choice: Vec<Dependency> = Vec::new();
        for (entry, text) in entries.iter().zip(texts) {
            let Some(text) = text else { continue };
            let id: Option<Id> = text.parse().ok();
            let service = id.and_then(|id| services.get(&id)).cloned().map(Dependency::Service);
            let name: Option<TagName> = text.parse().ok();
            let is_meant = |tag: &&Tag| Some(tag.id) == id || Some(&tag.name) == name.as_ref();
            let tag = tags.iter().find(is_meant);
            let tag = tag.map(|tag| Dependency::Tag { key: tag.row, id: tag.id, label: tag.name.label() });
            match service.or(tag) {
                Some(Dependency::Service(found)) if Some(found.id) == own => {
                    let _ = entry.refuse::<()>(FieldRule::DependencyItself);
                }
                Some(found) if choice.contains(&found) => {}
                Some(found) => choice.push(found),
                None => {
                    let _ = entry.refuse::<()>(FieldRule::DependencyUnknown(text.to_owned()));
                }
            }
        }
        Ok(Self { errors: errors.into_inner(), choice: Some(choice) })
    }

    /// Returns true if the dependencies of the service will change.
    pub(super) async fn is_change(
        &self,
        transaction: &Transaction,
        service: ServiceKey,
    ) -> Result<bool, ApiError> {
        let Some(choice) = &self.choice else { return Ok(false) };
        let stored = dependencies::of_services(transaction, &[service]).await?.remove(&service);
        Ok(stored.unwrap_or_default() != *choice)
    }

    pub(super) async fn store(&self, transaction: &Transaction, service: ServiceKey) -> Result<(), ApiError> {
        let Some(choice) = &self.choice else { return Ok(()) };
        Ok(dependencies::set_of_service(transaction, service, choice).await?)
    }
}

/// Schedules decisions about the outages of this service and of the services that depend on it, because dependencies are
/// about to change, or have changed.
pub(super) async fn recheck_dependents(
    transaction: &Transaction,
    service: ServiceKey,
    now: Timestamp,
) -> Result<(), ApiError> {
    let graph = dependencies::find_neighbours(transaction, &[service]).await?;
    let touched: Vec<ServiceKey> = graph.children_of(service).chain([service]).collect();
    Ok(outages::evaluate_now(transaction, &touched, now).await?)
}

/// Checks that there is no dependency cycle through this service. The write must be complete except for its commit; `field`
/// is the changed field.
pub(super) async fn refuse_circles(
    transaction: &Transaction,
    caller: &Caller,
    field: &'static str,
    service: ServiceKey,
) -> Result<(), ApiError> {
    // A cycle through a service contains one of its own dependencies. Most services have none, and there may be many others.
    if dependencies::of_services(transaction, &[service]).await?.is_empty() {
        return Ok(());
    }
    let graph = dependencies::graph(transaction, caller.organisation.key).await?;
    let Some(circle) = graph.cycle() else { return Ok(()) };
    if caller.visibility().is_confined() {
        // The other services of the cycle may be outside of the caller's scope.
        let words = "some lie outside of the access scope".to_owned();
        return Err(ApiError::Fields(FieldErrors::of(field, FieldRule::DependencyCircle(words))));
    }
    let known = named_services::by_keys(transaction, circle.iter().copied()).await?;
    let name = |key: &ServiceKey| known.get(key).map_or("?", |service| service.name.as_str());
    let names: Vec<&str> = circle.iter().map(name).collect();
    Err(ApiError::Fields(FieldErrors::of(field, FieldRule::DependencyCircle(names.join(" → ")))))
}
