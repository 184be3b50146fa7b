//! Incidents and maintenances for a visitor, with the names that visitors know.

use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::display_time::DisplayTime;
use crate::pages::page_texts::PageTexts;
use crate::pages::screen::PageScreen;
use crate::pages::view::{AnnouncementUpdate, PageAnnouncement};
use crate::store::announcements::StoredAnnouncement;
use crate::texts::markdown;

/// Renders announcements in one language.
pub(super) struct AnnouncementRenderer<'a> {
    pub(super) words: &'a PageTexts,
    pub(super) names: &'a AnnouncementNames<'a>,
    /// Start of the paths of the announcements' own documents; `None` without links to them.
    pub(super) base: Option<&'a str>,
}

impl AnnouncementRenderer<'_> {
    pub(super) fn incident(&self, incident: &StoredAnnouncement<IncidentStatus>) -> PageAnnouncement {
        let announcement = self.announcement(incident, |status| self.words.incident(status));
        let end = incident.ended_at.map(DisplayTime::from);
        PageAnnouncement { address: self.address(PageScreen::Incident(incident.id)), end, ..announcement }
    }

    pub(super) fn maintenance(
        &self,
        maintenance: &StoredAnnouncement<MaintenanceStatus>,
    ) -> PageAnnouncement {
        let has_open_end = maintenance.end.is_none();
        let announcement = self.announcement(maintenance, |status| self.words.maintenance(status));
        let address = self.address(PageScreen::Maintenance(maintenance.id));
        PageAnnouncement { has_open_end, address, ..announcement }
    }

    fn address(&self, screen: PageScreen) -> Option<String> {
        self.base.map(|base| format!("{base}{}", screen.path()))
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
            address: None,
            state: state(announced.status),
            start: announced.start.into(),
            end: announced.end.map(DisplayTime::from),
            has_open_end: false,
            updates: updates.collect(),
            affected: self.names.names(&announced.services),
        }
    }
}
