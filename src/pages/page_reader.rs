//! Reads the data that a status page shows, from the database and the engine.

use std::collections::HashMap;

use futures_util::FutureExt as _;

use crate::config::Config;
use crate::model::component::status::{ComponentStatus, statuses};
use crate::model::component::tree::ComponentTree;
use crate::model::component::{Component, ComponentKey};
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::model::statuspage::Statuspage;
use crate::model::verdict::Verdict;
use crate::model::visibility::Visibility;
use crate::pages::snapshot::{PageComponent, PageHistory, PageSnapshot};
use crate::pages::visit::PageHost;
use crate::service_router::ServiceRouter;
use crate::store::announcements::{self, ShowingPage};
use crate::store::statuspages::{page_extras, visitors};
use crate::store::{Databases, MainError, component_inputs, components, organisations, unreachable_services};

/// Maximum number of incidents, and of maintenances, in the lists of past ones.
const PAST_MAX: usize = 50;

/// The sources of the data of pages.
pub(super) struct PageReader<'a> {
    pub(super) databases: &'a Databases,
    pub(super) router: &'a ServiceRouter,
    /// The settings, from which public URLs are built.
    pub(super) config: &'a Config,
}

impl PageReader<'_> {
    /// Reads the published page of a host; `None` if there is none.
    pub(super) async fn read(
        &self,
        host: &PageHost,
        earlier: Option<&PageSnapshot>,
    ) -> Result<Option<PageSnapshot>, MainError> {
        let main = self.databases.main.reader();
        let found = match host {
            PageHost::Slug(slug) => visitors::by_slug(main, slug).await?,
            PageHost::Custom(name) => visitors::by_domain(main, name).await?,
        };
        match found.filter(|page| page.is_published) {
            Some(page) => self.gather(page, earlier).boxed_local().await,
            None => Ok(None),
        }
    }

    /// Reads the data that a page shows; `None` if its organisation has been deleted meanwhile. `earlier` is an earlier
    /// snapshot of the same page.
    async fn gather(
        &self,
        page: Statuspage,
        earlier: Option<&PageSnapshot>,
    ) -> Result<Option<PageSnapshot>, MainError> {
        let main = self.databases.main.reader();
        let Some(organisation) = organisations::get(main, page.organisation).await? else {
            return Ok(None);
        };
        let visibility = Visibility::whole(page.organisation);
        let stored = components::of_page(main, visibility, page.key).await?;
        let facts = component_inputs::gather(main, visibility, page.key).await?;
        let verdicts = self.verdicts(&facts.services).await;
        let derived = statuses(&stored, &facts, &verdicts);
        let status = |key: ComponentKey| derived.get(&key).and_then(|derived| derived.effective);
        let visible = stored.iter().filter(|component| status(component.key).is_some());
        let shown: Vec<ServiceKey> = visible.filter_map(|component| component.service).collect();
        let unreachable = unreachable_services::unreachable(main, &shown).await?;
        let because_of = |component: &Component| {
            let causes = &unreachable.get(&component.service?)?.because_of;
            let visible = causes.iter().map(|cause| cause.key).filter(|key| shown.contains(key)).collect();
            (!causes.is_empty()).then_some(visible)
        };
        let known: HashMap<ComponentKey, ComponentStatus> = earlier.map_or_else(HashMap::new, |earlier| {
            earlier.components.iter().map(|one| (one.component.key, one.last_known)).collect()
        });
        let last_known = |key: ComponentKey| match status(key) {
            Some(status) if status != ComponentStatus::Unknown => status,
            _ => known.get(&key).copied().unwrap_or(ComponentStatus::Operational),
        };
        let in_order = ComponentTree::of(&stored).depth_first().into_iter();
        let components = in_order.map(|component| PageComponent {
            status: status(component.key),
            last_known: last_known(component.key),
            because_of: because_of(component),
            component: component.clone(),
        });
        let components = components.collect();
        let mut extras = page_extras::of_pages(main, visibility, &[page.key]).await?;
        let extras = extras.remove(&page.key).unwrap_or_default();
        let showing = ShowingPage {
            organisation: page.organisation,
            statuspage: page.key,
            services: shown.iter().copied().collect(),
        };
        Ok(Some(PageSnapshot {
            components,
            incidents: announcements::incidents(main, &showing).await?,
            maintenances: announcements::maintenances(main, &showing).await?,
            files: extras
                .files
                .into_iter()
                .filter_map(|(kind, hash)| Some((kind.parse().ok()?, hash)))
                .collect(),
            url: extras.active_hostname.map_or_else(
                || self.config.statuspage_url(&page.slug),
                |hostname| format!("https://{hostname}"),
            ),
            page,
            organisation,
        }))
    }

    /// Reads the published page of a host with its past announcements; `None` if there is none.
    pub(super) async fn read_history(
        &self,
        host: &PageHost,
        earlier: Option<&PageHistory>,
    ) -> Result<Option<PageHistory>, MainError> {
        match self.read(host, earlier.map(|earlier| &earlier.page)).await? {
            Some(page) => self.gather_history(page).boxed_local().await.map(Some),
            None => Ok(None),
        }
    }

    async fn gather_history(&self, page: PageSnapshot) -> Result<PageHistory, MainError> {
        let main = self.databases.main.reader();
        let showing = ShowingPage {
            organisation: page.page.organisation,
            statuspage: page.page.key,
            services: page.visible().filter_map(|component| component.service).collect(),
        };
        Ok(PageHistory {
            incidents: announcements::latest_incidents(main, &showing, PAST_MAX).await?,
            maintenances: announcements::latest_maintenances(main, &showing, PAST_MAX).await?,
            page,
        })
    }

    /// Returns the measured verdicts of these services. A service whose owner cannot be reached at once is left out, so that
    /// the visitor does not have to wait.
    async fn verdicts(&self, services: &[ServiceOutline]) -> HashMap<ServiceKey, Verdict> {
        let addresses: Vec<_> = services.iter().map(ServiceOutline::address).collect();
        let snapshots = self.router.snapshots_at_once(&addresses).await;
        let known = services.iter().zip(snapshots);
        known.filter_map(|(service, snapshot)| Some((service.key, snapshot?.verdict))).collect()
    }
}
