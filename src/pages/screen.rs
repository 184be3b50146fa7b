//! The parts of a page that are HTML documents, each at its path.

use crate::id::Id;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::card_route::CardSubject;

/// A part of a page that is an HTML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageScreen {
    /// The present state of all components.
    Current,
    /// A component with its past days, or a group.
    Component(Id),
    /// The incidents and maintenances of a month.
    Month(CalendarMonth),
    /// An incident.
    Incident(Id),
    /// A maintenance.
    Maintenance(Id),
}

impl PageScreen {
    /// Returns the document at a path that names no language.
    pub(super) fn at(path: &str) -> Option<Self> {
        if path == "/" {
            return Some(Self::Current);
        }
        let (folder, name) = path.strip_prefix('/')?.split_once('/')?;
        match folder {
            "components" => name.parse().ok().map(Self::Component),
            "history" => name.parse().ok().map(Self::Month),
            "incidents" => name.parse().ok().map(Self::Incident),
            "maintenances" => name.parse().ok().map(Self::Maintenance),
            _ => None,
        }
    }

    /// Returns what the preview image of the document is about; `None` if it shows that of the page.
    pub(super) const fn card(self) -> Option<CardSubject> {
        match self {
            Self::Incident(id) => Some(CardSubject::Incident(id)),
            Self::Maintenance(id) => Some(CardSubject::Maintenance(id)),
            Self::Current | Self::Component(_) | Self::Month(_) => None,
        }
    }

    /// Returns the path of the document, without a language.
    pub(super) fn path(self) -> String {
        match self {
            Self::Current => "/".to_owned(),
            Self::Component(id) => format!("/components/{id}"),
            Self::Month(month) => format!("/history/{month}"),
            Self::Incident(id) => format!("/incidents/{id}"),
            Self::Maintenance(id) => format!("/maintenances/{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/")]
    #[case("/components/ZmCQideh_cmU2E495CYCg")]
    #[case("/history/2026-11")]
    #[case("/incidents/ZmCQideh_cmU2E495CYCg")]
    #[case("/maintenances/ZmCQideh_cmU2E495CYCg")]
    fn a_document_is_found_at_its_path(#[case] path: &str) {
        assert_eq!(PageScreen::at(path).unwrap().path(), path);
    }
}
