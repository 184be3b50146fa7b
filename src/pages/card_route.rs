//! The addresses of preview images, and what each image shows (contract 4.13.1, `seo`).

use crate::id::Id;
use crate::model::component::status::ComponentStatus;
use crate::model::incident::{IncidentStatus, Severity};
use crate::model::maintenance::MaintenanceStatus;
use crate::model::statuspage::word::{ImageAppearance, PageColorScheme};
use crate::pages::announcements::AnnouncementNames;
use crate::pages::card::{CardContent, CardState};
use crate::pages::contrast::ColorScheme;
use crate::pages::overall_state::OverallState;
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::{HistoryScope, PageHistory, PageSnapshot};
use crate::representation::is_hash;
use crate::store::announcements::StoredAnnouncement;

const START: &str = "/card.";
const ENDING: &str = ".png";

/// What a preview image is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardSubject {
    /// The whole page.
    Page,
    /// An incident.
    Incident(Id),
    /// A maintenance.
    Maintenance(Id),
}

/// A preview image that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CardRoute<'a> {
    pub(super) subject: CardSubject,
    /// The revision in the path.
    pub(super) revision: &'a str,
}

impl CardSubject {
    /// Returns the part of the past that the image needs; `None` if it needs the present only.
    pub(super) const fn scope(self) -> Option<HistoryScope> {
        match self {
            Self::Page => None,
            Self::Incident(id) => Some(HistoryScope::Incident(id)),
            Self::Maintenance(id) => Some(HistoryScope::Maintenance(id)),
        }
    }

    /// Returns the path of the image with this content, in a language.
    pub(super) fn path(self, content: &CardContent, locale: &str) -> String {
        let folder = match self {
            Self::Page => String::new(),
            Self::Incident(id) => format!("/incidents/{id}"),
            Self::Maintenance(id) => format!("/maintenances/{id}"),
        };
        format!("/{locale}{folder}{START}{}{ENDING}", content.revision())
    }
}

impl<'a> CardRoute<'a> {
    /// Reads a path that names no language; `None` if it is not the path of a preview image.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/')?;
        let revision = name.strip_prefix(&START[1..])?.strip_suffix(ENDING)?;
        let subject = match folder.strip_prefix('/').map(|folder| folder.split_once('/')) {
            None if folder.is_empty() => CardSubject::Page,
            Some(Some(("incidents", id))) => CardSubject::Incident(id.parse().ok()?),
            Some(Some(("maintenances", id))) => CardSubject::Maintenance(id.parse().ok()?),
            _ => return None,
        };
        is_hash(revision).then_some(Self { subject, revision })
    }
}

/// Returns what the preview image of a page shows in a language.
pub(super) fn of_page(snapshot: &PageSnapshot, words: &PageTexts) -> CardContent {
    let (page, locale) = (&snapshot.page, words.locale());
    let default = snapshot.languages().default;
    let host = snapshot.url.split_once("://").map_or(snapshot.url.as_str(), |(_, host)| host);
    let subtitle = page.seo.image_subtitle.as_ref().map(|text| text.text(locale, &default));
    let overall = page.seo.live_status.then(|| OverallState::of_page(snapshot));
    CardContent {
        headline: page.name.text(locale, &default).to_owned(),
        second: subtitle.unwrap_or(host).to_owned(),
        host: host.to_owned(),
        state: overall.map(|overall| CardState { status: overall.status, sentence: overall.sentence(words) }),
        scheme: match (page.seo.image_appearance, page.appearance) {
            (ImageAppearance::Dark, _) | (ImageAppearance::Auto, PageColorScheme::Dark) => ColorScheme::Dark,
            _ => ColorScheme::Light,
        },
        accent: page.primary_color.clone(),
        is_right_to_left: words.direction() == "rtl",
    }
}

/// Returns what the preview image of the only incident or maintenance of a part of the past shows; `None` if the page has no
/// such images, or if there is no announcement.
pub(super) fn of_event(history: &PageHistory, words: &PageTexts) -> Option<CardContent> {
    let page = of_page(&history.page, words);
    let seo = &history.page.page.seo;
    let names = AnnouncementNames::of(&history.page, words.locale());
    let (headline, state) = match (history.incidents.first(), history.maintenances.first()) {
        (Some(incident), _) => (names.title(incident), incident_state(incident, words)),
        (None, Some(maintenance)) => (names.title(maintenance), maintenance_state(maintenance, words)),
        (None, None) => return None,
    };
    seo.event_images.then(|| CardContent {
        headline,
        second: page.headline.clone(),
        state: state.filter(|_| seo.live_status),
        ..page
    })
}

/// Returns the state of an incident; `None` for a notice, which has none.
fn incident_state(incident: &StoredAnnouncement<IncidentStatus>, words: &PageTexts) -> Option<CardState> {
    let status = match (incident.status, incident.severity?) {
        (IncidentStatus::Resolved, _) => ComponentStatus::Operational,
        (_, Severity::Minor) => ComponentStatus::Degraded,
        (_, Severity::Major) => ComponentStatus::PartialOutage,
        (_, Severity::Critical) => ComponentStatus::MajorOutage,
    };
    incident.has_progress.then(|| CardState { status, sentence: words.incident(incident.status) })
}

fn maintenance_state(
    maintenance: &StoredAnnouncement<MaintenanceStatus>,
    words: &PageTexts,
) -> Option<CardState> {
    let status = match maintenance.status {
        MaintenanceStatus::Scheduled | MaintenanceStatus::InProgress => ComponentStatus::UnderMaintenance,
        MaintenanceStatus::Completed => ComponentStatus::Operational,
        MaintenanceStatus::Cancelled => ComponentStatus::Unknown,
    };
    Some(CardState { status, sentence: words.maintenance(maintenance.status) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ID: &str = "ZmCQideh_cmU2E495CYCg";

    #[rstest]
    #[case("/card.0123.png", Some((CardSubject::Page, "0123")))]
    #[case("/incidents/ZmCQideh_cmU2E495CYCg/card.01.png", Some((CardSubject::Incident(ID.parse().unwrap()), "01")))]
    #[case("/maintenances/ZmCQideh_cmU2E495CYCg/card.01.png", Some((CardSubject::Maintenance(ID.parse().unwrap()), "01")))]
    #[case("/components/ZmCQideh_cmU2E495CYCg/card.01.png", None)]
    #[case("/incidents/none/card.01.png", None)]
    #[case("/incidents/card.01.png", None)]
    #[case("//card.01.png", None)]
    #[case("/card.png", None)]
    #[case("/card..png", None)]
    #[case("/card.a/b.png", None)]
    #[case("/card.abc.svg", None)]
    fn a_path_names_an_image(#[case] path: &str, #[case] expected: Option<(CardSubject, &str)>) {
        assert_eq!(CardRoute::at(path).map(|found| (found.subject, found.revision)), expected);
    }
}
