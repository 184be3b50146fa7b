//! Routing of messages: each channel chooses events, a lowest severity, and services by tag or by name.

use crate::id::Id;
use crate::model::incident::{Severity, WholeIncident};
use crate::model::notification::event::NotificationEvent;
use crate::model::notification::quiet_hours::QuietHours;

/// Maximum number of tags that a channel chooses.
pub const TAGS_MAX: usize = 20;
/// Maximum number of services that a channel names.
pub const SERVICES_MAX: usize = 100;

/// The messages that a channel gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRouting {
    /// The events, in the order of [`NotificationEvent::CHOICE`]; at least one.
    pub events: Vec<NotificationEvent>,
    /// The lowest severity that is sent.
    pub min_severity: Severity,
    /// The services whose events are sent; `None` = all services.
    pub selection: Option<RoutedServices>,
    /// Quiet hours, in which only severe events are sent; `None` = no quiet hours.
    pub quiet: Option<QuietHours>,
    /// Number of messages that are sent one by one within a minute; further ones are sent in a digest. `None` = no digests.
    pub digest_above: Option<u32>,
}

/// The services that a channel chooses: those that carry one of the tags, and those that are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutedServices {
    /// Tags; a service with at least one of them is chosen.
    pub tags: Vec<ResourceReference>,
    /// Services that are named one by one.
    pub services: Vec<ResourceReference>,
}

/// A tag or a service that a channel names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceReference {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
}

/// Keys of the services that an incident or a notice is about, and of their tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingKeys {
    /// Database keys of the tags of the services.
    pub tags: Vec<i64>,
    /// Database keys of the services.
    pub services: Vec<i64>,
}

impl RoutedServices {
    /// Returns true if at least one of the services is chosen.
    #[must_use]
    pub fn meets(&self, concerned: &RoutingKeys) -> bool {
        let one_of = |chosen: &[ResourceReference], keys: &[i64]| {
            chosen.iter().any(|routed| keys.contains(&routed.key))
        };
        one_of(&self.tags, &concerned.tags) || one_of(&self.services, &concerned.services)
    }
}

impl Default for ChannelRouting {
    fn default() -> Self {
        Self {
            events: NotificationEvent::USUAL.to_vec(),
            min_severity: Severity::Minor,
            selection: None,
            quiet: None,
            digest_above: None,
        }
    }
}

impl ChannelRouting {
    /// Returns true if the channel gets a notice. A channel that was notified of the start is notified of the end too. A
    /// notice that concerns no service is sent only to channels that choose all services.
    #[must_use]
    pub fn accepts_notice(&self, occasion: &NotificationTrigger, was_notified: bool) -> bool {
        let is_about = self.selection.as_ref().is_none_or(|chosen| chosen.meets(&occasion.concerned));
        let is_wanted = self.events.contains(&occasion.event);
        is_wanted && (was_notified || (occasion.severity >= self.min_severity && is_about))
    }
}

/// The properties of an incident or a notice that decide its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationTrigger {
    /// The event to be reported.
    pub event: NotificationEvent,
    /// The severity of the incident or the notice.
    pub severity: Severity,
    /// The services that are affected, and their tags.
    pub concerned: RoutingKeys,
}

/// The main event of a change of an incident; `None` if no message is needed. `before` is `None` for a new incident.
#[must_use]
pub fn event_of(before: Option<&WholeIncident>, after: &WholeIncident) -> Option<NotificationEvent> {
    let is_over = after.incident.is_resolved();
    let Some(before) = before else {
        // An incident that was over when it was reported needs no message.
        return (!is_over).then_some(NotificationEvent::IncidentOpened);
    };
    if is_over != before.incident.is_resolved() {
        return Some(if is_over {
            NotificationEvent::IncidentResolved
        } else {
            NotificationEvent::IncidentReopened
        });
    }
    let acknowledged = |whole: &WholeIncident| whole.incident.acknowledgement.is_some();
    if acknowledged(after) && !acknowledged(before) {
        return Some(NotificationEvent::IncidentAcknowledged);
    }
    let visible_parts = |whole: &WholeIncident| {
        let services: Vec<_> =
            whole.services.iter().map(|affected| (affected.service, affected.impact)).collect();
        let incident = &whole.incident;
        (incident.title.clone(), incident.status, incident.severity, whole.updates.len(), services)
    };
    (!is_over && visible_parts(before) != visible_parts(after)).then_some(NotificationEvent::IncidentUpdated)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn routing(tags: &[i64]) -> ChannelRouting {
        let tag = |key: &i64| ResourceReference { key: *key, id: Id::random() };
        let tags: Vec<ResourceReference> = tags.iter().map(tag).collect();
        let services = vec![ResourceReference { key: 100, id: Id::random() }];
        let selection = (!tags.is_empty()).then_some(RoutedServices { tags, services });
        ChannelRouting {
            events: vec![NotificationEvent::SlaBurning],
            min_severity: Severity::Major,
            selection,
            ..ChannelRouting::default()
        }
    }

    /// Cases: tags of a channel for major events and above (a channel with tags also names service 100); severity of a
    /// notice and whether the channel was notified of it before; tags of the service of the notice; whether the channel
    /// accepts the notice.
    #[rstest]
    #[case::all_that_is_severe(&[], (Severity::Major, false), &[], true)]
    #[case::too_harmless(&[], (Severity::Minor, false), &[7], false)]
    #[case::one_of_the_tags(&[7, 8], (Severity::Critical, false), &[9, 8], true)]
    #[case::none_of_the_tags(&[7, 8], (Severity::Critical, false), &[9], false)]
    #[case::a_service_by_name(&[7], (Severity::Critical, false), &[100], true)]
    #[case::notified_before(&[7], (Severity::Minor, true), &[], true)]
    fn a_channel_accepts_notices_of_its_severity_and_tags(
        #[case] tags: &[i64],
        #[case] (severity, was_notified): (Severity, bool),
        #[case] keys: &[i64],
        #[case] expected: bool,
    ) {
        let concerned = RoutingKeys { tags: keys.to_vec(), services: keys.to_vec() };
        let occasion = NotificationTrigger { event: NotificationEvent::SlaBurning, severity, concerned };
        assert_eq!(routing(tags).accepts_notice(&occasion, was_notified), expected);
        let other = NotificationTrigger { event: NotificationEvent::OncallGap, ..occasion };
        assert!(!routing(tags).accepts_notice(&other, was_notified), "it has not chosen that");
    }
}
