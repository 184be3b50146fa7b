//! Two organisations and three access scopes that overlap: random requests of confined tokens over every route, and a look
//! through each answer for ids, names and counts of anything that its token must not see.
//!
//! The truth is read again by unscoped tokens, after each request that may have changed something. Each run draws
//! its requests from a seed, which a failure prints; `WATCHKEEPER_TEST_SEED` repeats one.

mod requests;
mod streams;
mod truth;

use serde_json::{Value, json};

use crate::foreign_ids::{Chance, seed};
use crate::scoped_random::requests::{Asked, Routes};
use crate::scoped_random::streams::Streams;
use crate::scoped_random::truth::{Seen, Truth};
use crate::support::client::{Answer, Client};
use crate::support::scoped::{confined, made};
use crate::support::server::Server;

/// Requests of one run; those that name something unseen are sent twice.
const REQUESTS: usize = 1_500;
/// Requests between two changes by an unscoped client.
const BETWEEN_CHANGES: usize = 15;
/// Requests between two searches of the streams.
const BETWEEN_LOOKS: usize = 30;
/// Maximum number of repetitions for a pair of responses that differ.
const AGAIN: usize = 20;
/// Keys of the tags of services.
const KEYS: [&str; 5] = ["red", "green", "blue", "grey", "none"];
/// The tags of each scope.
const SCOPES: [&[usize]; 3] = [&[0], &[1, 2], &[0, 2, 3]];

/// Names that occur nowhere else.
#[derive(Default)]
struct Names(u32);

impl Names {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("mark{:05}x", self.0)
    }
}

/// Some of these, each with a chance of one in `odds`.
fn some<'a>(of: &'a [String], odds: usize, chance: &mut Chance) -> Vec<&'a String> {
    of.iter().filter(|_| chance.below(odds) == 0).collect()
}

/// Fills an organisation with things at random, and gives the labels of its tags.
fn populate(client: &Client, names: &mut Names, chance: &mut Chance) -> Vec<String> {
    let mut labels = Vec::new();
    for key in KEYS {
        let value = names.next();
        client.post("/v1/tags", &json!({"key": key, "value": value})).expect(201);
        labels.push(format!("{key}:{value}"));
    }
    let mut pages = Vec::new();
    for _ in 0..4 {
        pages.push(made(client, "/v1/statuspages", &json!({"name": names.next()})));
    }
    let mut services = Vec::new();
    for _ in 0..14 {
        let (kind, tags) = (*chance.one(&["manual", "heartbeat"]), some(&labels, 4, chance));
        let body = json!({"name": names.next(), "check_type": kind, "tags": tags});
        services.push(made(client, "/v1/services", &body));
    }
    for path in ["/v1/incidents", "/v1/maintenances"].repeat(8) {
        let body = json!({
            "title": names.next(), "message": "Said", "scheduled_start": "2196-01-01",
            "is_published": chance.below(2) == 0,
            "service_ids": some(&services, 5, chance), "statuspage_ids": some(&pages, 2, chance),
        });
        made(client, path, &body);
    }
    for (page, label) in pages.iter().zip(&labels) {
        let path = format!("/v1/statuspages/{page}/components");
        let tag = client.get(&format!("/v1/tags?label={label}")).expect(200).data()[0]["id"].clone();
        let group = json!({"name": names.next(), "is_group": true, "sync_tag_id": tag});
        let group = made(client, &path, &group);
        let inner = json!({"name": names.next(), "is_group": true, "parent_id": group});
        let inner = made(client, &path, &inner);
        for service in some(&services, 5, chance) {
            let parent = chance.one(&[Value::Null, json!(group), json!(inner)]).clone();
            let body = json!({"name": names.next(), "service_id": service, "parent_id": parent});
            made(client, &path, &body);
        }
    }
    labels
}

/// One server with both organisations, and what is known of them.
struct World {
    /// Unscoped clients of the organisation of the scopes and of the other one.
    admins: [Client; 2],
    labels: Vec<String>,
    /// The confined clients with the ids of their scopes.
    confined: Vec<(Client, String)>,
    truth: Truth,
    names: Names,
}

impl World {
    fn new(server: &Server, chance: &mut Chance) -> Self {
        let organisation = server.organisation("business");
        let admins = [server.member(&organisation, "all"), server.tenant("business")];
        let mut names = Names::default();
        let labels = populate(&admins[0], &mut names, chance);
        populate(&admins[1], &mut names, chance);
        let mut clients = Vec::new();
        for tags in SCOPES {
            let tags: Vec<&String> = tags.iter().map(|tag| &labels[*tag]).collect();
            let name = names.next();
            let scope = made(&admins[0], "/v1/access-scopes", &json!({"name": name, "tags": tags}));
            clients.push((confined(server, &organisation, &name), scope));
        }
        let truth = Truth::read(&admins);
        Self { admins, labels, confined: clients, truth, names }
    }

    /// A service or a scope gets other tags, and then something happens to services.
    fn change(&mut self, chance: &mut Chance) {
        self.give_tags(chance);
        self.report(chance);
        self.truth = Truth::read(&self.admins);
    }

    /// Reports an incident, or an update of an open one, so that the streams always have events.
    fn report(&mut self, chance: &mut Chance) {
        let services = self.truth.ids("service", true);
        let incidents = self.truth.ids("incident", true);
        if !incidents.is_empty() && chance.below(2) == 0 {
            let body = json!({"title": self.names.next(), "severity": "major"});
            self.admins[0].patch(&format!("/v1/incidents/{}", chance.one(&incidents)), &body).expect(200);
        } else {
            let services = some(&services, 4, chance);
            let body = json!({"title": self.names.next(), "message": "Said", "service_ids": services});
            made(&self.admins[0], "/v1/incidents", &body);
        }
    }

