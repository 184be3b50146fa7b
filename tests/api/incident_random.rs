//! People and the engine on the same incidents, at random: whatever they do in whichever order, contract 4.9 and
//! docs/incidents.md hold after each step.
//!
//! Services report their edges themselves; people edit, resolve, open again, delete, pause, override, plan. What must be
//! seen is known from what was done. Each run draws its steps from a seed, which a failure prints;
//! `WATCHKEEPER_TEST_SEED` repeats one.

mod claims;
mod services;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::foreign_ids::{Chance, seed};
use crate::incident_random::claims::{Claims, Row, all, check_timeline, id, is_automatic, is_open};
use crate::incident_random::services::Service;
use crate::support::client::{Answer, Client};
use crate::support::scoped::made;
use crate::support::server::Server;

/// Steps of one run.
const STEPS: usize = 300;
/// Services at any time; the last one is unstable now and then.
const SERVICES: usize = 5;
/// Number of incidents at which some are deleted.
const INCIDENTS: usize = 40;
/// The time that the engine has to catch up with a step.
const PATIENCE: Duration = Duration::from_secs(20);
const TAGS: [&[&str]; 4] = [&[], &["shop"], &["shop", "pay"], &["pay"]];
const STATUSES: [&str; 3] = ["investigating", "identified", "monitoring"];
const SEVERITIES: [&str; 3] = ["minor", "major", "critical"];

struct World {
    client: Client,
    chance: Chance,
    services: Vec<Service>,
    claims: Claims,
    /// The present policy.
    policy: String,
    /// An outage becomes an incident under the present policy.
    opens: bool,
    names: u32,
}

impl World {
    fn new(client: Client, seed: u64) -> Self {
        let rows = client.get("/v1/incident-policies").expect(200).data();
        let policy = rows[0]["id"].as_str().unwrap().to_owned();
        client.patch(&policy_path(&policy), &json!({"resolve_after_seconds": 0})).expect(200);
        let (services, claims) = (Vec::new(), Claims::default());
        let mut world =
            Self { client, chance: Chance(seed), services, claims, policy, opens: true, names: 0 };
        while world.services.len() < SERVICES {
            world.add_service();
        }
        world
    }

    fn add_service(&mut self) {
        self.names += 1;
        let (is_wild, tags) = (self.services.len() == SERVICES - 1, *self.chance.one(&TAGS));
        let name = format!("service {}", self.names);
        self.services.push(Service::create(&self.client, &name, is_wild, tags));
    }

    /// One action of the engine or of people; returns its description.
    fn step(&mut self) -> String {
        match self.chance.below(20) {
            0..9 => self.edge(),
            9 => self.circumstances(),
            10 => self.delete_service(),
            11 => self.edit_policy(),
            12 => self.create(),
            _ => self.edit(),
        }
    }

    /// Edges of one service, so quickly that some are seen together.
    fn edge(&mut self) -> String {
        let (place, times) = (self.chance.below(SERVICES), 1 + self.chance.below(3));
        let is_released = self.chance.below(2) == 0;
        let service = &mut self.services[place];
        if is_released {
            service.release(&self.client);
        }
        let mut is_down = service.is_down != Some(true);
        for _ in 0..times {
            service.report(&self.client, is_down);
            is_down = !is_down;
        }
        format!("{times} edges of {}", service.id)
    }

    fn circumstances(&mut self) -> String {
        let index = self.chance.below(SERVICES);
        let (service, client) = (&mut self.services[index], &self.client);
        let what = self.chance.below(3);
        match what {
            0 => service.pause(client),
            1 => service.state(client),
            _ => service.maintain(client),
        }
        format!("{} of {}", ["pause", "override", "maintenance"][what], service.id)
    }

    fn delete_service(&mut self) -> String {
        let with_incidents = self.chance.below(2) == 0;
        // The unstable one stays the last.
        let gone = self.services.remove(self.chance.below(SERVICES - 1));
        let affected: Vec<Row> = all(&self.client);
        let affected = affected.iter().filter(|row| claims::services(row).contains(&gone.id));
        for row in affected {
            let claim = self.claims.of(id(row));
            // It ends with its only service, or is deleted; otherwise people are still in charge of it.
            claim.is_handled |= claim.status.take().is_some();
        }
        let flag = if with_incidents { "?delete_orphaned_incidents=true" } else { "" };
        self.client.delete(&format!("/v1/services/{}{flag}", gone.id)).expect(200);
        let wild = self.services.pop().unwrap();
        self.add_service();
        self.services.push(wild);
        format!("service {} deleted, with incidents: {with_incidents}", gone.id)
    }

