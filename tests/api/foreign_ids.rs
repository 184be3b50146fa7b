//! Two organisations, and random requests of one with everything that belongs to the other (contract 1.5, specification 1).
//!
//! A foreign id, tag, filter or cursor answers byte for byte like one that nobody has, no answer holds a foreign name
//! or id, and nothing of the other organisation changes. Each run draws its requests from a seed, which a failure
//! prints; `WATCHKEEPER_TEST_SEED` repeats one.

use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::{Answer, Client};
use crate::support::server::Server;

/// Requests of one run, each sent twice.
const REQUESTS: usize = 1_000;
/// Stands in every name of the other organisation, and nowhere else.
const MARK: &str = "quokka";

/// Random numbers from a seed (xorshift).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

pub(crate) fn seed() -> u64 {
    let drawn = || (u64::from(std::process::id()) << 32) | u64::from(rand_word());
    std::env::var("WATCHKEEPER_TEST_SEED").map_or_else(|_| drawn(), |text| text.parse().unwrap()).max(1)
}

/// A word that differs from run to run.
fn rand_word() -> u32 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let hash = std::collections::hash_map::RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap()
}

/// The ids of one of each resource of an organisation.
#[derive(Clone)]
struct Belongings {
    service: String,
    heartbeat: String,
    tag: String,
    incident: String,
    maintenance: String,
    series: String,
    page: String,
    group: String,
    component: String,
    domain: String,
    /// Label of the tag, slug of the page.
    label: String,
    slug: String,
}

fn made(client: &Client, path: &str, body: &Value) -> Value {
    client.post(path, body).expect(201).data()
}

fn id(of: &Value) -> String {
    of["id"].as_str().unwrap().to_owned()
}

