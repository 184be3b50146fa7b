//! Renders a stored page for visitors: everything is read from the database and the engine once per request.

use std::borrow::Cow;
use std::collections::HashMap;

use actix_web::HttpResponse;
use askama::Template as _;

use crate::incidents::incident_texts;
use crate::model::access::Organisation;
use crate::model::asset::AssetKind;
use crate::model::component::status::{DerivedStatus, statuses};
use crate::model::component::tree::ComponentTree;
use crate::model::component::{Component, ComponentKey};
use crate::model::dependency::UnreachableState;
use crate::model::incident::{AffectedService, IncidentStatus};
use crate::model::language::choose;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::service_outline::ServiceOutline;
use crate::model::statuspage::Statuspage;
use crate::model::translated_text::TranslatedText;
use crate::model::verdict::Verdict;
use crate::model::visibility::Visibility;
use crate::pages::appearance::PageAppearance;
use crate::pages::own_style::has_own_style;
use crate::pages::page_texts::PageTexts;
use crate::pages::view::{
    AnnouncementUpdate, DisplayTime, PageAnnouncement, PageHead, PublicPage, ShownComponent, VisitorLanguage,
    paragraphs,
};
use crate::pages::visit::PageVisit;
use crate::pages::{PageServer, answer};
use crate::store::announcements::{self, ShowingPage, StoredAnnouncement, TouchedService};
use crate::store::{MainError, assets, component_inputs, components, organisations, unreachable_services};
use crate::texts::GeneratedText;

impl PageServer {
    /// Returns the measured verdicts of these services. A service without a reachable owner has none, and the visitor
    /// does not wait for it.
    async fn verdicts(&self, services: &[ServiceOutline]) -> HashMap<ServiceKey, Verdict> {
        let addresses: Vec<_> = services.iter().map(ServiceOutline::address).collect();
        let snapshots = self.router.snapshots_at_once(&addresses).await;
        let known = services.iter().zip(snapshots);
        known.filter_map(|(service, snapshot)| Some((service.key, snapshot?.verdict))).collect()
    }

    /// The page in the visitor's language.
    pub(super) async fn show(&self, visit: &PageVisit, page: &Statuspage) -> Result<HttpResponse, MainError> {
        let main = self.databases.main.reader();
        let Some(organisation) = organisations::get(main, page.organisation).await? else {
            return Ok(answer::not_found());
        };
        let default = page.effective_default_locale(&organisation);
        let locales = page.effective_locales(&organisation);
        let chosen = choose(&visit.accept_language, &locales, &default).unwrap_or_else(|| default.clone());
        let reader = VisitorLanguage { chosen: &chosen, default: &default, words: PageTexts::of(&chosen) };
        let appearance = PageAppearance::of(page, visit.appearance, reader.words);
        let view = self.view(&reader, page, &organisation, appearance).await?;
        let html = view.render().unwrap_or_else(|error| {
            tracing::error!(page = %page.id, %error, "cannot render a status page");
            String::new()
        });
        Ok(answer::page(page, html, &chosen))
    }
}

impl PageServer {
    async fn view(
        &self,
        reader: &VisitorLanguage<'_>,
        page: &Statuspage,
        organisation: &Organisation,
        appearance: PageAppearance,
    ) -> Result<PublicPage, MainError> {
        let main = self.databases.main.reader();
        let visibility = Visibility::whole(page.organisation);
        let components = components::of_page(main, visibility, page.key).await?;
        let facts = component_inputs::gather(main, visibility, page.key).await?;
        let verdicts = self.verdicts(&facts.services).await;
        let derived = statuses(&components, &facts, &verdicts);
        let ordered = ComponentTree::of(&components).depth_first();
        let visible = components.iter().filter(|component| is_seen(component, &derived));
        let linked: HashMap<ServiceKey, String> = visible
            .filter_map(|component| Some((component.service?, reader.text(&component.name))))
            .collect();
        let shown: Vec<ServiceKey> = linked.keys().copied().collect();
        let unreachable = unreachable_services::unreachable(main, &shown).await?;
        let part = |component| part(component, &derived, because_of(component, &unreachable, &linked));
        let parts: Vec<ShownComponent<'_>> = ordered.into_iter().map(part).collect();
        let showing = ShowingPage {
            organisation: page.organisation,
            statuspage: page.key,
            services: shown.into_iter().collect(),
        };
        let incidents = announcements::incidents(main, &showing).await?;
        let maintenances = announcements::maintenances(main, &showing).await?;
        let renderer = AnnouncementRenderer { reader, page, organisation, linked: &linked };
        let incidents = incidents.into_iter().map(|one| renderer.incident(one)).collect();
        let maintenances = maintenances.into_iter().map(|one| renderer.maintenance(one)).collect();
        let mut hashes = assets::hashes(main, page.key).await?;
        let mut file = |kind: AssetKind| hashes.remove(&kind).map(|hash| format!("/assets/{hash}"));
        let icon = file(AssetKind::Favicon);
        let logo = file(AssetKind::Logo).filter(|_| page.shows.logo);
        let logo_dark = file(AssetKind::LogoDark).filter(|_| logo.is_some());
        let name = reader.text(&page.name);
        let head = PageHead {
            locale: reader.chosen.to_owned(),
            title: page.seo.title.as_ref().map_or_else(|| name.clone(), |title| reader.text(title)),
            description: page.seo.description.as_ref().map(|text| reader.text(text)),
            is_indexable: page.seo.indexable,
            icon,
            has_own_style: has_own_style(page),
        };
        Ok(PublicPage {
            words: reader.words,
            appearance,
            head,
            name,
            logo,
            logo_dark,
            logo_size: page.logo_size.as_str(),
            overall: reader.overall(&parts),
            as_of: self.clock.now().into(),
            entries: reader.entries(&parts),
            incidents,
            maintenances,
            imprint: page.imprint_url.clone(),
            privacy: page.privacy_policy_url.clone(),
        })
    }
}

