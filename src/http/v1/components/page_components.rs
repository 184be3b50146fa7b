//! Reads all components of a page, with all data that they show, at once.

use std::collections::HashMap;

use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::v1::components::view::{ComponentDetails, ComponentView};
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::component::status::{DerivedStatus, statuses};
use crate::model::component::tree::ComponentTree;
use crate::model::component::{Component, ComponentKey};
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::model::statuspage::Statuspage;
use crate::model::visibility::Visibility;
use crate::store::{StoreConnection, component_inputs, components};

/// All components of one page, with all data that they show.
pub(in crate::http::v1) struct PageComponents {
    components: Vec<Component>,
    services: HashMap<ServiceKey, ServiceOutline>,
    tags: HashMap<i64, Id>,
    derived: HashMap<ComponentKey, DerivedStatus>,
}

impl PageComponents {
    /// Reads the components with a constant number of database queries and one request to the engine.
    pub(in crate::http::v1) async fn load(
        state: &AppState,
        connection: &dyn StoreConnection,
        visibility: Visibility,
        page: &Statuspage,
    ) -> Result<Self, ApiError> {
        let components = components::of_page(connection, visibility, page.key).await?;
        let facts = component_inputs::gather(connection, visibility, page.key).await?;
        let addresses: Vec<_> = facts.services.iter().map(ServiceOutline::address).collect();
        let snapshots = state.live(&addresses).await?;
        let verdicts = facts.services.iter().zip(&snapshots);
        let verdicts = verdicts.map(|(service, snapshot)| (service.key, snapshot.verdict)).collect();
        let derived = statuses(&components, &facts, &verdicts);
        let has_tags = components.iter().any(|component| component.sync_tag.is_some());
        let tags = match has_tags {
            true => components::sync_tags(connection, visibility, page.key).await?,
            false => HashMap::new(),
        };
        let services = facts.services.into_iter().map(|service| (service.key, service)).collect();
        Ok(Self { components, services, tags, derived })
    }

    /// Returns the views of all components, depth first.
    pub(in crate::http::v1) fn all(&self, languages: &AnswerLanguage) -> Vec<ComponentView<'_>> {
        let ids = self.components.iter().map(|component| (component.key, component.id)).collect();
        let ordered = ComponentTree::of(&self.components).depth_first();
        ordered.into_iter().map(|component| self.view(component, &ids, languages)).collect()
    }

    /// Returns the view of the component with this id.
    ///
    /// # Errors
    /// 404 when the component has been deleted meanwhile.
    pub(super) fn one(&self, id: Id, languages: &AnswerLanguage) -> Result<ComponentView<'_>, ApiError> {
        let component = self.components.iter().find(|component| component.id == id);
        let component = component.ok_or(ApiError::NotFound)?;
        let ids = self.components.iter().map(|component| (component.key, component.id)).collect();
        Ok(self.view(component, &ids, languages))
    }

    fn view<'a>(
        &'a self,
        component: &'a Component,
        ids: &HashMap<ComponentKey, Id>,
        languages: &AnswerLanguage,
    ) -> ComponentView<'a> {
        let beside = ComponentDetails {
            derived: self.derived.get(&component.key),
            service: component.service.and_then(|service| self.services.get(&service)),
            parent: component.parent.and_then(|parent| ids.get(&parent)).copied(),
            sync_tag: component.sync_tag.and_then(|tag| self.tags.get(&tag)).copied(),
        };
        ComponentView::of(component, beside, languages)
    }
}
