//! The objects in the documents; each always has all members of the format.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::clock::Timestamp;
use crate::model::component::status::ComponentStatus;
use crate::model::component::{Component, ComponentKey};
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::screen::PageScreen;
use crate::pages::snapshot::{PageComponent, PageSnapshot};
use crate::store::announcements::{AnnouncementEntry, StoredAnnouncement};
use crate::texts::markdown;

/// Planned length that is shown for a maintenance without an end, in milliseconds, because the format requires an end.
const OPEN_END_MS: i64 = 86_400_000;

/// The page itself, which is part of every document.
#[derive(Debug, Serialize)]
pub(super) struct PageObject {
    id: String,
    name: String,
    url: String,
    time_zone: &'static str,
    updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    watchkeeper: Option<CopyMembers>,
}

/// What the format has no member for in a copy of the page.
#[derive(Debug, Serialize)]
struct CopyMembers {
    /// The time of all states.
    as_of: Timestamp,
}

/// A component or a group.
#[derive(Debug, Serialize)]
pub(super) struct ComponentObject {
    id: String,
    name: String,
    status: &'static str,
    created_at: Timestamp,
    updated_at: Timestamp,
    position: usize,
    description: Option<String>,
    showcase: bool,
    start_date: Option<String>,
    /// Id of the group that directly contains the component.
    group_id: Option<String>,
    page_id: String,
    group: bool,
    only_show_if_degraded: bool,
    /// Ids of the members of a group; missing on a component.
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Vec<String>>,
    /// Id of the group that contains a group; the format has no member for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_group_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watchkeeper: Option<OwnMembers>,
}

/// States for which the format has no word.
#[derive(Debug, Serialize)]
struct OwnMembers {
    status: &'static str,
}

/// An incident or a maintenance, which have the same members.
#[derive(Debug, Serialize)]
pub(super) struct IncidentObject {
    id: String,
    name: String,
    status: &'static str,
    created_at: Timestamp,
    updated_at: Timestamp,
    monitoring_at: Option<Timestamp>,
    resolved_at: Option<Timestamp>,
    impact: &'static str,
    /// URL of the incident's or maintenance's own document.
    shortlink: String,
    started_at: Timestamp,
    page_id: String,
    /// Timeline entries, newest first; never empty.
    incident_updates: Vec<UpdateObject>,
    components: Vec<ComponentObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_for: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_until: Option<Timestamp>,
}

/// An entry of a timeline.
#[derive(Debug, Serialize)]
struct UpdateObject {
    id: String,
    status: &'static str,
    /// Plain text.
    body: String,
    incident_id: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    display_at: Timestamp,
    affected_components: Option<Vec<String>>,
    deliver_notifications: bool,
    custom_tweet: Option<String>,
    tweet_id: Option<String>,
}

/// Builds the objects of one page, in its default language.
#[derive(Debug)]
pub(super) struct ObjectReader<'a> {
    page: &'a PageSnapshot,
    /// The time that an export shows; `None` for visitors.
    exported_at: Option<Timestamp>,
    names: AnnouncementNames<'a>,
    /// Indices of the components in the snapshot.
    places: HashMap<ComponentKey, usize>,
    /// For each component of the snapshot, its position among the listed components, from 1; `None` if it is left out.
    positions: Vec<Option<usize>>,
    /// Ids of the listed members of each group.
    members: HashMap<ComponentKey, Vec<String>>,
}

impl<'a> ObjectReader<'a> {
    pub(super) fn new(page: &'a PageSnapshot, exported_at: Option<Timestamp>) -> Self {
        let components = page.components.iter().enumerate();
        let places = components.map(|(place, one)| (one.component.key, place)).collect();
        let names = AnnouncementNames::of(page, &page.languages().default);
        let mut reader =
            Self { page, exported_at, names, places, positions: Vec::new(), members: HashMap::new() };
        let mut listed = 0;
        // A group comes before its members.
        for one in &page.components {
            let is_listed = reader.is_listed(one);
            listed += usize::from(is_listed);
            reader.positions.push(is_listed.then_some(listed));
            if let Some(parent) = one.component.parent.filter(|_| is_listed) {
                reader.members.entry(parent).or_default().push(one.component.id.to_string());
            }
        }
        reader
    }

    pub(super) fn page(&self) -> PageObject {
        let PageSnapshot { page, url, .. } = self.page;
        PageObject {
            id: page.id.to_string(),
            name: self.names.text(&page.name),
            url: url.clone(),
            time_zone: "Etc/UTC",
            updated_at: self.updated_at(),
            watchkeeper: self.exported_at.map(|as_of| CopyMembers { as_of }),
        }
    }

    /// Returns the time of the last known change.
    fn updated_at(&self) -> Timestamp {
        let PageSnapshot { page, incidents, maintenances, .. } = self.page;
        let incidents = incidents.iter().filter_map(|one| one.entries.last()).map(|entry| entry.at);
        let maintenances = maintenances.iter().filter_map(|one| one.entries.last()).map(|entry| entry.at);
        let components = self.page.components.iter().filter(|one| one.status.is_some());
        let components = components.map(|one| one.changed_at);
        incidents
            .chain(maintenances)
            .chain(components)
            .chain([page.updated_at])
            .max()
            .unwrap_or(page.updated_at)
    }

    /// Returns the visible components in display order, groups included.
    pub(super) fn components(&self) -> Vec<ComponentObject> {
        self.listed(|_| true)
    }

    fn listed(&self, is_wanted: impl Fn(&PageComponent) -> bool) -> Vec<ComponentObject> {
        let components = self.page.components.iter().zip(&self.positions);
        let listed = components.filter_map(|(one, position)| Some((one, (*position)?)));
        listed
            .filter(|(one, _)| is_wanted(one))
            .map(|(one, position)| self.component(one, position))
            .collect()
    }

