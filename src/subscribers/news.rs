//! The news of a fact on one page: what the page shows of it, and which components it touches.
//!
//! News name services as the page names them, and only those that it shows. What visitors can no longer see (an incident
//! that was made internal, a page that was taken offline) is not sent.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::config::Config;
use crate::id::Id;
use crate::incidents::incident_texts;
use crate::model::access::Organisation;
use crate::model::component::Component;
use crate::model::incident::{AffectedService, IncidentStatus, Severity};
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::statuspage::Statuspage;
use crate::model::subscriber::PageSubscriber;
use crate::model::subscriber_fact::{FactKind, FactSubject, SubscriberFact};
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::announcements::TouchedService;
use crate::store::statuspages::{page_extras, visitors};
use crate::store::subscriber_news::{IncidentNews, MaintenanceNews};
use crate::store::{
    MainError, StoreConnection, components, organisations, subscriber_facts, subscriber_news,
};
use crate::texts::GeneratedText;

/// The name of a page, where it is, and the languages of its texts.
#[derive(Clone, Debug)]
pub(super) struct PageIdentity {
    pub(super) page: Statuspage,
    pub(super) organisation: Organisation,
    /// The public URL, without a slash at its end.
    pub(super) url: String,
    /// The language of texts that are missing in that of a subscriber.
    pub(super) default_locale: String,
}

impl PageIdentity {
    /// Reads the page; `None` if it was deleted.
    pub(super) async fn read(
        main: &dyn StoreConnection,
        config: &Config,
        page: i64,
    ) -> Result<Option<Self>, MainError> {
        let Some(page) = visitors::by_key(main, page).await? else { return Ok(None) };
        let Some(organisation) = organisations::get(main, page.organisation).await? else { return Ok(None) };
        let visibility = Visibility::whole(page.organisation);
        let mut extras = page_extras::of_pages(main, visibility, &[page.key]).await?;
        let hostname = extras.remove(&page.key).and_then(|extras| extras.active_hostname);
        let url = hostname
            .map_or_else(|| config.statuspage_url(&page.slug), |hostname| format!("https://{hostname}"));
        let default_locale = page.effective_default_locale(&organisation);
        Ok(Some(Self { page, organisation, url, default_locale }))
    }

    /// Returns a text in a language.
    pub(super) fn text<'a>(&self, text: &'a TranslatedText, locale: &str) -> &'a str {
        text.text(locale, &self.default_locale)
    }
}

/// The news of a fact on one page, in all languages.
#[derive(Clone, Debug)]
pub(super) struct PageNews {
    pub(super) identity: PageIdentity,
    pub(super) fact: SubscriberFact,
    /// Id of the incident or the maintenance.
    pub(super) subject: Id,
    /// The title, as visitors see it.
    pub(super) title: TranslatedText,
    /// The name of the state in the language files.
    pub(super) state: &'static str,
    /// Severity of an incident.
    pub(super) severity: Option<Severity>,
    /// True if the incident or the maintenance is over.
    pub(super) is_over: bool,
    /// Planned start and end of a maintenance.
    pub(super) window: Option<NewsWindow>,
    /// Names of the affected services, as far as the page shows them.
    pub(super) affected: Vec<ShownName>,
    /// Keys of the components that the news touch, and of the groups around them.
    touched: HashSet<i64>,
}

/// The planned time of a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewsWindow {
    pub(super) start: Timestamp,
    /// `None` = open.
    pub(super) end: Option<Timestamp>,
}

/// The name of an affected service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShownName {
    /// The name of its component.
    Component(TranslatedText),
    /// Its own name, which the page shows of services without a component.
    Service(String),
}

