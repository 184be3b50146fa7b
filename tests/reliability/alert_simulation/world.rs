//! The simulated organisation: its services, its people, its receivers, its server, and one random step at a time.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::alert_simulation::receivers::Receiver;
use crate::alert_simulation::rules::{self, KnownIncident};
use crate::chance::Chance;
use crate::support::client::{Answer, Client};
use crate::support::eventually;
use crate::support::scoped::made;
use crate::support::server::Server;

/// Services of the organisation.
const SERVICES: usize = 6;
const SEVERITIES: [&str; 3] = ["minor", "major", "critical"];
const GROUPINGS: [&str; 3] = ["tag", "parent", "none"];
/// Tags of the services, in turn.
const TAGS: [&[&str]; 3] = [&["shop"], &["shop", "pay"], &["pay"]];
/// Time in which incidents must follow the services on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// Steps that are stored for the message of a failure.
const STEPS_SHOWN: usize = 40;

/// A service that reports its own edges.
struct ReportedService {
    id: String,
    ping: String,
    is_down: bool,
}

pub(crate) struct World {
    server: Server,
    chance: Chance,
    services: Vec<ReportedService>,
    receivers: Vec<Receiver>,
    policy: String,
    steps: Vec<String>,
    counter: usize,
    /// Every incident that was ever seen.
    incidents: BTreeSet<String>,
    /// Paths of incidents whose services people have chosen: one that never failed does not recover.
    chosen: BTreeSet<String>,
}