    /// Returns true if a component is listed. Operational members of a group that hides them are listed only if the page is
    /// configured so (contract 4.13.1). The position of the group must be determined before.
    fn is_listed(&self, one: &PageComponent) -> bool {
        let Some(status) = one.status else { return false };
        let Some(parent) = one.component.parent else { return true };
        let Some(place) = self.places.get(&parent) else { return true };
        let hides = self.page.components[*place].component.hide_operational_children;
        let is_left_out =
            hides && status == ComponentStatus::Operational && !self.page.page.shows.hidden_in_json;
        !is_left_out && self.positions[*place].is_some()
    }

    fn component(&self, one: &PageComponent, position: usize) -> ComponentObject {
        let Component { key, id, name, description, created_at, is_group, parent, .. } = &one.component;
        let parent = parent.and_then(|parent| self.places.get(&parent));
        let parent = parent.map(|place| &self.page.components[*place].component);
        let parent_id = parent.map(|parent| parent.id.to_string());
        let is_unknown = one.status == Some(ComponentStatus::Unknown);
        ComponentObject {
            id: id.to_string(),
            name: self.names.text(name),
            status: component_word(one.last_known),
            created_at: *created_at,
            updated_at: one.changed_at,
            position,
            description: description.as_ref().map(|text| self.names.text(text)),
            showcase: one.component.show_uptime_bars,
            start_date: Some(created_at.to_string()[..10].to_owned()),
            group_id: parent_id.clone().filter(|_| !is_group),
            page_id: self.page.page.id.to_string(),
            group: *is_group,
            only_show_if_degraded: parent.is_some_and(|parent| parent.hide_operational_children),
            components: is_group.then(|| self.members.get(key).cloned().unwrap_or_default()),
            parent_group_id: parent_id.filter(|_| *is_group),
            watchkeeper: is_unknown.then_some(OwnMembers { status: "unknown" }),
        }
    }

    /// Returns the listed components of the services that an announcement affects.
    fn affected<S>(&self, announced: &StoredAnnouncement<S>) -> Vec<ComponentObject> {
        if !self.page.page.shows.affected_services {
            return Vec::new();
        }
        let services: HashSet<ServiceKey> = announced.services.iter().map(|affected| affected.key).collect();
        self.listed(|one| one.component.service.is_some_and(|service| services.contains(&service)))
    }

    pub(super) fn incident(&self, incident: &StoredAnnouncement<IncidentStatus>) -> IncidentObject {
        let monitoring = incident.entries.iter().find(|entry| entry.status == IncidentStatus::Monitoring);
        IncidentObject {
            monitoring_at: monitoring.map(|entry| entry.at),
            // A notice has no impact.
            impact: incident
                .severity
                .filter(|_| incident.has_progress)
                .map_or("none", |severity| severity.as_str()),
            ..self.announcement(incident, PageScreen::Incident(incident.id), IncidentStatus::as_str)
        }
    }

    pub(super) fn maintenance(&self, maintenance: &StoredAnnouncement<MaintenanceStatus>) -> IncidentObject {
        let until = maintenance.end.unwrap_or_else(|| maintenance.start.plus_ms(OPEN_END_MS));
        IncidentObject {
            impact: "maintenance",
            scheduled_for: Some(maintenance.start),
            scheduled_until: Some(until),
            ..self.announcement(
                maintenance,
                PageScreen::Maintenance(maintenance.id),
                MaintenanceStatus::as_str,
            )
        }
    }

    fn announcement<S: Copy>(
        &self,
        announced: &StoredAnnouncement<S>,
        screen: PageScreen,
        word: fn(S) -> &'static str,
    ) -> IncidentObject {
        let update = |entry: &AnnouncementEntry<S>| UpdateObject {
            id: entry.id.to_string(),
            status: word(entry.status),
            body: markdown::to_text(&self.names.text(&entry.message)),
            incident_id: announced.id.to_string(),
            created_at: entry.at,
            updated_at: entry.at,
            display_at: entry.at,
            affected_components: None,
            deliver_notifications: false,
            custom_tweet: None,
            tweet_id: None,
        };
        let mut updates: Vec<UpdateObject> = announced.entries.iter().rev().map(update).collect();
        let title = self.names.title(announced);
        if updates.is_empty() {
            updates.push(UpdateObject {
                id: announced.id.to_string(),
                status: word(announced.status),
                body: title.clone(),
                incident_id: announced.id.to_string(),
                created_at: announced.created_at,
                updated_at: announced.created_at,
                display_at: announced.created_at,
                affected_components: None,
                deliver_notifications: false,
                custom_tweet: None,
                tweet_id: None,
            });
        }
        IncidentObject {
            id: announced.id.to_string(),
            name: title,
            status: word(announced.status),
            created_at: announced.created_at,
            updated_at: updates[0].updated_at,
            monitoring_at: None,
            resolved_at: announced.ended_at,
            impact: "none",
            shortlink: format!("{}{}", self.page.url, screen.path()),
            started_at: announced.start,
            page_id: self.page.page.id.to_string(),
            incident_updates: updates,
            components: self.affected(announced),
            scheduled_for: None,
            scheduled_until: None,
        }
    }
}

const fn component_word(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Degraded => "degraded_performance",
        ComponentStatus::Operational | ComponentStatus::Unknown => "operational",
        ComponentStatus::PartialOutage => "partial_outage",
        ComponentStatus::MajorOutage => "major_outage",
        ComponentStatus::UnderMaintenance => "under_maintenance",
    }
}
