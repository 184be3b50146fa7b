//! The choice of the event by which a channel is notified of a change of an incident, and of the services and severity
//! that the message names.

use crate::model::incident::Severity;
use crate::model::incident_effects::audience::ChannelAudience;
use crate::model::incident_effects::transition::{IncidentTransition, JoinedServices};
use crate::model::notification::NotificationEvent;
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::routing::{ChannelRouting, RoutingKeys};

/// The facts about a change from which the event for each channel is chosen.
pub(super) struct IncidentChangeFacts<'a> {
    /// The main event of the change.
    pub(super) event: NotificationEvent,
    pub(super) severity: Severity,
    pub(super) severity_before: Option<Severity>,
    pub(super) joined: JoinedServices<'a>,
    pub(super) concerned: &'a RoutingKeys,
}

impl<'a> IncidentChangeFacts<'a> {
    pub(super) fn of(
        event: NotificationEvent,
        change: &'a IncidentTransition<'_>,
        concerned: &'a RoutingKeys,
    ) -> Self {
        Self {
            event,
            severity: change.after.incident.severity,
            severity_before: change.before.map(|before| before.incident.severity),
            joined: change.joined(),
            concerned,
        }
    }

    fn is_rise(&self) -> bool {
        self.severity_before.is_some_and(|before| before < self.severity)
    }

    fn is_rise_above(&self, notified: Option<Severity>) -> bool {
        self.is_rise() && notified.is_none_or(|notified| notified < self.severity)
    }

    /// The services that a message to a channel names as joined: new ones, and for a channel that is notified of
    /// recoveries also those that fail again.
    fn joined_for(&self, routing: &ChannelRouting) -> Option<ServiceGroup> {
        let wants_recoveries = routing.events.contains(&NotificationEvent::IncidentServiceRecovered);
        let relapsed = self.joined.relapsed.iter().filter(|_| wants_recoveries);
        ServiceGroup::from_affected(self.joined.new.iter().chain(relapsed).copied())
    }

    /// The event for a channel, and the names in its message; `None` = no message. A channel that was notified of the
    /// incident is notified of its progress, even if severity and services no longer match. If it was disabled meanwhile,
    /// it is notified only of the end and of a reopening. If the incident starts to match a channel with this change, the
    /// channel is notified as of a new incident.
    pub(super) fn choose(
        &self,
        channel_audience: &ChannelAudience,
    ) -> Option<(NotificationEvent, IncidentChange)> {
        let routing = &channel_audience.channel.routing;
        let was_notified = channel_audience.was_notified();
        let joined = self.joined_for(routing);
        let event = if was_notified {
            self.choose_for_notified(channel_audience, joined.is_some())?
        } else {
            self.choose_for_new(channel_audience, joined.is_some())?
        };
        let is_written = channel_audience.channel.is_enabled || was_notified && is_kept_for_later(event);
        if !is_written {
            return None;
        }
        let names_joined = was_notified && event != NotificationEvent::IncidentResolved;
        let previous_severity = self
            .severity_before
            .filter(|_| was_notified && self.is_rise() && event != NotificationEvent::IncidentResolved);
        let joined = joined.filter(|_| names_joined);
        Some((event, IncidentChange { joined, recovered: None, previous_severity }))
    }

    fn choose_for_notified(
        &self,
        channel_audience: &ChannelAudience,
        has_joined: bool,
    ) -> Option<NotificationEvent> {
        let was_notified_of_less = self.is_rise_above(channel_audience.notified_severity(None));
        let is_update = self.event == NotificationEvent::IncidentUpdated;
        let candidates = [
            Some(self.event).filter(|_| !is_update),
            Some(NotificationEvent::IncidentWorsened).filter(|_| was_notified_of_less && self.goes_on()),
            Some(NotificationEvent::IncidentServiceJoined).filter(|_| has_joined && self.goes_on()),
            Some(self.event).filter(|_| is_update),
        ];
        first_wanted(&channel_audience.channel.routing, candidates)
    }

    fn choose_for_new(
        &self,
        channel_audience: &ChannelAudience,
        has_joined: bool,
    ) -> Option<NotificationEvent> {
        let routing = &channel_audience.channel.routing;
        let is_about = routing.selection.as_ref().is_none_or(|chosen| chosen.meets(self.concerned));
        if self.severity < routing.min_severity
            || !is_about
            || self.event == NotificationEvent::IncidentResolved
        {
            return None;
        }
        let is_update = self.event == NotificationEvent::IncidentUpdated;
        let candidates = [
            Some(NotificationEvent::IncidentOpened).filter(|_| is_update),
            Some(NotificationEvent::IncidentWorsened).filter(|_| is_update && self.is_rise()),
            Some(NotificationEvent::IncidentServiceJoined).filter(|_| is_update && has_joined),
            Some(self.event),
        ];
        first_wanted(routing, candidates)
    }

    /// The event of a message for a contact that a step notified of the incident; `None` = no message. `notified` is the
    /// severity in the contact's last message. A relapse causes no message, because contacts are not notified of
    /// recoveries.
    pub(super) fn choose_for_contact(&self, notified: Option<Severity>) -> Option<NotificationEvent> {
        let is_joined = !self.joined.new.is_empty();
        let event = if self.is_rise_above(notified) {
            Some(NotificationEvent::IncidentWorsened)
        } else {
            Some(NotificationEvent::IncidentServiceJoined).filter(|_| is_joined)
        };
        event.filter(|_| self.goes_on())
    }

    /// The joined services and the previous severity that messages for contacts name.
    pub(super) fn named_for_contacts(&self) -> IncidentChange {
        IncidentChange {
            joined: ServiceGroup::from_affected(self.joined.new.iter().copied()),
            recovered: None,
            previous_severity: self.severity_before.filter(|_| self.is_rise()),
        }
    }

    /// Returns true unless the change opens or resolves the incident.
    fn goes_on(&self) -> bool {
        !matches!(self.event, NotificationEvent::IncidentOpened | NotificationEvent::IncidentResolved)
    }
}

/// Returns true if the event is also written for a disabled channel, to be sent if the channel is enabled again
/// within a day.
const fn is_kept_for_later(event: NotificationEvent) -> bool {
    matches!(event, NotificationEvent::IncidentResolved | NotificationEvent::IncidentReopened)
}

fn first_wanted(
    routing: &ChannelRouting,
    candidates: [Option<NotificationEvent>; 4],
) -> Option<NotificationEvent> {
    candidates.into_iter().flatten().find(|event| routing.events.contains(event))
}