    fn give_tags(&self, chance: &mut Chance) {
        let mut tags = some(&self.labels, 3, chance);
        let path = if chance.below(3) == 0 {
            tags.push(chance.one(&self.labels));
            format!("/v1/access-scopes/{}", chance.one(&self.confined).1)
        } else {
            let services = self.truth.ids("service", true);
            if services.is_empty() {
                return;
            }
            format!("/v1/services/{}", chance.one(&services))
        };
        self.admins[0].patch(&path, &json!({ "tags": tags })).expect(200);
    }
}

/// Nothing unseen is disclosed, except for the content of the request itself.
fn check_words(answer: &Answer, asked: &Asked, truth: &Truth, seen: &Seen, about: &str) {
    let headers: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let told = format!("{headers}\n{}", answer.body);
    for thing in truth.things.iter().filter(|thing| !seen.contains(&thing.id)) {
        for word in thing.words.iter().chain([&thing.id]) {
            let leaks = told.contains(word.as_str()) && !asked.says(word);
            assert!(!leaks, "{about}: {} {word} is told: {told}", thing.kind);
        }
    }
}

/// Unseen resources answer like unknown ones.
fn check_like_unknown(answer: &Answer, client: &Client, asked: &Asked, seen: &Seen, about: &str) {
    let Some(twin) = asked.with_unknown(seen) else { return };
    let mut body = twin.renamed(&answer.without_request_id().1);
    let mut expected = twin.asked.send(client).without_request_id();
    // Figures that count seconds until now differ from moment to moment: such a pair is requested again, and differs permanently
    // only if something is disclosed.
    for _ in 0..AGAIN {
        if asked.method != "GET" || body == expected.1 {
            break;
        }
        body = twin.renamed(&asked.send(client).without_request_id().1);
        expected = twin.asked.send(client).without_request_id();
    }
    let (status, expected) = expected;
    assert_eq!(answer.status, status, "{about}");
    // The time of the last report of a location differs from moment to moment.
    if status >= 300 || asked.method == "GET" && !asked.target.starts_with("/v1/probes") {
        assert_eq!(body, expected, "{about}");
    }
}

/// Totals and counts are those of what is seen.
fn check_counts(answer: &Answer, asked: &Asked, truth: &Truth, seen: &Seen, about: &str) {
    if asked.method != "GET" || answer.status != 200 {
        return;
    }
    let body = answer.json();
    if let Some(expected) = truth.total(&asked.target, seen) {
        assert_eq!(body["meta"]["total"], expected, "{about}: {body}");
    }
    let rows = match &body["data"] {
        Value::Array(rows) => rows.clone(),
        one => vec![one.clone()],
    };
    for row in rows {
        let id = row["id"].as_str().unwrap_or_default();
        if let Some(count) = row.get("services_count") {
            assert_eq!(*count, truth.carrying(id, seen), "{about}: {row}");
        }
        if let Some(count) = row.get("components_count") {
            assert_eq!(*count, truth.components_on(id, seen), "{about}: {row}");
        }
    }
    if asked.target == "/v1/me" {
        assert!(body["limits"].as_object().unwrap().values().all(|quota| quota["usage"].is_null()), "{body}");
    }
}

#[test]
fn nothing_outside_of_a_scope_is_disclosed() {
    let seed = seed();
    println!("WATCHKEEPER_TEST_SEED={seed}");
    let server = Server::shared();
    let mut chance = Chance(seed);
    let mut world = World::new(&server, &mut chance);
    let routes = Routes::of(&world.admins[0]);
    let mut streams = Streams::open(&world.confined);
    let (mut answered, mut doubled) = (0, 0);
    for round in 0..REQUESTS {
        // A temporary state may have been disclosed, too.
        streams.note(&world.truth);
        if round % BETWEEN_CHANGES == 0 {
            world.change(&mut chance);
            streams.note(&world.truth);
        }
        if round % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 {
            streams.check(&format!("WATCHKEEPER_TEST_SEED={seed}, events before request {round}"));
            streams.note(&world.truth);
        }
        let (client, scope) = chance.one(&world.confined).clone();
        let seen = world.truth.seen(&scope);
        let asked = routes.draw(&world.truth, &mut world.names, &mut chance);
        let about = format!("WATCHKEEPER_TEST_SEED={seed}, request {round}: {asked:?}");
        let answer = asked.send(&client);
        answered += usize::from(answer.status < 300);
        assert!(answer.status < 500, "{about}: {}", answer.body);
        // Created resources are known from now on; deleted ones were disclosed to nobody.
        let before = (asked.method != "GET" && answer.status < 300)
            .then(|| std::mem::replace(&mut world.truth, Truth::read(&world.admins)));
        let after = world.truth.seen(&scope);
        check_words(&answer, &asked, &world.truth, &after.with(&seen), &about);
        check_counts(&answer, &asked, &world.truth, &after, &about);
        if let Some(before) = &before {
            before.check_untouched(&world.truth, &seen, &about);
        }
        if before.is_none() || asked.can_be_repeated() {
            doubled += usize::from(asked.with_unknown(&seen).is_some());
            check_like_unknown(&answer, &client, &asked, &seen, &about);
        }
        if before.is_some() {
            world.truth = Truth::read(&world.admins);
        }
    }
    println!(
        "{REQUESTS} requests, {answered} successes, {doubled} named something unseen, {} events",
        streams.heard
    );
    assert!(streams.heard > REQUESTS / 50, "the streams are worth reading");
    assert!(answered > REQUESTS / 10 && doubled > REQUESTS / 10, "the requests are worth asking");
}