    fn edit_policy(&mut self) -> String {
        self.opens = self.chance.below(6) > 0;
        let severity = if self.opens { json!(self.chance.one(&SEVERITIES)) } else { Value::Null };
        let changes = json!({
            "down_severity": severity,
            "open_after_seconds": self.chance.below(2),
            "resolve_after_seconds": self.chance.below(2),
            "group_by": self.chance.one(&["tags", "parent", "parent_or_tags", "none"]),
            "group_window_seconds": 1 + self.chance.below(60),
        });
        self.client.patch(&policy_path(&self.policy), &changes).expect(200);
        format!("policy: {changes}")
    }

    /// An incident opened by people: the engine only marks recoveries in it.
    fn create(&mut self) -> String {
        self.names += 1;
        let title = format!("made {}", self.names);
        let service = &self.services[self.chance.below(SERVICES)].id;
        let body = json!({"title": title, "message": "Seen by eye.", "service_ids": [service],
            "status": self.chance.one(&STATUSES), "severity": self.chance.one(&SEVERITIES)});
        let id = made(&self.client, "/v1/incidents", &body);
        let claim = self.claims.of(&id);
        (claim.title, claim.is_handled) = (Some(title), true);
        claim.severity = body["severity"].as_str().map(str::to_owned);
        claim.status = body["status"].as_str().map(str::to_owned);
        format!("incident {id} made")
    }

    /// People do something to one incident.
    fn edit(&mut self) -> String {
        let rows = all(&self.client);
        let open: Vec<&Row> = rows.iter().filter(|row| is_open(row)).collect();
        let candidates =
            if self.chance.below(3) > 0 && !open.is_empty() { open } else { rows.iter().collect() };
        if candidates.is_empty() {
            return "nothing to edit".into();
        }
        let row = (*self.chance.one(&candidates)).clone();
        let what = self.chance.below(9);
        let answer = self.edit_one(&row, what);
        format!("act {what} on {row}: {} {}", answer.status, answer.body)
    }

    fn edit_one(&mut self, row: &Row, what: usize) -> Answer {
        self.names += 1;
        let path = format!("/v1/incidents/{}", id(row));
        let change = |key: &str, value: Value| self.client.patch(&path, &json!({ key: value }));
        let (claim, chance) = (self.claims.of(id(row)), &mut self.chance);
        match what {
            0 => {
                let title = format!("title {}", self.names);
                claim.title = Some(title.clone());
                change("title", json!(title)).expect(200)
            }
            1 => {
                let severity = *chance.one(&SEVERITIES);
                if row["severity"] != severity {
                    claim.severity = Some(severity.into());
                }
                change("severity", json!(severity)).expect(200)
            }
            2 => self.change_status(row, &path),
            3 => self.post_update(row, &path),
            4 => self.resolve(row, &path),
            5 => self.client.post(&format!("{path}/acknowledge"), &json!({})),
            6 => {
                let chosen = self.services.iter().filter(|_| chance.below(3) == 0);
                let chosen: Vec<&String> = chosen.map(|service| &service.id).collect();
                claim.is_handled = true;
                change("service_ids", json!(chosen)).expect(200)
            }
            7 if !is_open(row) => {
                self.claims.forget_end(id(row));
                change("resolved_at", row["started_at"].clone()).expect(200)
            }
            _ => {
                self.claims.deleted.insert(id(row).to_owned());
                self.client.delete(&path).expect(200)
            }
        }
    }

    fn change_status(&mut self, row: &Row, path: &str) -> Answer {
        let status = *self.chance.one(&STATUSES);
        let answer = self.client.patch(path, &json!({ "status": status }));
        if answer.status == 200 && row["status"] != status {
            self.claims.of(id(row)).status = Some(status.into());
        }
        let expected: &[u16] = if is_open(row) { &[200, 409] } else { &[409] };
        assert!(expected.contains(&answer.status), "{row}: {}", answer.body);
        answer
    }

    fn post_update(&mut self, row: &Row, path: &str) -> Answer {
        let status = *self.chance.one(&["investigating", "identified", "monitoring", "resolved"]);
        let entry = json!({"status": status, "message": "Said."});
        let answer = self.client.post(&format!("{path}/updates"), &entry).expect(201);
        let claim = self.claims.of(id(row));
        claim.status = Some(status.into());
        if status != "resolved" {
            claim.is_handled |= !is_open(row);
            self.claims.forget_end(id(row));
        }
        answer
    }

