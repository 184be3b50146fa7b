//! Required messages: the simple model against which all accepted messages are compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::alert_simulation::receivers::{AcceptedMessage, Interest, Receiver};

/// An incident as the API shows it when everything has settled.
pub(crate) struct KnownIncident {
    pub(crate) id: String,
    pub(crate) severity: String,
    pub(crate) is_resolved: bool,
    /// The time at which it was created.
    pub(crate) created_at: String,
    /// The names of the services that it affects.
    pub(crate) services: BTreeSet<String>,
}

impl KnownIncident {
    fn concerns(&self, interest: Interest) -> bool {
        match interest {
            Interest::Everything => true,
            Interest::CriticalOnly => self.severity == "critical",
            // Services 0, 1, 3 and 4 carry the tag.
            Interest::ShopOnly => {
                self.services.iter().any(|name| !name.ends_with('2') && !name.ends_with('5'))
            }
        }
    }
}

fn rank(severity: &str) -> usize {
    ["minor", "major", "critical"].iter().position(|known| *known == severity).unwrap()
}

/// Holds what one receiver has accepted against these incidents.
pub(crate) fn check(receiver: &Receiver, incidents: &[KnownIncident], about: &str) {
    if receiver.is_pager {
        return check_alerts(receiver, incidents, about);
    }
    let mut by_incident: BTreeMap<String, Vec<AcceptedMessage>> = BTreeMap::new();
    for message in receiver.accepted() {
        by_incident.entry(message.incident_id().to_owned()).or_default().push(message);
    }
    for incident in incidents {
        let messages = by_incident.get(&incident.id).map_or(&[][..], Vec::as_slice);
        let events: Vec<&str> = messages.iter().map(|message| message.event.as_str()).collect();
        let about = format!("{about}channel {}, incident {}: {events:?}", receiver.name, incident.id);
        // A channel that is disabled when an incident starts or grows is notified with its next change.
        let was_off = receiver.was_off_since(&incident.created_at);
        check_order(messages, was_off, &about);
        if incident.is_resolved {
            let last = messages.last().map(|message| message.event.as_str());
            assert!(matches!(last, None | Some("incident.resolved")), "the end is not known\n{about}");
        } else if incident.concerns(receiver.interest) && !was_off {
            check_open(incident, messages, &about);
        }
    }
}

/// An open incident that matters to the channel: its begin, its severity and all of its services are known.
fn check_open(incident: &KnownIncident, messages: &[AcceptedMessage], about: &str) {
    assert!(!messages.is_empty(), "nobody was informed\n{about}");
    let last = &messages[messages.len() - 1];
    assert_ne!(last.event, "incident.resolved", "it is open\n{about}");
    let worst = messages.iter().filter_map(|message| message.incident["severity"].as_str()).map(rank).max();
    assert!(
        worst >= Some(rank(&incident.severity)),
        "the severity {} is not known\n{about}",
        incident.severity
    );
    let named: BTreeSet<String> = messages.iter().flat_map(AcceptedMessage::names).collect();
    let unknown: Vec<&String> = incident.services.difference(&named).collect();
    assert!(unknown.is_empty(), "services {unknown:?} are not known\n{about}");
}

/// Starts and ends alternate, nothing precedes the start or follows the end, and nothing is repeated under another id.
fn check_order(messages: &[AcceptedMessage], was_off: bool, about: &str) {
    let mut is_open = false;
    let mut previous_time = "";
    for (place, message) in messages.iter().enumerate() {
        match message.event.as_str() {
            "incident.opened" => assert!(place == 0, "it begins twice\n{about}"),
            "incident.reopened" => assert!(place == 0 || !is_open, "it was open\n{about}"),
            "incident.acknowledged" if place == 0 => assert!(was_off, "it has not begun\n{about}"),
            _ => assert!(is_open, "{} comes before a begin, or after the end\n{about}", message.event),
        }
        is_open = message.event != "incident.resolved";
        assert!(message.at.as_str() >= previous_time, "out of order\n{about}");
        previous_time = &message.at;
    }
    let mut facts = BTreeSet::new();
    for message in messages {
        let fact = (&message.event, &message.at, message.incident.to_string());
        assert!(facts.insert(fact), "the same fact came under two ids\n{about}");
    }
}

/// No alert is open of an incident that is over, and none is missing of one that is open.
fn check_alerts(receiver: &Receiver, incidents: &[KnownIncident], about: &str) {
    let alerts = receiver.alerts();
    for incident in incidents {
        let alert = alerts.get(&incident.id).map(String::as_str);
        let is_right = if incident.is_resolved {
            matches!(alert, None | Some("resolve"))
        } else {
            let was_off = receiver.was_off_since(&incident.created_at);
            matches!(alert, Some("trigger" | "acknowledge")) || (alert.is_none() && was_off)
        };
        assert!(is_right, "the alert of {} is {alert:?}\n{about}", incident.id);
    }
}