impl World {
    pub(crate) fn new(server: Server, seed: u64) -> Self {
        let client = server.client();
        let shop = made(&client, "/v1/tags", &json!({"key": "shop"}));
        let receivers = Receiver::all(&client, &shop);
        let policy = client.get("/v1/incident-policies").expect(200).data()[0]["id"].clone();
        let policy = format!("/v1/incident-policies/{}", policy.as_str().unwrap());
        client.patch(&policy, &json!({"resolve_after_seconds": 0, "group_by": "tag"})).expect(200);
        let services = (0..SERVICES).map(|number| reported_service(&client, number)).collect();
        let (chance, steps, incidents) = (Chance(seed), Vec::new(), BTreeSet::new());
        let chosen = BTreeSet::new();
        Self { server, chance, services, receivers, policy, steps, counter: 0, incidents, chosen }
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.chance.below(i64::try_from(bound).unwrap())).unwrap()
    }

    /// One thing that happens.
    pub(crate) async fn step(&mut self) {
        self.counter += 1;
        let done = match self.below(100) {
            0..45 => self.report_edge(),
            45..60 => self.edit_incident(),
            60..66 => self.create_incident(),
            66..71 => self.edit_policy(),
            71..79 => self.switch_channel(),
            79..85 => self.silence_channel(),
            85..88 => self.rename_channel(),
            88..94 => self.fail_receiver(),
            94..97 => self.wait_for_calm().await,
            97 => self.restart().await,
            _ => self.kill(),
        };
        self.steps.push(format!("{}: {done}", self.counter));
    }

    fn report_edge(&mut self) -> String {
        let place = self.below(SERVICES);
        let client = self.client();
        let service = &mut self.services[place];
        service.is_down = !service.is_down;
        let path = if service.is_down { format!("{}/fail", service.ping) } else { service.ping.clone() };
        let answer = client.without_token().send("POST", &path, &[], b"");
        if answer.status == 429 {
            // Too many of its pings in one second: this one says nothing.
            service.is_down = !service.is_down;
            return format!("service {place}: ping refused");
        }
        answer.expect(200);
        format!("service {place} is {}", if self.services[place].is_down { "down" } else { "up" })
    }

    /// People do something to an open incident.
    fn edit_incident(&mut self) -> String {
        let open = self.list("resolved=false");
        if open.is_empty() {
            return "nothing to edit".into();
        }
        let index = self.below(open.len());
        let path = format!("/v1/incidents/{}", open[index]["id"].as_str().unwrap());
        let (what, severity) = (self.below(6), SEVERITIES[self.below(3)]);
        let chosen: Vec<String> = self.services.iter().map(|service| service.id.clone()).collect();
        let chosen: Vec<String> = chosen.into_iter().filter(|_| self.below(2) == 0).collect();
        if what == 4 {
            self.chosen.insert(path.clone());
        }
        let client = self.client();
        let answer = match what {
            0 => client.patch(&path, &json!({"severity": severity})),
            1 => {
                client.post(&format!("{path}/updates"), &json!({"status": "identified", "message": "Seen."}))
            }
            2 => client.post(&format!("{path}/acknowledge"), &json!({})),
            3 => client.post(&format!("{path}/resolve"), &json!({"message": "Over."})),
            4 => client.patch(&path, &json!({"service_ids": chosen})),
            _ => client.patch(&path, &json!({"title": format!("Title {}", self.counter)})),
        };
        expect_one_of(&answer, &[200, 201, 409]);
        format!("edit {what} ({severity}, {} services) of {path}: {}", chosen.len(), answer.status)
    }

    fn create_incident(&mut self) -> String {
        let (severity, place) = (SEVERITIES[self.below(3)], self.below(SERVICES));
        let body = json!({"title": format!("Made {}", self.counter), "message": "Seen by eye.",
            "severity": severity, "service_ids": [self.services[place].id]});
        let id = made(&self.client(), "/v1/incidents", &body);
        format!("{severity} incident {id} of service {place}")
    }

    fn edit_policy(&mut self) -> String {
        let (severity, group_by) = (SEVERITIES[self.below(3)], GROUPINGS[self.below(3)]);
        let changes = json!({"down_severity": severity, "group_by": group_by,
            "resolve_after_seconds": self.below(2)});
        self.client().patch(&self.policy, &changes).expect(200);
        format!("policy {changes}")
    }

    fn switch_channel(&mut self) -> String {
        let (place, client) = (self.below(self.receivers.len()), self.client());
        let receiver = &mut self.receivers[place];
        let is_enabled = !receiver.is_enabled;
        receiver.switch(&client, is_enabled);
        format!("channel {} switched {}", receiver.name, if is_enabled { "on" } else { "off" })
    }

    fn silence_channel(&mut self) -> String {
        let (place, client) = (self.below(self.receivers.len()), self.client());
        let receiver = &mut self.receivers[place];
        let is_quiet = !receiver.is_quiet;
        receiver.silence(&client, is_quiet);
        format!("quiet hours of {} {}", receiver.name, if is_quiet { "begin" } else { "end" })
    }

    fn rename_channel(&mut self) -> String {
        let index = self.below(self.receivers.len());
        self.receivers[index].rename(&self.client(), self.counter);
        format!("channel {} renamed", self.receivers[index].name)
    }

    fn fail_receiver(&mut self) -> String {
        let index = self.below(self.receivers.len());
        let receiver = &mut self.receivers[index];
        let is_failing = !receiver.is_failing;
        receiver.fail(is_failing);
        format!("receiver {} {}", receiver.name, if is_failing { "refuses" } else { "accepts" })
    }

    /// Time passes until the incidents have followed the services.
    async fn wait_for_calm(&self) -> String {
        let client = self.client();
        let deadline = Instant::now() + PATIENCE;
        while let Some(missing) = self.missing(&client) {
            assert!(Instant::now() < deadline, "{missing}\n{}", self.last_steps());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        "calm".into()
    }

    async fn restart(&mut self) -> String {
        self.server.terminate().await;
        self.server.restart();
        "restarted".into()
    }

    fn kill(&mut self) -> String {
        self.server.kill_and_restart();
        "killed".into()
    }

    /// Differences between services and incidents: a service that is down and in no open incident, or up and in an open one of the
    /// engine.
    fn missing(&self, client: &Client) -> Option<String> {
        for service in &self.services {
            let path = format!("/v1/services/{}/incidents?resolved=false&per_page=100", service.id);
            let open = client.get(&path).expect(200).data();
            let is_affected = |row: &&Value| {
                let path = format!("/v1/incidents/{}", row["id"].as_str().unwrap());
                row["service_impact"]["is_recovered"] == false && !self.chosen.contains(&path)
            };
            let affected = open.as_array().unwrap().iter().find(is_affected);
            let is_shown = client.get(&format!("/v1/services/{}", service.id)).expect(200).data();
            if service.is_down != (is_shown["status"] == "down") {
                return Some(format!("{} is shown as {}", service.id, is_shown["status"]));
            }
            match affected {
                Some(row) if !service.is_down && row["created_by"].is_null() => {
                    return Some(format!("{} is up, and affected by {row}", service.id));
                }
                _ => {}
            }
        }
        None
    }

    fn list(&self, filter: &str) -> Vec<Value> {
        let client = self.client();
        let mut rows = Vec::new();
        for page in 1.. {
            let path = format!("/v1/incidents?per_page=100&page={page}&{filter}");
            let some = client.get(&path).expect(200).data().as_array().unwrap().clone();
            let is_last = some.len() < 100;
            rows.extend(some);
            if is_last {
                break;
            }
        }
        rows
    }

    /// Every receiver accepts, every channel is enabled, there are no quiet hours, and nothing waits any more.
    pub(crate) async fn settle(&mut self) {
        let client = self.client();
        for receiver in &mut self.receivers {
            receiver.fail(false);
            if !receiver.is_enabled {
                receiver.switch(&client, true);
            }
            if receiver.is_quiet {
                receiver.silence(&client, false);
            }
            // A change has a channel tried at once that was left alone.
            receiver.rename(&client, self.counter);
        }
        loop {
            self.wait_for_calm().await;
            let before = self.list("kind=standard");
            // Longer than the engine takes to settle an incident.
            tokio::time::sleep(Duration::from_secs(3)).await;
            eventually("nothing waits", || {
                let waiting = client.get("/v1/notifications?status=waiting").expect(200).data();
                (waiting.as_array().unwrap().is_empty()).then_some(())
            })
            .await;
            if self.list("kind=standard") == before {
                return;
            }
        }
    }

    /// Holds what each receiver knows against what is so.
    pub(crate) fn check(&mut self, about: &str) {
        let about = format!("{about}\n{}\n", self.last_steps());
        let rows = self.list("kind=standard");
        let known: Vec<KnownIncident> = rows.iter().map(|row| self.known_incident(row)).collect();
        self.incidents.extend(known.iter().map(|incident| incident.id.clone()));
        for receiver in &self.receivers {
            rules::check(receiver, &known, &about);
        }
    }

    fn last_steps(&self) -> String {
        self.steps[self.steps.len().saturating_sub(STEPS_SHOWN)..].join("\n")
    }

    fn known_incident(&self, row: &Value) -> KnownIncident {
        let names = row["services"].as_array().unwrap().iter();
        KnownIncident {
            id: row["id"].as_str().unwrap().to_owned(),
            severity: row["severity"].as_str().unwrap().to_owned(),
            is_resolved: !row["resolved_at"].is_null(),
            created_at: row["created_at"].as_str().unwrap().to_owned(),
            services: names.map(|service| service["name"].as_str().unwrap().to_owned()).collect(),
        }
    }

    /// The numbers of accepted messages and of incidents.
    pub(crate) fn totals(&self) -> (usize, usize) {
        let messages = self.receivers.iter().map(|receiver| receiver.accepted().len()).sum();
        (messages, self.incidents.len())
    }
}

/// A heartbeat whose pings are its edges.
fn reported_service(client: &Client, number: usize) -> ReportedService {
    let body = json!({"name": format!("service {number}"), "check_type": "heartbeat",
        "tags": TAGS[number % TAGS.len()], "settings": {"interval_seconds": 3_600, "flapping_changes": 0}});
    let id = made(client, "/v1/services", &body);
    let url = client.get(&format!("/v1/services/{id}")).expect(200).data()["heartbeat"]["ping_url"].clone();
    let url = url.as_str().unwrap();
    let ping = url[url.find("/ping/").unwrap()..].to_owned();
    client.without_token().send("POST", &ping, &[], b"").expect(200);
    ReportedService { id, ping, is_down: false }
}

fn expect_one_of(answer: &Answer, expected: &[u16]) {
    assert!(expected.contains(&answer.status), "{}: {}", answer.status, answer.body);
}
