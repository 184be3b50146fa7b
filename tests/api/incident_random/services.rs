//! Services of which the test says how they are, and what incidents there may and must be because of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::client::Client;
use crate::support::planned;
use crate::support::scoped::made;
use crate::support::service;

/// Maximum number of changes of one service that flaps, within this number of minutes.
const FLAPPING: u32 = 4;
/// An incident is open by then.
const SEEN_AFTER: Duration = Duration::from_secs(2);

/// A heartbeat: its pings are its edges.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) id: String,
    ping: String,
    /// It changes so often that it becomes unstable.
    is_wild: bool,
    /// The last ping that counted said so; `None` before the first one.
    pub(crate) is_down: Option<bool>,
    /// A ping has arrived since the last pause.
    is_measured: bool,
    is_paused: bool,
    is_overridden: bool,
    maintenance: Option<String>,
    /// It recovered and failed again unnoticed: its incident may be the earlier one.
    is_hasty: bool,
    /// The time of its last edge: what that led to may be seen a little later.
    changed_at: Instant,
    /// It recovered, which its incidents do not show yet.
    is_unseen: bool,
    /// Outages that may become new incidents.
    pub(crate) may: u32,
    /// The outage of now is to be in an open incident, unless something holds it back.
    pub(crate) must: bool,
}

impl Service {
    pub(crate) fn create(client: &Client, name: &str, is_wild: bool, tags: &[&str]) -> Self {
        let flapping = if is_wild { FLAPPING } else { 0 };
        let body = json!({"name": name, "check_type": "heartbeat", "tags": tags,
            "settings": {"interval_seconds": 3_600, "flapping_changes": flapping}});
        let id = made(client, "/v1/services", &body);
        let url = client.get(&service(&id)).expect(200).data()["heartbeat"]["ping_url"].clone();
        let url = url.as_str().unwrap();
        let ping = url[url.find("/ping/").unwrap()..].to_owned();
        let (is_paused, is_overridden, is_measured, must) = (false, false, false, false);
        Self {
            id,
            ping,
            is_wild,
            is_down: None,
            is_measured,
            is_paused,
            is_overridden,
            maintenance: None,
            is_hasty: false,
            changed_at: Instant::now(),
            is_unseen: false,
            may: 0,
            must,
        }
    }

    /// A change of the service's own status, or none.
    pub(crate) fn report(&mut self, client: &Client, is_down: bool) {
        let path = if is_down { format!("{}/fail", self.ping) } else { self.ping.clone() };
        let answer = client.without_token().send("POST", &path, &[], b"");
        if answer.status == 429 || self.is_paused {
            return;
        }
        answer.expect(200);
        let is_edge = is_down && self.is_down != Some(true);
        self.changed_at = Instant::now();
        self.is_hasty |= is_edge && self.is_unseen;
        self.is_unseen |= !is_down && self.is_down == Some(true);
        self.may += u32::from(is_edge || self.is_wild);
        self.must = is_down && (is_edge || self.must) && !self.is_wild;
        self.is_down = Some(is_down);
        self.is_measured = true;
    }

    /// A pause begins or ends.
    pub(crate) fn pause(&mut self, client: &Client) {
        let act = if self.is_paused { "resume" } else { "pause" };
        client.post(&format!("{}/{act}", service(&self.id)), &json!({})).expect(200);
        self.is_paused = !self.is_paused;
        self.is_measured = false;
    }

    /// Somebody states its status, or does not any more.
    pub(crate) fn state(&mut self, client: &Client) {
        let path = format!("{}/status-override", service(&self.id));
        if self.is_overridden {
            client.delete(&path).expect(200);
        } else {
            client.post(&path, &json!({"status": "degraded", "reason": "seen by eye"})).expect(200);
        }
        self.is_overridden = !self.is_overridden;
    }

    /// A maintenance of it begins or ends.
    pub(crate) fn maintain(&mut self, client: &Client) {
        match self.maintenance.take() {
            Some(id) => {
                planned::operate(client, &id, "complete").expect(200);
            }
            None => self.maintenance = Some(planned::in_state(client, "in_progress", &[&self.id])),
        }
    }

    /// Ends everything that holds its incidents back.
    pub(crate) fn release(&mut self, client: &Client) {
        if self.is_paused {
            self.pause(client);
        }
        if self.is_overridden {
            self.state(client);
        }
        if self.maintenance.is_some() {
            self.maintain(client);
        }
    }

    /// Returns true if nothing holds back what it must have.
    pub(crate) const fn must_now(&self) -> bool {
        let is_held_back = self.is_paused || self.is_overridden || self.maintenance.is_some();
        self.must && self.is_measured && !is_held_back
    }

    /// Returns true if it is known to be well, so that no incident has it as affected any more.
    pub(crate) fn is_well(&self) -> bool {
        self.is_down == Some(false) && self.is_measured && !self.is_paused && !self.is_wild
    }

    /// Its outage is in an incident. In one whose services people chose it may not have been reported yet.
    pub(crate) const fn told(&mut self, is_sure: bool) {
        self.must = false;
        if is_sure && !self.is_wild && !self.is_hasty {
            self.may = 0;
        }
    }

    /// Its outages are over.
    pub(crate) fn recovered(&mut self) {
        self.must &= !self.is_well();
        if self.is_well() && self.changed_at.elapsed() > SEEN_AFTER {
            (self.is_hasty, self.is_unseen) = (false, false);
            self.may = 0;
            self.must = false;
        }
    }

    /// The open incidents that list it, from its own list: their ids, and whether it has recovered.
    pub(crate) fn open_incidents(&self, client: &Client) -> Vec<(String, bool)> {
        let path = format!("{}/incidents?resolved=false&per_page=100", service(&self.id));
        let rows = client.get(&path).expect(200).data();
        let of = |row: &Value| {
            let impact = &row["service_impact"];
            assert_eq!(impact["is_recovered"] == true, impact["recovered_at"].is_string(), "{row}");
            assert!(impact["impact"].is_string(), "{row}");
            (row["id"].as_str().unwrap().to_owned(), impact["is_recovered"] == true)
        };
        rows.as_array().unwrap().iter().map(of).collect()
    }
}
