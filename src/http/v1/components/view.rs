//! Components as clients see them (contract 4.14.1): what is stored, and what follows from services, maintenances and
//! incidents at this moment.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::http::kit::error::ApiError;
use crate::http::kit::languages::Languages;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::component::status::{ComponentStatus, Derived, statuses};
use crate::model::component::tree::Tree;
use crate::model::component::{Component, ComponentKey};
use crate::model::service::{Service, ServiceKey};
use crate::model::statuspage::Statuspage;
use crate::model::translated::Translated;
use crate::store::{Connection, components, page_facts};

/// All components of one page with everything that they show.
pub(in crate::http) struct PageComponents {
    components: Vec<Component>,
    services: HashMap<ServiceKey, Service>,
    tags: HashMap<i64, Id>,
    derived: HashMap<ComponentKey, Derived>,
}

impl PageComponents {
    /// Reads them: a constant number of questions to the database and one to the engine.
    ///
    /// # Errors
    /// 503, 500.
    pub(in crate::http) async fn load(
        state: &AppState,
        connection: &impl Connection,
        page: &Statuspage,
    ) -> Result<Self, ApiError> {
        let components = components::of_page(connection, page.key).await?;
        let facts = page_facts::gather(connection, page.organisation, page.key).await?;
        let snapshots = state.snapshots(&facts.services).await?;
        let verdicts = facts.services.iter().zip(&snapshots);
        let verdicts = verdicts.map(|(service, snapshot)| (service.key, snapshot.verdict)).collect();
        let derived = statuses(&components, &facts, &verdicts);
        let has_tags = components.iter().any(|component| component.sync_tag.is_some());
        let tags = if has_tags { components::sync_tags(connection, page.key).await? } else { HashMap::new() };
        let services = facts.services.into_iter().map(|service| (service.key, service)).collect();
        Ok(Self { components, services, tags, derived })
    }

    /// Every component, depth first.
    pub(in crate::http) fn all(&self, languages: &Languages) -> Vec<Value> {
        let ids = self.components.iter().map(|component| (component.key, component.id)).collect();
        let ordered = Tree::of(&self.components).depth_first();
        ordered.into_iter().map(|component| self.json(component, &ids, languages)).collect()
    }

    /// The component with this id.
    ///
    /// # Errors
    /// 404 when it has gone meanwhile.
    pub(in crate::http) fn one(&self, id: Id, languages: &Languages) -> Result<Value, ApiError> {
        let component = self.components.iter().find(|component| component.id == id);
        let component = component.ok_or(ApiError::NotFound)?;
        let ids = self.components.iter().map(|component| (component.key, component.id)).collect();
        Ok(self.json(component, &ids, languages))
    }

    fn json(&self, component: &Component, ids: &HashMap<ComponentKey, Id>, languages: &Languages) -> Value {
        let derived = self.derived.get(&component.key);
        let status = derived.map_or(ComponentStatus::Operational, |derived| derived.status);
        let effective = derived.and_then(|derived| derived.effective);
        let service = component.service.and_then(|service| self.services.get(&service));
        let id_of = |found: Option<&Id>| found.map(|id| id.as_str().to_owned());
        json!({
            "id": component.id.as_str(),
            "name": languages.text(&component.name),
            "name_translations": component.name.to_json(),
            "description": languages.optional(component.description.as_ref()),
            "description_translations": component.description.as_ref().map(Translated::to_json),
            "status": status.as_str(),
            "effective_status": effective.map(ComponentStatus::as_str),
            "is_group": component.is_group,
            "is_visible": component.is_visible,
            "display_order": component.display_order,
            "parent_id": id_of(component.parent.and_then(|parent| ids.get(&parent))),
            "service": service.map(|service| json!({"id": service.id.as_str(), "name": service.name})),
            "show_uptime_bars": component.show_uptime_bars,
            "hide_operational_children": component.hide_operational_children,
            "default_open": component.default_open,
            "sync_tag_id": id_of(component.sync_tag.and_then(|tag| self.tags.get(&tag))),
            "sync_new_visible": component.sync_new_visible,
            "is_sync_managed": component.is_sync_managed,
        })
    }
}