impl PageNews {
    /// Reads the news of a fact on a page; `None` if the page, or the incident, is not published any more.
    pub(super) async fn read(
        main: &dyn StoreConnection,
        config: &Config,
        fact: i64,
        page: i64,
    ) -> Result<Option<Self>, MainError> {
        let Some(fact) = subscriber_facts::with_key(main, fact).await? else { return Ok(None) };
        let identity = PageIdentity::read(main, config, page).await?;
        let Some(identity) = identity.filter(|identity| identity.page.is_published) else { return Ok(None) };
        let visibility = Visibility::whole(identity.page.organisation);
        let components = components::of_page(main, visibility, page).await?;
        match fact.subject {
            FactSubject::Incident { incident, entry } => {
                let incident = subscriber_news::incident(main, incident, entry).await?;
                let incident = incident.filter(|incident| incident.is_published);
                Ok(incident.map(|incident| Self::of_incident(identity, fact, &components, &incident)))
            }
            FactSubject::Maintenance { maintenance, .. } | FactSubject::Reminder { maintenance, .. } => {
                let maintenance = subscriber_news::maintenance(main, maintenance).await?;
                Ok(maintenance
                    .filter(|maintenance| is_still_true(fact.subject, maintenance))
                    .map(|maintenance| Self::of_maintenance(identity, fact, &components, &maintenance)))
            }
        }
    }

    fn of_incident(
        identity: PageIdentity,
        fact: SubscriberFact,
        components: &[Component],
        incident: &IncidentNews,
    ) -> Self {
        let names = VisibleNames::of(&identity, components);
        let title = incident.may_name.as_ref().map(|services| names.title(&fact.title, services));
        Self {
            subject: incident.id,
            title: title.unwrap_or_else(|| fact.title.clone()),
            state: incident_state(incident),
            severity: Some(incident.severity),
            is_over: incident.status == IncidentStatus::Resolved,
            window: None,
            affected: names.shown(&incident.services),
            touched: touched(components, &incident.services),
            fact,
            identity,
        }
    }

    fn of_maintenance(
        identity: PageIdentity,
        fact: SubscriberFact,
        components: &[Component],
        maintenance: &MaintenanceNews,
    ) -> Self {
        let names = VisibleNames::of(&identity, components);
        Self {
            subject: maintenance.id,
            title: fact.title.clone(),
            state: maintenance_state(fact.kind),
            severity: None,
            is_over: matches!(fact.kind, FactKind::MaintenanceCompleted | FactKind::MaintenanceCancelled),
            window: Some(NewsWindow { start: maintenance.start, end: maintenance.end }),
            affected: names.shown(&maintenance.services),
            touched: touched(components, &maintenance.services),
            fact,
            identity,
        }
    }

    /// Returns true if the subscriber wants the news: of all components, or of one that they touch.
    pub(super) fn concerns(&self, subscriber: &PageSubscriber) -> bool {
        let chosen = subscriber.components.as_ref();
        chosen.is_none_or(|chosen| chosen.iter().any(|component| self.touched.contains(&component.key)))
    }
}

const fn incident_state(incident: &IncidentNews) -> &'static str {
    match incident.status {
        IncidentStatus::Resolved => "incident-resolved",
        _ if !incident.has_progress => "notice",
        IncidentStatus::Investigating => "incident-investigating",
        IncidentStatus::Identified => "incident-identified",
        IncidentStatus::Monitoring => "incident-monitoring",
    }
}

/// Returns false for a reminder of a time at which the maintenance does not start any more.
fn is_still_true(subject: FactSubject, maintenance: &MaintenanceNews) -> bool {
    let FactSubject::Reminder { start, .. } = subject else { return true };
    maintenance.status == MaintenanceStatus::Scheduled && maintenance.start == start
}

const fn maintenance_state(kind: FactKind) -> &'static str {
    match kind {
        FactKind::IncidentEntry => "notice",
        FactKind::MaintenanceAnnounced => "maintenance-announced",
        FactKind::MaintenanceMoved => "maintenance-moved",
        FactKind::MaintenanceDayBefore => "maintenance-day-before",
        FactKind::MaintenanceHourBefore => "maintenance-hour-before",
        FactKind::MaintenanceStarted => "maintenance-started",
        FactKind::MaintenanceCompleted => "maintenance-completed",
        FactKind::MaintenanceCancelled => "maintenance-cancelled",
    }
}