/// Returns the names, as visible to visitors, of the dependencies that make the service of a component unreachable;
/// `None` while none of them is down.
fn because_of(
    component: &Component,
    unreachable: &HashMap<ServiceKey, UnreachableState>,
    linked: &HashMap<ServiceKey, String>,
) -> Option<Vec<String>> {
    let UnreachableState { because_of, .. } = unreachable.get(&component.service?)?;
    if because_of.is_empty() {
        return None;
    }
    Some(because_of.iter().filter_map(|parent| linked.get(&parent.key)).cloned().collect())
}

fn part<'a>(
    component: &'a Component,
    derived: &HashMap<ComponentKey, DerivedStatus>,
    because_of: Option<Vec<String>>,
) -> ShownComponent<'a> {
    let status = derived.get(&component.key).and_then(|derived| derived.effective);
    ShownComponent {
        key: component.key,
        parent: component.parent,
        name: &component.name,
        description: component.description.as_ref(),
        status,
        because_of,
        is_group: component.is_group,
        hides_operational: component.hide_operational_children,
        is_open_at_first: component.default_open,
    }
}

/// Returns true if a component is visible to visitors.
fn is_seen(component: &Component, derived: &HashMap<ComponentKey, DerivedStatus>) -> bool {
    derived.get(&component.key).is_some_and(|derived| derived.effective.is_some())
}

struct AnnouncementRenderer<'a> {
    reader: &'a VisitorLanguage<'a>,
    page: &'a Statuspage,
    organisation: &'a Organisation,
    /// Names of services as visible to visitors.
    linked: &'a HashMap<ServiceKey, String>,
}

impl AnnouncementRenderer<'_> {
    fn incident(&self, incident: StoredAnnouncement<IncidentStatus>) -> PageAnnouncement {
        self.announcement(incident, |status| self.reader.words.incident(status))
    }

    fn maintenance(&self, maintenance: StoredAnnouncement<MaintenanceStatus>) -> PageAnnouncement {
        let has_open_end = maintenance.end.is_none();
        let announcement = self.announcement(maintenance, |status| self.reader.words.maintenance(status));
        PageAnnouncement { has_open_end, ..announcement }
    }

    fn announcement<S: Copy>(
        &self,
        announced: StoredAnnouncement<S>,
        state: impl Fn(S) -> &'static str,
    ) -> PageAnnouncement {
        let state = |status| announced.has_progress.then(|| state(status));
        let updates = announced.entries.iter().rev().map(|entry| AnnouncementUpdate {
            state: state(entry.status),
            at: DisplayTime::from(entry.at),
            paragraphs: paragraphs(&self.reader.text(&entry.message)),
        });
        PageAnnouncement {
            title: self.reader.text(&self.title(&announced)),
            state: state(announced.status),
            start: announced.start.into(),
            end: announced.end.map(DisplayTime::from),
            has_open_end: false,
            updates: updates.collect(),
            affected: self.names(announced.services),
        }
    }

    /// The title for visitors: a title generated by the engine names only visible services, by their visible names.
    fn title<'t, S>(&self, announced: &'t StoredAnnouncement<S>) -> Cow<'t, TranslatedText> {
        let Some(services) = &announced.may_name else { return Cow::Borrowed(&announced.title) };
        let known = services.iter().filter_map(|affected| {
            let name = self.known_name(affected.service, &affected.name)?;
            Some(AffectedService { name, ..affected.clone() })
        });
        let known: Vec<AffectedService> = known.collect();
        if known.is_empty() {
            return Cow::Owned(GeneratedText::new("incident-unnamed").translated(self.organisation));
        }
        if known == *services {
            return Cow::Borrowed(&announced.title);
        }
        Cow::Owned(incident_texts::title(&known, incident_texts::worst_impact(&known), self.organisation))
    }

    /// Visible names of these services.
    fn names(&self, services: Vec<TouchedService>) -> Vec<String> {
        let shown = services.into_iter().filter(|_| self.page.shows.affected_services);
        shown.filter_map(|service| self.known_name(service.key, &service.name)).collect()
    }

    /// Name of a service as visible to visitors; `None` if it is not visible.
    fn known_name(&self, service: ServiceKey, name: &str) -> Option<String> {
        let linked = self.linked.get(&service).cloned();
        let shows = self.page.shows;
        linked.or_else(|| (shows.affected_services && shows.unlinked_services).then(|| name.to_owned()))
    }
}