    fn resolve(&mut self, row: &Row, path: &str) -> Answer {
        let mut body = json!({"message": "Over."});
        if self.chance.below(2) == 0 {
            body["resolved_at"] = row["started_at"].clone();
        }
        let answer = self.client.post(&format!("{path}/resolve"), &body);
        let expected: &[u16] = if is_open(row) { &[200, 409] } else { &[409] };
        assert!(expected.contains(&answer.status), "{row}: {}", answer.body);
        if answer.status == 200 {
            self.claims.of(id(row)).status = Some("resolved".into());
        }
        answer
    }

    /// Everything that is shown now keeps the rules.
    fn check(&mut self, about: &str) -> Vec<Row> {
        let rows = all(&self.client);
        for new in self.claims.check(&rows, about) {
            assert!(is_automatic(&new), "{about}: {new}");
            for affected in claims::services(&new) {
                let service = self.services.iter_mut().find(|service| service.id == affected);
                let service = service.unwrap_or_else(|| panic!("{about}: affects what is gone: {new}"));
                assert!(service.may > 0, "{about}: {service:?} has an incident without an edge: {new}");
                service.may -= 1;
            }
        }
        rows
    }

    /// Violations of the invariants at this moment.
    fn missing(&self, rows: &[Row]) -> Option<String> {
        let is_ours = |id: &str| {
            let row = rows.iter().find(|row| claims::id(row) == id);
            row.is_some_and(is_automatic)
        };
        for service in &self.services {
            let open = service.open_incidents(&self.client);
            let is_told = open.iter().any(|(id, is_recovered)| is_ours(id) && !is_recovered);
            if self.opens && service.must_now() && !is_told {
                return Some(format!("{service:?} is down, and in no open incident"));
            }
            let claim = |id: &str| self.claims.known.get(id).cloned().unwrap_or_default();
            let left = open.iter().find(|(id, is_recovered)| !is_recovered && !claim(id).is_handled);
            if let Some((id, _)) = left.filter(|_| service.is_well()) {
                return Some(format!("{service:?} is well, and affected by {id}"));
            }
        }
        let is_over = |row: &&Row| {
            let claim = self.claims.known.get(id(row)).cloned().unwrap_or_default();
            let is_well = |id: &String| self.services.iter().any(|one| one.id == *id && one.is_well());
            let services = claims::services(row);
            let is_followed = is_automatic(row) && claim.status.is_none() && !claim.is_handled;
            is_open(row) && is_followed && !services.is_empty() && services.iter().all(is_well)
        };
        rows.iter().find(is_over).map(|row| format!("everything works again, and it is open: {row}"))
    }

    /// Waits until what must be is so; until then, and then, everything keeps the rules.
    async fn catch_up(&mut self, about: &str) {
        let deadline = Instant::now() + PATIENCE;
        let rows = loop {
            let rows = self.check(about);
            let Some(missing) = self.missing(&rows) else { break rows };
            assert!(Instant::now() < deadline, "{about}: {missing}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        for service in &mut self.services {
            if self.opens && service.must_now() {
                let known = &self.claims.known;
                let is_handled = |id: &String| known.get(id).is_some_and(|claim| claim.is_handled);
                let open = service.open_incidents(&self.client);
                service.told(!open.iter().any(|(id, is_recovered)| !is_recovered && is_handled(id)));
            } else if !self.opens {
                // An outage that no policy wanted may become an incident when one does.
                service.must = false;
            }
            service.recovered();
        }
        for row in rows.iter().filter(|row| is_open(row)) {
            let answer = self.client.get(&format!("/v1/incidents/{}", id(row))).expect(200);
            check_timeline(&answer.data(), &self.claims.of(id(row)).clone(), about);
        }
        let over: Vec<&Row> = rows.iter().filter(|row| !is_open(row)).collect();
        if over.len() > INCIDENTS {
            for row in over {
                self.client.delete(&format!("/v1/incidents/{}", id(row))).expect(200);
                self.claims.deleted.insert(id(row).to_owned());
            }
        }
    }
}

fn policy_path(id: &str) -> String {
    format!("/v1/incident-policies/{id}")
}

#[tokio::test]
async fn the_invariants_hold_for_random_edits_and_outages() {
    let seed = seed();
    println!("WATCHKEEPER_TEST_SEED={seed}");
    let server = Server::shared();
    let mut world = World::new(server.tenant("business"), seed);
    for step in 0..STEPS {
        let did = world.step();
        world.catch_up(&format!("WATCHKEEPER_TEST_SEED={seed}, step {step}: {did}")).await;
    }
    let automatic = world.claims.known.len();
    println!("{STEPS} steps, {automatic} incidents");
    assert!(automatic > STEPS / 20, "the steps are worth taking");
}
