//! Incidents and their lifecycle (contract 4.9, 4.10): kinds, statuses and severities, the affected services with their
//! impact, and the timeline.
//!
//! An [`Incident`] is open until it is resolved. A [`WholeIncident`] is an incident with everything that belongs to it;
//! its methods apply changes, timeline entries and the resolution. Requests are not validated here.

mod open_period;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::announcement::{self, AnnouncementAuthor};
use crate::model::automation::AutomationState;
use crate::model::outage_evidence::OutageEvidence;
use crate::model::service::{NamedService, ServiceKey};
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;
use crate::model::word_enum::words;

pub use open_period::{OpenPeriod, open_within};

/// Permitted number of characters of a title, per language.
pub const TITLE_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of an entry of the timeline, per language.
pub const MESSAGE_LENGTH: RangeInclusive<usize> = 1..=10_000;
/// Permitted number of characters of the note of an acknowledgement.
pub const NOTE_LENGTH: RangeInclusive<usize> = 1..=1_000;

words! {
    /// The kind of an incident; fixed at creation.
    #[derive(PartialOrd, Ord)]
    pub enum IncidentKind {
        /// A report of trouble.
        Standard,
        /// The server agent of a machine is silent; clients cannot create this kind.
        AgentLiveness,
        /// An announcement without trouble; it has no impact on services.
        Notice,
    }
}

words! {
    /// The progress of the work on an incident.
    #[derive(PartialOrd, Ord)]
    pub enum IncidentStatus {
        /// Open: the cause is not known yet.
        Investigating,
        /// Open: the cause is known.
        Identified,
        /// Open: fixed, and being watched.
        Monitoring,
        /// The incident is over.
        Resolved,
    }
}

words! {
    /// The severity of an incident.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// The lowest severity: by default, affected services are degraded.
        Minor,
        /// By default, affected services have a partial outage.
        Major,
        /// The highest severity: by default, affected services have a major outage.
        Critical,
    }
}

words! {
    /// The impact of an incident on one service.
    #[derive(PartialOrd, Ord)]
    pub enum Impact {
        /// The service works, but badly.
        Degraded,
        /// Parts of the service do not work.
        PartialOutage,
        /// The service does not work.
        MajorOutage,
    }
}

impl Severity {
    /// The impact on services for which no impact was stated.
    #[must_use]
    pub const fn impact(self) -> Impact {
        match self {
            Self::Minor => Impact::Degraded,
            Self::Major => Impact::PartialOutage,
            Self::Critical => Impact::MajorOutage,
        }
    }
}

impl IncidentKind {
    /// The severity of an incident of this kind when `wished` is requested: a notice is always minor.
    #[must_use]
    pub const fn severity(self, wished: Severity) -> Severity {
        match self {
            Self::Notice => Severity::Minor,
            Self::Standard | Self::AgentLiveness => wished,
        }
    }

    /// The impact that follows from the severity; `None` for a notice.
    #[must_use]
    pub const fn impact(self, severity: Severity) -> Option<Impact> {
        match self {
            Self::Notice => None,
            Self::Standard | Self::AgentLiveness => Some(severity.impact()),
        }
    }
}

/// The acknowledgement of an incident, by which a member says that work on it has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Time of the acknowledgement.
    pub at: Timestamp,
    /// The author of the acknowledgement.
    pub by: AnnouncementAuthor,
}

/// An incident as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// The title of the incident.
    pub title: TranslatedText,
    /// Kind of the incident; fixed at creation.
    pub kind: IncidentKind,
    /// Progress of the work on the incident.
    pub status: IncidentStatus,
    /// Severity of the incident; always `minor` for a notice.
    pub severity: Severity,
    /// True if status pages may show it.
    pub is_published: bool,
    /// The time at which the incident started.
    pub started_at: Timestamp,
    /// The time at which the incident ended; `None` exactly while it is open.
    pub resolved_at: Option<Timestamp>,
    /// True if SLA calculations count the affected services as down during the incident.
    pub sla_counts_as_downtime: bool,
    /// The author; `None` = opened automatically.
    pub created_by: Option<AnnouncementAuthor>,
    /// The first acknowledgement since the incident was opened or reopened; `None` = not acknowledged.
    pub acknowledgement: Option<Acknowledgement>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