/// Keys of the visible components of these services, and of the groups around them.
fn touched(components: &[Component], services: &[TouchedService]) -> HashSet<i64> {
    let services: HashSet<ServiceKey> = services.iter().map(|service| service.key).collect();
    let by_key: HashMap<i64, &Component> = components.iter().map(|one| (one.key, one)).collect();
    let mut found = HashSet::new();
    for component in components {
        if component.service.is_some_and(|service| services.contains(&service))
            && is_visible(component, &by_key)
        {
            found.extend(with_groups(component, &by_key).map(|one| one.key));
        }
    }
    found
}

/// The component and the groups around it, from the inside.
fn with_groups<'a>(
    component: &'a Component,
    by_key: &'a HashMap<i64, &'a Component>,
) -> impl Iterator<Item = &'a Component> {
    let above = |one: &&'a Component| one.parent.and_then(|parent| by_key.get(&parent).copied());
    // `take` ends the iteration if groups form a circle, which should not happen.
    std::iter::successors(Some(component), above).take(by_key.len())
}

fn is_visible(component: &Component, by_key: &HashMap<i64, &Component>) -> bool {
    with_groups(component, by_key).all(|one| one.is_visible)
}

/// The names by which visitors of a page know services.
struct VisibleNames<'a> {
    identity: &'a PageIdentity,
    /// Names of the visible components of each service.
    linked: HashMap<ServiceKey, Vec<&'a TranslatedText>>,
}

impl<'a> VisibleNames<'a> {
    fn of(identity: &'a PageIdentity, components: &'a [Component]) -> Self {
        let by_key: HashMap<i64, &Component> = components.iter().map(|one| (one.key, one)).collect();
        let visible = components.iter().filter(|component| is_visible(component, &by_key));
        let mut linked: HashMap<ServiceKey, Vec<&TranslatedText>> = HashMap::new();
        for component in visible {
            if let Some(service) = component.service {
                linked.entry(service).or_default().push(&component.name);
            }
        }
        Self { identity, linked }
    }

    /// Returns the names of these services, as far as the page shows them.
    fn shown(&self, services: &[TouchedService]) -> Vec<ShownName> {
        let shows = self.identity.page.shows;
        if !shows.affected_services {
            return Vec::new();
        }
        let names = |service: &TouchedService| -> Vec<ShownName> {
            match self.linked.get(&service.key) {
                Some(names) => names.iter().map(|name| ShownName::Component((*name).clone())).collect(),
                None if shows.unlinked_services => vec![ShownName::Service(service.name.clone())],
                None => Vec::new(),
            }
        };
        services.iter().flat_map(names).collect()
    }

    /// Returns the generated title of an incident, which names only what the page shows.
    fn title(&self, stored: &TranslatedText, services: &[AffectedService]) -> TranslatedText {
        let PageIdentity { page, organisation, default_locale, .. } = self.identity;
        let name = |affected: &AffectedService| match self
            .linked
            .get(&affected.service)
            .and_then(|names| names.first())
        {
            Some(name) => Some(name.text(default_locale, default_locale).to_owned()),
            None => {
                (page.shows.affected_services && page.shows.unlinked_services).then(|| affected.name.clone())
            }
        };
        let known: Vec<AffectedService> = services
            .iter()
            .filter_map(|affected| Some(AffectedService { name: name(affected)?, ..affected.clone() }))
            .collect();
        if known.is_empty() {
            return GeneratedText::new("incident-unnamed").translated(organisation);
        }
        if known == *services {
            return stored.clone();
        }
        incident_texts::title(&known, incident_texts::worst_impact(&known), organisation)
    }
}
