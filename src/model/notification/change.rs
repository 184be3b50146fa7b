//! What a message says beyond the state of its incident: services that joined or recovered, and the previous severity.
//!
//! The state of an incident lists all affected services; a message about a change names the services of that change. Both
//! are stored with the message, so that each attempt sends the same text.

use serde::{Deserialize, Serialize};

use crate::model::incident::{AffectedService, Severity};
use crate::model::notification::service_facts::{SERVICES_MAX, ServiceFacts};
use crate::model::word_enum::spelled;

/// The change of an incident that a message reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentChange {
    /// The services that have joined the incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<ServiceGroup>,
    /// The services that work again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<ServiceGroup>,
    /// The severity before the incident became worse.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "spelled::option")]
    pub previous_severity: Option<Severity>,
}

impl IncidentChange {
    /// Returns true if there is no change to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Some services of an incident: the first of them by name, and their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceGroup {
    /// The first services, at most [`SERVICES_MAX`].
    pub services: Vec<ServiceFacts>,
    /// The number of all services in the group.
    pub count: usize,
}

impl ServiceGroup {
    /// Makes a group of these services, in their order; `None` if there are none.
    #[must_use]
    pub fn from_affected<'a>(affected: impl IntoIterator<Item = &'a AffectedService>) -> Option<Self> {
        let mut group = Self { services: Vec::new(), count: 0 };
        for affected in affected {
            if group.count < SERVICES_MAX {
                group.services.push(ServiceFacts::from_affected(affected));
            }
            group.count += 1;
        }
        (group.count > 0).then_some(group)
    }

    /// The group as the subject of a sentence: one or two services by name, more as a name and a number.
    #[must_use]
    pub fn phrase(&self) -> String {
        let name = |index: usize| self.services.get(index).map_or("", |service| service.name.as_str());
        match self.count {
            0 => String::new(),
            1 => name(0).to_owned(),
            2 => format!("{} and {}", name(0), name(1)),
            count => format!("{} and {} other services", name(0), count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::notification::NotificationEvent;
    use crate::model::notification::message::NotificationMessage;

    fn group(names: &[&str]) -> Option<ServiceGroup> {
        let service = |name: &&str| ServiceFacts {
            id: format!("id of {name}"),
            name: (*name).to_owned(),
            impact: None,
            is_recovered: false,
            since: None,
            recovered_at: None,
            evidence: None,
        };
        let services: Vec<ServiceFacts> = names.iter().map(service).collect();
        (!services.is_empty()).then_some(ServiceGroup { count: services.len(), services })
    }

    /// A message as earlier versions stored it.
    fn stored(event: NotificationEvent) -> Value {
        let incident = json!({"id": "rNSJxMbDTX2uHc08AiCqo", "title": "Shop is down", "status": "investigating",
            "severity": "critical", "started_at": 1, "resolved_at": null, "text": "", "acknowledged_by": null,
            "services": [{"id": "a", "name": "Shop", "impact": "major_outage", "is_recovered": false}],
            "services_count": 1});
        json!({"event": event.as_str(), "at": 2, "organisation": "Acme", "subject": {"incident": incident}})
    }

    #[rstest]
    #[case::one(NotificationEvent::IncidentServiceJoined, &["Pay"], &[], "Pay joined: Shop is down")]
    #[case::two(NotificationEvent::IncidentServiceJoined, &["Pay", "Mail"], &[], "Pay and Mail joined: Shop is down")]
    #[case::three(NotificationEvent::IncidentServiceJoined, &["Pay", "Mail", "Api"], &[], "Pay and 2 other services joined: Shop is down")]
    #[case::unnamed(NotificationEvent::IncidentServiceJoined, &[], &[], "More services: Shop is down")]
    #[case::recovered(NotificationEvent::IncidentServiceRecovered, &[], &["Pay"], "Pay works again, still open: Shop is down")]
    #[case::several(NotificationEvent::IncidentServiceRecovered, &[], &["Pay", "Mail"], "Pay and Mail work again, still open: Shop is down")]
    #[case::worse(NotificationEvent::IncidentWorsened, &["Pay"], &[], "Worse: Shop is down")]
    #[case::opened(NotificationEvent::IncidentOpened, &["Pay"], &[], "Shop is down")]
    fn a_headline_names_the_changed_services(
        #[case] event: NotificationEvent,
        #[case] joined: &[&str],
        #[case] recovered: &[&str],
        #[case] expected: &str,
    ) {
        let message: NotificationMessage = serde_json::from_value(stored(event)).unwrap();
        let change =
            IncidentChange { joined: group(joined), recovered: group(recovered), previous_severity: None };
        assert_eq!(message.with_change(change).headline(), expected);
    }

    #[test]
    fn a_message_without_a_change_is_stored_as_by_earlier_versions() {
        let before = stored(NotificationEvent::IncidentOpened);
        let message: NotificationMessage = serde_json::from_value(before.clone()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), before);
    }

    #[test]
    fn a_change_is_stored_with_its_message() {
        let message: NotificationMessage =
            serde_json::from_value(stored(NotificationEvent::IncidentWorsened)).unwrap();
        let change = IncidentChange {
            joined: group(&["Pay"]),
            recovered: None,
            previous_severity: Some(Severity::Minor),
        };
        let message = message.with_change(change);
        let written = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<NotificationMessage>(&written).unwrap(), message);
    }
}
