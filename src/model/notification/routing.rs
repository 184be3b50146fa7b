//! Who is told what: each channel chooses events, the least severity, and services by their tags.

use crate::id::Id;
use crate::model::incident::{Severity, WholeIncident};
use crate::model::notification::Event;

/// Most tags of a channel.
pub const TAGS_MAX: usize = 20;

/// What a channel is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    /// The events; in the order of [`Event::CHOICE`], at least one.
    pub events: Vec<Event>,
    /// Nothing that is less severe.
    pub min_severity: Severity,
    /// Only what affects a service with one of these tags; empty = everything.
    pub tags: Vec<RoutedTag>,
}

/// A tag of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedTag {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// `key:value`, or `key` alone.
    pub label: String,
}

impl Default for Routing {
    /// The begin and the end of everything.
    fn default() -> Self {
        let events = vec![Event::IncidentOpened, Event::IncidentReopened, Event::IncidentResolved];
        Self { events, min_severity: Severity::Minor, tags: Vec::new() }
    }
}

impl Routing {
    /// What a channel is told of this event; `None` = nothing. `tags` are the keys of the tags of the services that the incident
    /// affects. Whoever was told of it before is told how it goes on, whatever became of severity and tags; to whom it begins
    /// to matter later, it begins then.
    #[must_use]
    pub fn told(&self, event: Event, severity: Severity, tags: &[i64], was_told: bool) -> Option<Event> {
        let wants = |event: Event| self.events.contains(&event).then_some(event);
        if was_told {
            return wants(event);
        }
        let carries = || self.tags.iter().any(|tag| tags.contains(&tag.key));
        let is_meant = severity >= self.min_severity && (self.tags.is_empty() || carries());
        match event {
            _ if !is_meant => None,
            Event::IncidentUpdated => wants(Event::IncidentOpened).or_else(|| wants(event)),
            Event::IncidentResolved => None,
            _ => wants(event),
        }
    }
}

/// What a change of an incident is, for those who are told; `None`: nothing that is worth a message. `before` is `None` for a
/// new incident.
#[must_use]
pub fn event_of(before: Option<&WholeIncident>, after: &WholeIncident) -> Option<Event> {
    let is_over = after.incident.is_resolved();
    let Some(before) = before else {
        // One that was over when it was reported is no news.
        return (!is_over).then_some(Event::IncidentOpened);
    };
    if is_over != before.incident.is_resolved() {
        return Some(if is_over { Event::IncidentResolved } else { Event::IncidentReopened });
    }
    let acknowledged = |whole: &WholeIncident| whole.incident.acknowledgement.is_some();
    if acknowledged(after) && !acknowledged(before) {
        return Some(Event::IncidentAcknowledged);
    }
    let told = |whole: &WholeIncident| {
        let services: Vec<_> =
            whole.services.iter().map(|affected| (affected.service, affected.impact)).collect();
        let incident = &whole.incident;
        (incident.title.clone(), incident.status, incident.severity, whole.updates.len(), services)
    };
    (!is_over && told(before) != told(after)).then_some(Event::IncidentUpdated)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use Event::{IncidentOpened as Opened, IncidentResolved as Resolved, IncidentUpdated as Updated};

    fn routing(events: &[Event], tags: &[i64]) -> Routing {
        let tag = |key: &i64| RoutedTag { key: *key, id: Id::random(), label: "env:prod".into() };
        let tags = tags.iter().map(tag).collect();
        Routing { events: events.to_vec(), min_severity: Severity::Major, tags }
    }

    /// The events and tags of a channel for what is major at least; an event of an incident, and what the channel is told.
    #[rstest]
    #[case::all_that_is_severe(&[Opened], &[], (Opened, Severity::Major, &[], false), Some(Opened))]
    #[case::too_harmless(&[Opened], &[], (Opened, Severity::Minor, &[7], false), None)]
    #[case::another_event(&[Resolved], &[], (Opened, Severity::Critical, &[], false), None)]
    #[case::one_of_the_tags(&[Opened], &[7, 8], (Opened, Severity::Critical, &[9, 8], false), Some(Opened))]
    #[case::none_of_the_tags(&[Opened], &[7, 8], (Opened, Severity::Critical, &[9], false), None)]
    #[case::recovery_of_what_was_told(&[Opened, Resolved], &[7], (Resolved, Severity::Minor, &[], true), Some(Resolved))]
    #[case::recovery_of_what_was_not_told(&[Opened, Resolved], &[], (Resolved, Severity::Major, &[], false), None)]
    #[case::recovery_that_is_not_wanted(&[Opened], &[], (Resolved, Severity::Major, &[], true), None)]
    #[case::worse_than_before(&[Opened, Resolved], &[], (Updated, Severity::Major, &[], false), Some(Opened))]
    #[case::worse_than_before_and_known(&[Opened, Resolved], &[], (Updated, Severity::Major, &[], true), None)]
    #[case::every_step(&[Updated], &[], (Updated, Severity::Major, &[], false), Some(Updated))]
    fn a_channel_is_told_what_it_chose(
        #[case] events: &[Event],
        #[case] tags: &[i64],
        #[case] (event, severity, carried, was_told): (Event, Severity, &[i64], bool),
        #[case] expected: Option<Event>,
    ) {
        assert_eq!(routing(events, tags).told(event, severity, carried, was_told), expected);
    }
}
