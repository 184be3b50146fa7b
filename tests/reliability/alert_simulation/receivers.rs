//! The channels of a simulated organisation, each with a real receiver on loopback, and what each receiver has accepted.
//!
//! A receiver accepts what it answers with 2xx; what it refuses is tried again and counts for nothing. Only the first arrival of an
//! id counts: a message may come twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use watchkeeper::clock::{Clock, Timestamp};

use crate::support::client::Client;
use crate::support::scoped::made;
use crate::support::sink::{Conduct, Sink};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PAGER_KEY: &str = "0123456789abcdef0123456789abcdef";

/// Incidents that a channel selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// All of them.
    Everything,
    /// Those that are critical.
    CriticalOnly,
    /// Those that affect a service with the tag `shop`.
    ShopOnly,
}

/// One channel of the organisation.
pub(crate) struct Receiver {
    pub(crate) name: &'static str,
    pub(crate) id: String,
    pub(crate) interest: Interest,
    pub(crate) is_pager: bool,
    pub(crate) is_enabled: bool,
    pub(crate) is_failing: bool,
    pub(crate) is_quiet: bool,
    /// Periods in which it was switched off: from, and to; `None` while it is off.
    off_times: Vec<(Timestamp, Option<Timestamp>)>,
    sink: Sink,
}

/// One accepted message, in the order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct AcceptedMessage {
    pub(crate) event: String,
    /// The time of the event, as the message says it.
    pub(crate) at: String,
    /// The incident as the message shows it.
    pub(crate) incident: Value,
}

impl AcceptedMessage {
    pub(crate) fn incident_id(&self) -> &str {
        self.incident["id"].as_str().unwrap_or_default()
    }

    /// The names of services that the message names, whether as affected or as joined.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let of = |list: &Value| -> Vec<String> {
            let rows = list.as_array().cloned().unwrap_or_default();
            let name = |row: &Value| row["name"].as_str().or_else(|| row.as_str()).map(str::to_owned);
            rows.iter().filter_map(name).collect()
        };
        of(&self.incident["services"]).into_iter().chain(of(&self.incident["joined"]["services"])).collect()
    }
}

impl Receiver {
    fn create(client: &Client, name: &'static str, interest: Interest, more: &Value) -> Self {
        let sink = Sink::start();
        let is_pager = name == "pager";
        let mut body = if is_pager {
            json!({"kind": "pagerduty", "name": name,
                "settings": {"routing_key": PAGER_KEY, "base_url": sink.base()}})
        } else {
            json!({"kind": "webhook", "name": name, "settings": {"url": sink.url(), "secret": SECRET}})
        };
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let id = made(client, "/v1/notification-channels", &body);
        let (is_enabled, is_failing, is_quiet) = (true, false, false);
        let off_times = Vec::new();
        Self { name, id, interest, is_pager, is_enabled, is_failing, is_quiet, off_times, sink }
    }

    /// The channels of the simulation: every kind of choice that decides who is to know.
    pub(crate) fn all(client: &Client, shop: &str) -> Vec<Self> {
        let every = json!({"events": ["incident.opened", "incident.updated", "incident.acknowledged",
            "incident.reopened", "incident.resolved", "incident.service_joined", "incident.worsened",
            "incident.service_recovered"]});
        let selected = json!({"applies_to": "selected", "tag_ids": [shop]});
        vec![
            Self::create(client, "usual", Interest::Everything, &json!({})),
            Self::create(client, "every event", Interest::Everything, &every),
            Self::create(client, "critical", Interest::CriticalOnly, &json!({"min_severity": "critical"})),
            Self::create(client, "shop", Interest::ShopOnly, &selected),
            Self::create(client, "pager", Interest::Everything, &json!({})),
        ]
    }

    /// From now on it accepts nothing, or everything.
    pub(crate) fn fail(&mut self, is_failing: bool) {
        self.is_failing = is_failing;
        self.sink.behave(Conduct::Answer(if is_failing { 503 } else { 204 }, ""));
    }

    /// The channel is switched off, or on.
    pub(crate) fn switch(&mut self, client: &Client, is_enabled: bool) {
        self.is_enabled = is_enabled;
        let before = Clock::System.now();
        self.change(client, &json!({"is_enabled": is_enabled}));
        match self.off_times.last_mut() {
            Some((_, end @ None)) => *end = Some(Clock::System.now()),
            _ => self.off_times.push((before, None)),
        }
    }

    /// Returns true if it was switched off at some time since then.
    pub(crate) fn was_off_since(&self, from: &str) -> bool {
        self.off_times.iter().any(|(_, to)| to.is_none_or(|to| to.to_string().as_str() >= from))
    }

    /// Quiet hours all day begin, or end.
    pub(crate) fn silence(&mut self, client: &Client, is_quiet: bool) {
        self.is_quiet = is_quiet;
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let hours = json!({"hours": [{"days": days, "from": "00:00", "to": "24:00"}], "time_zone": "UTC",
            "except_from": "critical"});
        self.change(client, &json!({"quiet_hours": if is_quiet { hours } else { Value::Null }}));
    }

    /// A change that does not affect its messages.
    pub(crate) fn rename(&self, client: &Client, number: usize) {
        self.change(client, &json!({"name": format!("{} {number}", self.name)}));
    }

    fn change(&self, client: &Client, body: &Value) {
        client.patch(&format!("/v1/notification-channels/{}", self.id), body).expect(200);
    }

    /// Messages that a webhook has accepted, each id once, in the order of arrival.
    pub(crate) fn accepted(&self) -> Vec<AcceptedMessage> {
        let mut seen = BTreeSet::new();
        let taken = self.sink.received().into_iter().filter(|message| message.is_accepted);
        let first = taken.filter(|message| seen.insert(message.header("webhook-id").to_owned()));
        let accepted = first.map(|message| {
            let body = message.json();
            let at = body["timestamp"].as_str().unwrap_or_default().to_owned();
            AcceptedMessage { event: message.event(), at, incident: body["data"]["incident"].clone() }
        });
        accepted.collect()
    }

    /// The last thing that the pager accepted of each incident.
    pub(crate) fn alerts(&self) -> BTreeMap<String, String> {
        let word = |body: &Value, key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let taken = self.sink.received().into_iter().filter(|message| message.is_accepted);
        let bodies = taken.map(|message| message.json());
        bodies.map(|body| (word(&body, "dedup_key"), word(&body, "event_action"))).collect()
    }
}