impl Incident {
    /// Returns true if the incident is resolved.
    #[must_use]
    pub const fn is_resolved(&self) -> bool {
        self.resolved_at.is_some()
    }

    /// The time from which the incident affects one of its services. A service that a member named when creating the
    /// incident is affected from the start of the incident. A service that was added later or automatically is affected
    /// from `added_at`, but not before the start.
    #[must_use]
    pub fn affects_from(&self, affected: &AffectedService) -> Timestamp {
        let is_from_the_start = self.created_by.is_some() && affected.added_at <= self.created_at;
        if is_from_the_start { self.started_at } else { affected.added_at.max(self.started_at) }
    }
}

/// A service that an incident affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffectedService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The id that clients see.
    pub id: Id,
    /// Display name of the service.
    pub name: String,
    /// The impact on the service; `None` for notices.
    pub impact: Option<Impact>,
    /// True if the impact follows from the severity of the incident.
    pub is_derived: bool,
    /// The time at which the service was added, or at which its outage started if it was added automatically.
    pub added_at: Timestamp,
    /// The time at which the service recovered; `None` = not yet.
    pub recovered_at: Option<Timestamp>,
    /// Evidence of the outage if it was detected automatically; boxed, because most services have no evidence.
    pub evidence: Option<Box<OutageEvidence>>,
}

/// A status page that was chosen for an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenPage {
    /// Database key of the page.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Name of the status page.
    pub name: TranslatedText,
}

/// An entry of the timeline of an incident.
pub type IncidentTimelineEntry = announcement::TimelineEntry<IncidentStatus>;

/// An incident with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeIncident {
    /// The incident's own row.
    pub incident: Incident,
    /// The affected services, sorted by name; incomplete if the incident was read in part.
    pub services: Vec<AffectedService>,
    /// Number of affected services missing in `services`; above 0 only if the incident was read in part. The other lists
    /// are then left out too, except for the newest entry of the timeline.
    pub others: usize,
    /// The pages chosen for the incident, in the order of the client.
    pub statuspages: Vec<ChosenPage>,
    /// Entries of the public timeline, oldest first.
    pub updates: Vec<IncidentTimelineEntry>,
    /// The size of the older part of the public timeline that was not read.
    pub unread_updates: TimelineSize,
    /// Entries that only members of the organisation see, oldest first.
    pub internal_updates: Vec<IncidentTimelineEntry>,
    /// Set exactly if the incident was opened automatically.
    pub automation: Option<AutomationState>,
}

impl WholeIncident {
    /// Replaces the affected services by `services`. A service that was already affected keeps its data; a new one is
    /// affected from `now` on.
    pub fn affect(&mut self, services: impl IntoIterator<Item = NamedService>, now: Timestamp) {
        let mut before: HashMap<ServiceKey, AffectedService> = std::mem::take(&mut self.services)
            .into_iter()
            .map(|affected| (affected.service, affected))
            .collect();
        let Incident { kind, severity, resolved_at, .. } = self.incident;
        for NamedService { key: service, id, name } in services {
            let affected = before.remove(&service).unwrap_or_else(|| AffectedService {
                service,
                id,
                name,
                impact: kind.impact(severity),
                is_derived: true,
                added_at: now,
                recovered_at: resolved_at,
                evidence: None,
            });
            self.services.push(affected);
        }
        sort_by_name(&mut self.services);
    }

    /// Sets the severity, as far as the kind of the incident allows, and the impacts that are derived from it.
    pub fn set_severity(&mut self, severity: Severity) {
        let kind = self.incident.kind;
        self.incident.severity = kind.severity(severity);
        let impact = kind.impact(self.incident.severity);
        for affected in self.services.iter_mut().filter(|affected| affected.is_derived) {
            affected.impact = impact;
        }
    }

    /// Moves the start of the incident. If the incident was opened automatically, services added at the old start move
    /// along.
    pub fn move_start(&mut self, started_at: Timestamp) {
        let before = std::mem::replace(&mut self.incident.started_at, started_at);
        if self.automation.is_none() {
            return;
        }
        for affected in self.services.iter_mut().filter(|affected| affected.added_at == before) {
            affected.added_at = started_at;
        }
    }