impl Belongings {
    fn make(client: &Client, word: &str) -> Self {
        let named = |more: Value| {
            let mut body = json!({"name": format!("{word} name")});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        // The target does not respond, and the compared rows must not change by themselves.
        let policy = id(&client.get("/v1/incident-policies").expect(200).data()[0]);
        let quiet = json!({"down_severity": null, "unstable_severity": null});
        client.patch(&format!("/v1/incident-policies/{policy}"), &quiet).expect(200);
        let config = json!({"headers": {"X-Key": word}});
        let settings = json!({"interval_seconds": 3600, "config": config});
        let label = format!("{word}:tag");
        let service = named(
            json!({"check_type": "http", "target": "http://127.0.0.1:9/", "tags": [label], "settings": settings}),
        );
        let service = id(&made(client, "/v1/services", &service));
        let heartbeat = id(&made(client, "/v1/services", &named(json!({"check_type": "heartbeat"}))));
        let tag = id(&client.get(&format!("/v1/tags?label={label}")).expect(200).data()[0]);
        let page = made(client, "/v1/statuspages", &named(json!({})));
        let (slug, page) = (page["slug"].as_str().unwrap().to_owned(), id(&page));
        let links = json!({"service_ids": [service], "statuspage_ids": [page]});
        let titled = |more: Value| {
            let mut body = json!({"title": format!("{word} title"), "message": format!("{word} message")});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body.as_object_mut().unwrap().extend(links.as_object().unwrap().clone());
            body
        };
        let incident = id(&made(client, "/v1/incidents", &titled(json!({"is_published": true}))));
        let window = titled(json!({"scheduled_start": "2196-01-01"}));
        let maintenance = id(&made(client, "/v1/maintenances", &window));
        let again = json!({
            "scheduled_start": "2196-01-01", "scheduled_end": "2196-01-02",
            "recurrence": {"rrule": "FREQ=YEARLY", "time_zone": "UTC"},
        });
        let series = made(client, "/v1/maintenances", &titled(again));
        let series = series["recurrence"]["series_id"].as_str().unwrap().to_owned();
        let components = format!("/v1/statuspages/{page}/components");
        let group = id(&made(client, &components, &named(json!({"is_group": true, "sync_tag_id": tag}))));
        let component = id(&made(client, &components, &named(json!({"service_id": service}))));
        let domain = json!({"hostname": format!("{word}.example.org")});
        let domain = id(&made(client, &format!("/v1/statuspages/{page}/custom-domains"), &domain));
        Self {
            service,
            heartbeat,
            tag,
            incident,
            maintenance,
            series,
            page,
            group,
            component,
            domain,
            label,
            slug,
        }
    }

    /// Ids of no resource.
    fn of_nobody() -> Self {
        let id = || UNKNOWN_ID.to_owned();
        Self {
            service: id(),
            heartbeat: id(),
            tag: id(),
            incident: id(),
            maintenance: id(),
            series: id(),
            page: id(),
            group: id(),
            component: id(),
            domain: id(),
            label: "nobody:has".into(),
            slug: "nobody-has-this".into(),
        }
    }

    /// Everything of the organisation, as its owner sees it.
    fn shown(&self, client: &Client) -> Vec<Value> {
        let paths = ["services", "tags", "incidents", "maintenances", "maintenance-series", "statuspages"];
        let lists = paths.map(|name| format!("/v1/{name}"));
        let page = format!("/v1/statuspages/{}", self.page);
        let inside = ["", "/components", "/custom-domains"].map(|rest| format!("{page}{rest}"));
        let single =
            [format!("/v1/incidents/{}", self.incident), format!("/v1/maintenances/{}", self.maintenance)];
        let all = lists.iter().chain(&inside).chain(&single);
        all.map(|path| unmeasured(client.get(path).expect(200).json()["data"].clone())).collect()
    }

    /// Each id with what it is called in a path.
    fn by_name(&self, chance: &mut Chance) -> [(&'static str, String); 4] {
        let service = if chance.below(2) == 0 { &self.service } else { &self.heartbeat };
        [
            ("service", service.clone()),
            ("tag", self.tag.clone()),
            ("component", if chance.below(2) == 0 { self.component.clone() } else { self.group.clone() }),
            ("domain", self.domain.clone()),
        ]
    }
}

/// Without what the engine changes by itself.
fn unmeasured(mut shown: Value) -> Value {
    match &mut shown {
        Value::Array(rows) => rows.iter_mut().for_each(|row| *row = unmeasured(row.take())),
        Value::Object(members) => {
            for name in [
                "status",
                "effective_status",
                "last_check_at",
                "uptime_30d",
                "avg_response_ms",
                "last_error_code",
            ] {
                members.remove(name);
            }
            members.values_mut().for_each(|value| *value = unmeasured(value.take()));
        }
        _ => {}
    }
    shown
}

/// A request with blanks: `{service}`, `{page}`, … are filled with the ids of one owner.
#[derive(Debug)]
struct Blank {
    method: &'static str,
    target: String,
    body: String,
    key: Option<u64>,
}

const VERBS: [(&str, &[&str]); 5] = [
    ("GET", &["", "/metrics", "/response-times", "/uptime?days=3", "/checks", "/incidents", "/maintenances"]),
    ("POST", &["/pause", "/resume", "/check-now", "/status-override", "/heartbeat/rotate", "/simulate"]),
    ("PATCH", &[""]),
    ("PUT", &[""]),
    ("DELETE", &["", "/status-override", "?delete_orphaned_incidents=1&delete_orphaned_maintenances=1"]),
];

const BODIES: [&str; 12] = [
    "{}",
    r#"{"name": "x"}"#,
    r#"{"title": "x", "message": "x", "service_ids": ["{service}"]}"#,
    r#"{"title": "x", "message": "x", "scheduled_start": "2196-01-01", "statuspage_ids": ["{page}"]}"#,
    r#"{"title": "x", "message": "x", "scheduled_start": "2196-01-01", "service_ids": ["{service}", "{own}"]}"#,
    r#"{"name": "x", "service_id": "{service}"}"#,
    r#"{"name": "x", "parent_id": "{group}"}"#,
    r#"{"name": "x", "is_group": true, "sync_tag_id": "{tag}"}"#,
    r#"{"name": "x", "check_type": "manual", "tags": ["{tag}"]}"#,
    r#"{"status": "resolved", "message": "x", "reason": "x"}"#,
    r#"{"scheduled_end": null, "status": "down", "reason": "x"}"#,
    r#"{"key": "x", "value": "y", "hostname": "Not a host"}"#,
];

/// A method, and what may follow a path with it.
type Verb = (&'static str, &'static [&'static str]);

/// The path of something that an organisation has, with blanks.
const PLACES: [(&str, &[Verb]); 7] = [
    ("/v1/services/{service}", &VERBS),
    ("/v1/tags/{tag}", &[("GET", &[""]), ("PATCH", &[""]), ("DELETE", &[""])]),
    (
        "/v1/incidents/{incident}",
        &[("GET", &[""]), ("PATCH", &[""]), ("DELETE", &[""]), ("POST", &["/updates", "/resolve"])],
    ),
    (
        "/v1/maintenances/{maintenance}",
        &[
            ("GET", &[""]),
            ("PUT", &[""]),
            ("DELETE", &[""]),
            ("POST", &["/start", "/complete", "/cancel", "/extend"]),
        ],
    ),
    ("/v1/maintenance-series/{series}", &[("GET", &[""]), ("PATCH", &[""]), ("DELETE", &[""])]),
    (
        "/v1/statuspages/{page}",
        &[
            (
                "GET",
                &[
                    "",
                    "/components",
                    "/custom-domains",
                    "/components/{component}",
                    "/custom-domains/{domain}",
                ],
            ),
            (
                "POST",
                &[
                    "/publish",
                    "/unpublish",
                    "/components",
                    "/custom-domains",
                    "/custom-domains/{domain}/verify",
                ],
            ),
            ("PATCH", &["", "/components/{component}"]),
            ("DELETE", &["", "/components/{component}", "/custom-domains/{domain}", "/assets/logo"]),
        ],
    ),
    // One's own page, with what hangs on another.
    (
        "/v1/statuspages/{own_page}",
        &[
            ("GET", &["/components/{component}", "/custom-domains/{domain}"]),
            ("POST", &["/components", "/custom-domains/{domain}/verify"]),
            ("PATCH", &["/components/{component}"]),
            ("DELETE", &["/components/{component}", "/custom-domains/{domain}"]),
        ],
    ),
];

const LISTS: [&str; 12] = [
    "/v1/services?tag={label}",
    "/v1/tags?label={label}",
    "/v1/statuspages?slug={slug}",
    "/v1/incidents?service_ids={service}",
    "/v1/incidents?service_ids[]={service}&service_ids[]={own}",
    "/v1/maintenances?service_ids={service},{heartbeat}",
    "/v1/services/{own}/incidents?service_ids={service}",
    "/v1/services/{own}/maintenances?service_ids={service}",
    "/v1/services/{own}/checks?cursor={cursor}",
    "/v1/services?per_page=100",
    "/v1/incidents?per_page=100&is_published=1",
    "/v1/me",
];

fn draw(chance: &mut Chance) -> Blank {
    let body = (*chance.one(&BODIES)).to_owned();
    let key = (chance.below(4) == 0).then(|| u64::try_from(chance.below(usize::MAX)).unwrap());
    match chance.below(8) {
        0 => {
            Blank { method: "GET", target: (*chance.one(&LISTS)).to_owned(), body: String::new(), key: None }
        }
        1 => {
            let path = *chance.one(&["/v1/incidents", "/v1/maintenances", "/v1/services"]);
            Blank { method: "POST", target: path.to_owned(), body, key }
        }
        _ => {
            let &(path, verbs) = chance.one(&PLACES);
            let &(method, rests) = chance.one(verbs);
            let target = format!("{path}{}", chance.one(rests));
            let body = if matches!(method, "GET" | "DELETE") { String::new() } else { body };
            Blank { method, target, body, key: key.filter(|_| method == "POST") }
        }
    }
}

impl Blank {
    fn send(&self, client: &Client, own: &Belongings, somebody: &Somebody<'_>) -> Answer {
        let fill = |text: &str| {
            let mut text = text.to_owned();
            for (name, value) in &somebody.ids {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            let Belongings { incident, maintenance, series, page, group, heartbeat, label, slug, .. } =
                somebody.has;
            for (name, value) in [
                ("incident", incident),
                ("maintenance", maintenance),
                ("series", series),
                ("page", page),
                ("group", group),
                ("heartbeat", heartbeat),
                ("label", label),
                ("slug", slug),
                ("cursor", somebody.cursor),
                ("own_page", &own.page),
                ("own", &own.service),
            ] {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            text
        };
        let mut lines = vec!["Content-Type: application/json".to_owned()];
        lines.extend(self.key.map(|key| format!("Idempotency-Key: {}-{key}", somebody.label())));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        client.send(self.method, &fill(&self.target), &lines, fill(&self.body).as_bytes())
    }
}

/// Owner of the ids that fill the blanks.
struct Somebody<'a> {
    has: &'a Belongings,
    ids: [(&'static str, String); 4],
    cursor: &'a String,
}

impl Somebody<'_> {
    fn label(&self) -> &'static str {
        if self.has.page == UNKNOWN_ID { "nobody" } else { "somebody" }
    }

    /// The answer with everything that names this owner, or what the request has just made, replaced.
    fn without_names(&self, answer: &Answer) -> (u16, String) {
        let (status, mut body) = answer.without_request_id();
        let Belongings {
            service,
            heartbeat,
            tag,
            incident,
            maintenance,
            series,
            page,
            group,
            component,
            domain,
            label,
            slug,
        } = self.has;
        let label_in_links = label.replace(':', "%3A");
        for name in [
            service,
            heartbeat,
            tag,
            incident,
            maintenance,
            series,
            page,
            group,
            component,
            domain,
            label,
            &label_in_links,
            slug,
            self.cursor,
        ] {
            body = body.replace(name.as_str(), "ID");
        }
        (status, body)
    }
}

/// Refusals are compared byte for byte, what is read without what is measured. What a request has made differs in its id,
/// its times and its place.
fn comparable(method: &str, (status, body): (u16, String)) -> (u16, String) {
    if status >= 300 {
        return (status, body);
    }
    let mut body: Value = serde_json::from_str(&body).unwrap();
    if method == "GET" {
        return (status, unmeasured(body).to_string());
    }
    forget_own(&mut body);
    (status, body.to_string())
}

fn forget_own(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_own = |name: &str| {
                name == "id" || name.ends_with("_at") || matches!(name, "display_order" | "slug" | "url")
            };
            members.retain(|name, _| !is_own(name));
            members.values_mut().for_each(forget_own);
        }
        Value::Array(rows) => rows.iter_mut().for_each(forget_own),
        _ => {}
    }
}

#[test]
fn foreign_ids_answer_like_unknown_ids() {
    let seed = seed();
    println!("WATCHKEEPER_TEST_SEED={seed}");
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let own = Belongings::make(&mine, "wombat");
    let foreign = Belongings::make(&theirs, &format!("{MARK}{}", seed % 10_000));
    let nobody = Belongings::of_nobody();
    let before = foreign.shown(&theirs);
    let mut chance = Chance(seed);
    for round in 0..REQUESTS {
        let blank = draw(&mut chance);
        let cursors = ["bm90IGEgY3Vyc29y".to_owned(), "MjAyNi4uLg".to_owned()];
        let somebody = Somebody { has: &foreign, ids: foreign.by_name(&mut chance), cursor: &cursors[0] };
        let unknown = Somebody { has: &nobody, ids: nobody.by_name(&mut chance), cursor: &cursors[1] };
        let about = format!("WATCHKEEPER_TEST_SEED={seed}, request {round}: {blank:?}");
        let (told, expected) = (blank.send(&mine, &own, &somebody), blank.send(&mine, &own, &unknown));
        let (told, expected) = (somebody.without_names(&told), unknown.without_names(&expected));
        // The response may repeat the request, but nothing else of the other organisation.
        assert!(!told.1.contains(MARK), "{about}: {}", told.1);
        assert_eq!(comparable(blank.method, told), comparable(blank.method, expected), "{about}");
    }
    assert_eq!(
        foreign.shown(&theirs),
        before,
        "WATCHKEEPER_TEST_SEED={seed}: something of the other organisation changed"
    );
}
