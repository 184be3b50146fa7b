//! Reads the data that a status page shows, from the database and the engine.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::clock::Clock;
use crate::config::Config;
use crate::history_figures::service_days::{self, MeasuredService};
use crate::id::Id;
use crate::model::component::status::{ComponentStatus, statuses};
use crate::model::component::tree::ComponentTree;
use crate::model::component::{Component, ComponentKey};
use crate::model::service::ServiceKey;
use crate::model::statuspage::Statuspage;
use crate::model::visibility::Visibility;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::days_cache::DaysCache;
use crate::pages::page_host::PageHost;
use crate::pages::snapshot::{HistoryKey, HistoryScope, PageComponent, PageHistory, PageSnapshot};
use crate::pages::state_source::{PresentStates, StateSource};
use crate::stats::service_days::ServiceDays;
use crate::store::announcements::{self, AnnouncementSelection, ShowingPage, StoredAnnouncement};
use crate::store::statuspages::{page_extras, visitors};
use crate::store::{Databases, MainError, component_inputs, components, organisations, unreachable_services};

/// Maximum number of incidents, and of maintenances, in the lists of the latest ones.
const PAST_MAX: usize = 50;
/// The same for a month.
const MONTH_MAX: usize = 200;

/// The sources of the data of pages.
pub(super) struct PageReader<'a> {
    pub(super) databases: &'a Databases,
    pub(super) states: &'a StateSource,
    /// The settings, from which public URLs are built.
    pub(super) config: &'a Config,
    /// Source of the wall time.
    pub(super) clock: &'a Clock,
    /// The days of services.
    pub(super) days: &'a DaysCache,
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
    pub(super) async fn gather(
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
        let PresentStates { verdicts, measured } = self.states.present(&facts.services).await;
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
        let days = self.days(&stored, &shown, &measured).await;
        let days = |component: &Component| {
            let service = component.service.filter(|_| component.show_uptime_bars)?;
            days.get(&service).map(Arc::clone)
        };
        let known: HashMap<ComponentKey, &PageComponent> = earlier.map_or_else(HashMap::new, |earlier| {
            earlier.components.iter().map(|one| (one.component.key, one)).collect()
        });
        let last_known = |key: ComponentKey| match status(key) {
            Some(status) if status != ComponentStatus::Unknown => status,
            _ => known.get(&key).map_or(ComponentStatus::Operational, |known| known.last_known),
        };
        let in_order = ComponentTree::of(&stored).depth_first().into_iter();
        let now = self.clock.now();
        let components = in_order.map(|component| {
            let (days, known) = (days(component), known.get(&component.key).copied());
            let status = status(component.key);
            PageComponent {
                status,
                last_known: last_known(component.key),
                changed_at: PageComponent::changed_at(known, component, status, days.as_deref(), now),
                because_of: because_of(component),
                days,
                component: component.clone(),
            }
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
            takes_subscribers: !page.visitor_channels(self.config.mail.is_complete()).is_empty(),
            files: extras
                .files
                .into_iter()
                .filter_map(|(kind, hash)| Some((kind.parse().ok()?, hash)))
                .collect(),
            url: self.public_url(&page, extras.active_hostname),
            page,
            organisation,
        }))
    }

    /// Returns the public URL of a page, without a slash at its end.
    fn public_url(&self, page: &Statuspage, active_hostname: Option<String>) -> String {
        active_hostname
            .map_or_else(|| self.config.statuspage_url(&page.slug), |hostname| format!("https://{hostname}"))
    }

    /// Reads the published page of a host with a part of its past; `None` if there is no such page, incident or
    /// maintenance. `shown` is the page that visitors see.
    pub(super) async fn read_history(
        &self,
        key: &HistoryKey,
        shown: Option<&PageSnapshot>,
        earlier: Option<&PageHistory>,
    ) -> Result<Option<PageHistory>, MainError> {
        // What a visitor asks for by its id may not exist, so that the page is not read again for it.
        let page = match shown.filter(|_| key.scope.is_single()) {
            Some(page) => Some(page.clone()),
            None => self.read(&key.host, earlier.map(|earlier| &earlier.page)).await?,
        };
        match page {
            Some(page) => self.gather_history(page, key.scope).boxed_local().await,
            None => Ok(None),
        }
    }

    async fn gather_history(
        &self,
        page: PageSnapshot,
        scope: HistoryScope,
    ) -> Result<Option<PageHistory>, MainError> {
        let main = self.databases.main.reader();
        let showing = ShowingPage {
            organisation: page.page.organisation,
            statuspage: page.page.key,
            services: page.visible().filter_map(|component| component.service).collect(),
        };
        let (of_incidents, of_maintenances) = match scope {
            HistoryScope::Latest => (Some(AnnouncementSelection::All), Some(AnnouncementSelection::All)),
            HistoryScope::Month(month) => {
                let started = AnnouncementSelection::StartedIn(month.range());
                (Some(started), Some(started))
            }
            HistoryScope::Incident(id) => (Some(AnnouncementSelection::Single(id)), None),
            HistoryScope::Maintenance(id) => (None, Some(AnnouncementSelection::Single(id))),
        };
        let most = if scope == HistoryScope::Latest { PAST_MAX } else { MONTH_MAX };
        let mut first_month = CalendarMonth::of(page.page.created_at);
        if let HistoryScope::Month(month) = scope {
            let first = announcements::first_start(main, page.page.organisation).await?;
            first_month = first.map_or(first_month, |first| first_month.min(CalendarMonth::of(first)));
            if month < first_month {
                return Ok(None);
            }
        }
        let mut history = PageHistory { incidents: Vec::new(), maintenances: Vec::new(), first_month, page };
        if let Some(selection) = of_incidents {
            history.incidents = announcements::past_incidents(main, &showing, selection, most).await?;
        }
        if let Some(selection) = of_maintenances {
            history.maintenances = announcements::past_maintenances(main, &showing, selection, most).await?;
        }
        if scope == HistoryScope::Latest {
            add_current(&mut history.incidents, &history.page.incidents);
            add_current(&mut history.maintenances, &history.page.maintenances);
        }
        let is_missing = scope.is_single() && history.incidents.is_empty() && history.maintenances.is_empty();
        Ok((!is_missing).then_some(history))
    }

    /// Returns the days of the services that visible components show with uptime bars.
    async fn days(
        &self,
        components: &[Component],
        shown: &[ServiceKey],
        measured: &HashMap<ServiceKey, MeasuredService>,
    ) -> HashMap<ServiceKey, Arc<ServiceDays>> {
        let with_bars: HashSet<ServiceKey> = components
            .iter()
            .filter(|component| component.show_uptime_bars)
            .filter_map(|component| component.service)
            .collect();
        // Several components may show the same service.
        let wanted: Vec<ServiceKey> =
            with_bars.intersection(&shown.iter().copied().collect()).copied().collect();
        let known: Vec<MeasuredService> =
            wanted.iter().filter_map(|key| measured.get(key)).copied().collect();
        let read = async |asked: &[MeasuredService]| {
            service_days::read(self.databases, asked, self.clock.now()).await
        };
        self.days.current(&wanted, &known, read).await
    }
}

/// Adds the announcements that the page shows at present and that are not among the latest ones; keeps the latest first.
fn add_current<S: Clone>(latest: &mut Vec<StoredAnnouncement<S>>, current: &[StoredAnnouncement<S>]) {
    let known: HashSet<Id> = latest.iter().map(|one| one.id).collect();
    latest.extend(current.iter().filter(|one| !known.contains(&one.id)).cloned());
    latest.sort_by_key(|one| std::cmp::Reverse(one.start));
}