    /// Moves the end of a resolved incident. Recoveries that were only set by the end move along; measured recoveries are
    /// limited to the new end.
    pub fn move_end(&mut self, resolved_at: Timestamp) {
        let is_earlier = Some(resolved_at) < self.incident.resolved_at;
        for (affected, is_measured) in self.recovered_at_end() {
            if is_earlier || !is_measured {
                affected.recovered_at = Some(resolved_at);
            }
        }
        self.incident.resolved_at = Some(resolved_at);
    }

    /// The services that recovered when the incident ended, each with true if its recovery was measured. An automatic end
    /// is at the last measured recovery; an end set by a member proves no recovery.
    fn recovered_at_end(&mut self) -> impl Iterator<Item = (&mut AffectedService, bool)> {
        let is_ended_by_engine = self.automation.is_some_and(|automation| !automation.edited.status);
        let end = self.incident.resolved_at;
        let then =
            self.services.iter_mut().filter(move |affected| end.is_some() && affected.recovered_at == end);
        then.map(move |affected| {
            let was_there = Some(affected.added_at) <= end;
            (affected, is_ended_by_engine && was_there)
        })
    }

    /// Returns the size of the public timeline, including the part that was not read.
    #[must_use]
    pub fn timeline_size(&self) -> TimelineSize {
        self.unread_updates.plus(TimelineSize::of(&self.updates))
    }

    /// Adds an entry, if the timeline has room for it, and sets the incident to the entry's status (contract 4.10.4).
    /// `resolved` ends an open incident at the time of the entry; another status reopens a resolved incident.
    pub fn post(&mut self, entry: IncidentTimelineEntry) {
        let (status, at) = (entry.status, entry.created_at);
        if self.timeline_size().has_room_for(&entry.message) {
            self.updates.push(entry);
        }
        match (status, self.incident.resolved_at) {
            (IncidentStatus::Resolved, None) => self.end(at),
            (IncidentStatus::Resolved, Some(_)) => {}
            (_, Some(_)) => self.reopen(),
            (_, None) => {}
        }
        self.incident.status = status;
    }

    /// Ends an open incident with a last entry, which has a reserve of its own beyond the limits of the timeline.
    pub fn resolve(&mut self, entry: IncidentTimelineEntry, resolved_at: Timestamp) {
        if self.timeline_size().has_room_for_end() {
            self.updates.push(entry);
        }
        self.end(resolved_at);
    }

    /// Records the acknowledgement, with an entry that only members of the organisation see. An incident that is
    /// already acknowledged is unchanged. A full timeline takes no entry.
    pub fn acknowledge(&mut self, acknowledgement: Acknowledgement, message: TranslatedText) {
        if self.incident.acknowledgement.is_some() {
            return;
        }
        if TimelineSize::of(&self.internal_updates).has_room_for(&message) {
            self.internal_updates.push(IncidentTimelineEntry {
                id: Id::random(),
                status: self.incident.status,
                message,
                notify_subscribers: false,
                created_at: acknowledgement.at,
            });
        }
        self.incident.acknowledgement = Some(acknowledgement);
    }

    /// Ends the incident at `at`, but not before its start. Services that have not recovered recover at the same time.
    fn end(&mut self, at: Timestamp) {
        let at = at.max(self.incident.started_at);
        self.incident.status = IncidentStatus::Resolved;
        self.incident.resolved_at = Some(at);
        for affected in &mut self.services {
            affected.recovered_at.get_or_insert(at);
        }
    }

    /// Reopens the incident and drops its acknowledgement, so that an acknowledgement is needed again. Recoveries that
    /// were only set by the end are removed; measured recoveries stay.
    fn reopen(&mut self) {
        for (affected, is_measured) in self.recovered_at_end() {
            if !is_measured {
                affected.recovered_at = None;
            }
        }
        self.incident.resolved_at = None;
        self.incident.acknowledgement = None;
    }
}

/// Sorts services into the order in which they are shown: by name, then by id.
pub fn sort_by_name(services: &mut [AffectedService]) {
    services.sort_by(compare_names);
}

/// Inserts a service into services that are sorted as by `sort_by_name`.
pub fn insert_by_name(services: &mut Vec<AffectedService>, affected: AffectedService) {
    let index = services.partition_point(|other| compare_names(other, &affected).is_le());
    services.insert(index, affected);
}

fn compare_names(one: &AffectedService, other: &AffectedService) -> Ordering {
    (&one.name, one.id).cmp(&(&other.name, other.id))
}

#[cfg(test)]
mod tests;
