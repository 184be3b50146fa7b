//! Renders a snapshot of a page for visitors, in one language.

use askama::Template as _;

use crate::clock::Timestamp;
use crate::model::asset::AssetKind;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::appearance::PageAppearance;
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::{PageComponent, PageSnapshot};
use crate::pages::stylesheets;
use crate::pages::view::{
    AnnouncementUpdate, DisplayTime, LanguageLink, PageAnnouncement, PageHead, PublicPage, ShownComponent,
    VisitorLanguage,
};
use crate::store::announcements::StoredAnnouncement;
use crate::texts::markdown;

/// The choices on which a visitor's page depends.
#[derive(Clone, Debug)]
pub(super) struct PageChoices {
    pub(super) locale: String,
    pub(super) appearance: Option<PageColorScheme>,
    /// Time of the snapshot; set while no later snapshot can be read.
    pub(super) as_of: Option<Timestamp>,
}

/// Renders the page as HTML.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn page(snapshot: &PageSnapshot, choices: &PageChoices) -> Result<Vec<u8>, askama::Error> {
    view(snapshot, choices).render().map(String::into_bytes)
}

fn view(snapshot: &PageSnapshot, choices: &PageChoices) -> PublicPage {
    let PageSnapshot { page, .. } = snapshot;
    let languages = snapshot.languages();
    let words = PageTexts::of(&choices.locale);
    let reader =
        VisitorLanguage { chosen: &choices.locale, default: &languages.default, words: words.clone() };
    let names = AnnouncementNames::of(snapshot, &choices.locale);
    let parts: Vec<ShownComponent<'_>> = snapshot.components.iter().map(|one| part(one, &names)).collect();
    let renderer = AnnouncementRenderer { words: &words, names: &names };
    let incidents = snapshot.incidents.iter().map(|one| renderer.incident(one)).collect();
    let maintenances = snapshot.maintenances.iter().map(|one| renderer.maintenance(one)).collect();
    let file = |kind: AssetKind| snapshot.files.get(&kind).map(|hash| format!("/assets/{hash}"));
    let logo = file(AssetKind::Logo).filter(|_| page.shows.logo);
    let name = reader.text(&page.name);
    let links = languages.supported.iter().map(|locale| LanguageLink {
        address: format!("/{locale}/"),
        is_current: *locale == choices.locale,
        locale: locale.clone(),
    });
    let head = PageHead {
        locale: choices.locale.clone(),
        direction: direction(&choices.locale),
        title: page.seo.title.as_ref().map_or_else(|| name.clone(), |title| reader.text(title)),
        description: page.seo.description.as_ref().map(|text| reader.text(text)),
        is_indexable: page.seo.indexable,
        icon: file(AssetKind::Favicon),
        style: stylesheets::shared_address(),
        own_style: stylesheets::own_address(page),
    };
    PublicPage {
        appearance: PageAppearance::of(page, choices.appearance, &words),
        words,
        languages: if languages.supported.len() > 1 { links.collect() } else { Vec::new() },
        head,
        name,
        logo_dark: file(AssetKind::LogoDark).filter(|_| logo.is_some()),
        logo,
        logo_size: page.logo_size.as_str(),
        overall: reader.overall(&parts),
        as_of: choices.as_of.map(DisplayTime::from),
        entries: reader.entries(&parts),
        incidents,
        maintenances,
        imprint: page.imprint_url.clone(),
        privacy: page.privacy_policy_url.clone(),
    }
}

/// Returns the writing direction of a language: `ltr` or `rtl`.
fn direction(locale: &str) -> &'static str {
    const RIGHT_TO_LEFT: [&str; 8] = ["ar", "dv", "fa", "he", "ps", "sd", "ur", "yi"];
    let language = locale.split('-').next().unwrap_or_default();
    if RIGHT_TO_LEFT.iter().any(|known| known.eq_ignore_ascii_case(language)) { "rtl" } else { "ltr" }
}

fn part<'a>(one: &'a PageComponent, names: &AnnouncementNames<'_>) -> ShownComponent<'a> {
    let PageComponent { component, status, because_of, .. } = one;
    let causes = |keys: &Vec<ServiceKey>| {
        keys.iter().filter_map(|key| names.linked(*key)).map(str::to_owned).collect()
    };
    ShownComponent {
        key: component.key,
        parent: component.parent,
        name: &component.name,
        description: component.description.as_ref(),
        status: *status,
        because_of: because_of.as_ref().map(causes),
        is_group: component.is_group,
        hides_operational: component.hide_operational_children,
        is_open_at_first: component.default_open,
    }
}

/// Renders announcements with the names that visitors know.
struct AnnouncementRenderer<'a> {
    words: &'a PageTexts,
    names: &'a AnnouncementNames<'a>,
}

impl AnnouncementRenderer<'_> {
    fn incident(&self, incident: &StoredAnnouncement<IncidentStatus>) -> PageAnnouncement {
        self.announcement(incident, |status| self.words.incident(status))
    }

    fn maintenance(&self, maintenance: &StoredAnnouncement<MaintenanceStatus>) -> PageAnnouncement {
        let has_open_end = maintenance.end.is_none();
        let announcement = self.announcement(maintenance, |status| self.words.maintenance(status));
        PageAnnouncement { has_open_end, ..announcement }
    }

    fn announcement<S: Copy>(
        &self,
        announced: &StoredAnnouncement<S>,
        state: impl Fn(S) -> String,
    ) -> PageAnnouncement {
        let state = |status| announced.has_progress.then(|| state(status));
        let updates = announced.entries.iter().rev().map(|entry| AnnouncementUpdate {
            state: state(entry.status),
            at: DisplayTime::from(entry.at),
            message: markdown::to_html(&self.names.text(&entry.message)),
        });
        PageAnnouncement {
            title: self.names.title(announced),
            state: state(announced.status),
            start: announced.start.into(),
            end: announced.end.map(DisplayTime::from),
            has_open_end: false,
            updates: updates.collect(),
            affected: self.names.names(&announced.services),
        }
    }
}
