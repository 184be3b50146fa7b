//! The JSON with which aggregators and programs read a status page: eight documents below `/api/v2`, field by field as in
//! Atlassian Statuspage, so that clients of that product can read these pages.
//!
//! Where the format has no word for a state, the nearest word is used and a member `watchkeeper` is added: a component with
//! unknown status has the last known status.

mod objects;
mod overall;

use serde::Serialize;
use serde_json::Value;

use crate::clock::Timestamp;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::pages::snapshot::{PageHistory, PageSnapshot};
use crate::pages::status_json::objects::{ObjectReader, PageObject};
use crate::pages::status_json::overall::OverallStatus;
use crate::store::announcements::StoredAnnouncement;

/// Folder of the documents in URLs.
const FOLDER: &str = "/api/v2/";
const ENDING: &str = ".json";

/// A document of this JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusDocument {
    Summary,
    Status,
    Components,
    Incidents,
    UnresolvedIncidents,
    Maintenances,
    UpcomingMaintenances,
    ActiveMaintenances,
}

impl StatusDocument {
    pub(super) const ALL: [Self; 8] = [
        Self::Summary,
        Self::Status,
        Self::Components,
        Self::Incidents,
        Self::UnresolvedIncidents,
        Self::Maintenances,
        Self::UpcomingMaintenances,
        Self::ActiveMaintenances,
    ];

    /// Returns the document at a path; `None` for any other path.
    pub(super) fn at(path: &str) -> Option<Self> {
        // Some clients write names with capitals.
        let name = path.strip_prefix(FOLDER)?.to_ascii_lowercase();
        let name = name.strip_suffix(ENDING)?;
        Self::ALL.into_iter().find(|document| document.name() == name)
    }

    /// Returns the path of the document.
    pub(super) fn path(self) -> String {
        format!("{FOLDER}{}{ENDING}", self.name())
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Status => "status",
            Self::Components => "components",
            Self::Incidents => "incidents",
            Self::UnresolvedIncidents => "incidents/unresolved",
            Self::Maintenances => "scheduled-maintenances",
            Self::UpcomingMaintenances => "scheduled-maintenances/upcoming",
            Self::ActiveMaintenances => "scheduled-maintenances/active",
        }
    }

    /// Returns true for a document that lists past incidents or maintenances.
    pub(super) const fn has_history(self) -> bool {
        matches!(self, Self::Incidents | Self::Maintenances)
    }

    /// Returns the document of a page, unless the document [has a history](Self::has_history). `exported_at` is the time that
    /// an export shows.
    pub(super) fn of_page(
        self,
        page: &PageSnapshot,
        exported_at: Option<Timestamp>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let reader = ObjectReader::new(page, exported_at);
        let is_active =
            |one: &StoredAnnouncement<MaintenanceStatus>| one.status == MaintenanceStatus::InProgress;
        let maintenances = |is_wanted: &dyn Fn(&StoredAnnouncement<MaintenanceStatus>) -> bool| {
            let wanted = page.maintenances.iter().filter(|one| is_wanted(one));
            wanted.map(|one| reader.maintenance(one)).collect::<Vec<_>>()
        };
        let incidents = || page.incidents.iter().map(|one| reader.incident(one)).collect::<Vec<_>>();
        let status = OverallStatus::of(page);
        match self {
            Self::Summary => reader.document(&[
                ("components", value(reader.components())?),
                ("incidents", value(incidents())?),
                ("scheduled_maintenances", value(maintenances(&|_| true))?),
                ("status", value(status)?),
            ]),
            Self::Status => reader.document(&[("status", value(status)?)]),
            Self::Components => reader.document(&[("components", value(reader.components())?)]),
            Self::Incidents | Self::UnresolvedIncidents => {
                reader.document(&[("incidents", value(incidents())?)])
            }
            Self::Maintenances => {
                reader.document(&[("scheduled_maintenances", value(maintenances(&|_| true))?)])
            }
            Self::UpcomingMaintenances => {
                reader.document(&[("scheduled_maintenances", value(maintenances(&|one| !is_active(one)))?)])
            }
            Self::ActiveMaintenances => {
                reader.document(&[("scheduled_maintenances", value(maintenances(&is_active))?)])
            }
        }
    }

    /// Returns a document of a page with its history.
    pub(super) fn of_history(
        self,
        history: &PageHistory,
        exported_at: Option<Timestamp>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let reader = ObjectReader::new(&history.page, exported_at);
        if self == Self::Maintenances {
            let held = history.maintenances.iter().filter(|one| one.status != MaintenanceStatus::Cancelled);
            let held: Vec<_> = held.map(|one| reader.maintenance(one)).collect();
            return reader.document(&[("scheduled_maintenances", value(held)?)]);
        }
        let is_open = |one: &&StoredAnnouncement<IncidentStatus>| one.status != IncidentStatus::Resolved;
        let all = history.incidents.iter().filter(|one| self == Self::Incidents || is_open(one));
        let all: Vec<_> = all.map(|one| reader.incident(one)).collect();
        reader.document(&[("incidents", value(all)?)])
    }
}

fn value(object: impl Serialize) -> Result<Value, serde_json::Error> {
    serde_json::to_value(object)
}

impl ObjectReader<'_> {
    /// Returns a document with the page and these members.
    fn document(&self, members: &[(&str, Value)]) -> Result<Vec<u8>, serde_json::Error> {
        let page: PageObject = self.page();
        let mut document = serde_json::Map::new();
        document.insert("page".to_owned(), value(page)?);
        for (name, member) in members {
            document.insert((*name).to_owned(), member.clone());
        }
        serde_json::to_vec(&document)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/api/v2/summary.json", Some(StatusDocument::Summary))]
    #[case("/api/v2/scheduled-maintenances/active.json", Some(StatusDocument::ActiveMaintenances))]
    #[case("/api/v2/summary", None)]
    #[case("/api/v2/other.json", None)]
    #[case("/summary.json", None)]
    fn a_path_names_a_document(#[case] path: &str, #[case] expected: Option<StatusDocument>) {
        assert_eq!(StatusDocument::at(path), expected);
    }
}
