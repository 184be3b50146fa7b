//! Incidents that follow from status changes, written as by the engine: outages of a kind that the policy does not want, and
//! outages behind others (contract 4.9).

use serde_json::{Value, json};

use crate::support::client::{Client, exchange};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{create, eventually, service};

struct Scene {
    postgres: Postgres,
    server: Server,
    changes: std::cell::Cell<i64>,
}

impl Scene {
    /// `None` where PostgreSQL is not installed.
    fn start() -> Option<Self> {
        let postgres = Postgres::start()?;
        let url = postgres.url();
        let databases = [("WATCHKEEPER_DATABASE_URL", &*url), ("WATCHKEEPER_HISTORY_URL", &url)];
        let server = Server::with("", &databases);
        let scene = Self { postgres, server, changes: std::cell::Cell::new(0) };
        let client = scene.client();
        let policy =
            client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let rules = json!({"resolve_after_seconds": 5, "group_by": "parent"});
        client.patch(&format!("/v1/incident-policies/{policy}"), &rules).expect(200);
        Some(scene)
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    fn service(&self, name: &str, depends_on: &[&str]) -> String {
        create(&self.client(), &json!({"name": name, "check_type": "manual", "depends_on": depends_on}))
    }

    /// Records changes of services in one commit: up, degraded, down, Flapping, Settled.
    fn record(&self, changes: &[(&str, char)]) {
        let row = |(id, word): &(&str, char)| {
            let (to, cause) = match word {
                'u' => (1, 0),
                'g' => (2, 0),
                'd' => (3, 0),
                'F' => (3, 8),
                _ => (3, 9),
            };
            let number = self.changes.replace(self.changes.get() + 1);
            let at = format!("(extract(epoch FROM now()) * 1000)::bigint + {number}");
            format!("((SELECT id FROM service WHERE public_id = '{id}'), {at}, 1, {to}, {cause})")
        };
        let rows: Vec<String> = changes.iter().map(row).collect();
        let text = "INSERT INTO status_change (service_id, at, from_status, to_status, cause) VALUES ";
        self.postgres.ask(&format!("{text}{}", rows.join(", ")));
    }

    fn incidents_of(&self, id: &str) -> Vec<Value> {
        let found = self.client().get(&format!("{}/incidents", service(id))).expect(200).data();
        found.as_array().unwrap().clone()
    }

    async fn until(&self, id: &str, status: &str) -> Value {
        let is = |incident: &Value| incident["status"] == status;
        eventually(&format!("{status}: {:?}", self.incidents_of(id)), || {
            self.incidents_of(id).into_iter().find(is)
        })
        .await
    }
}

/// The first policy opens no incident for degraded. A service that was down and is degraded has not recovered;
/// one that was back and is degraded since has, so that its incident ends.
#[tokio::test]
async fn unwanted_outage_kinds_do_not_delay_the_end() {
    let Some(scene) = Scene::start() else { return };
    let [better, back] = ["better", "back"].map(|name| scene.service(name, &[]));
    scene.record(&[(&better, 'd'), (&back, 'd')]);
    for id in [&better, &back] {
        scene.until(id, "investigating").await;
    }
    scene.record(&[(&better, 'g'), (&back, 'u')]);
    scene.until(&back, "monitoring").await;
    scene.record(&[(&back, 'g')]);
    let over = scene.until(&back, "resolved").await;
    assert_eq!(over["resolved_at"], over["service_impact"]["recovered_at"]);
    let open = scene.until(&better, "investigating").await;
    assert_eq!(open["service_impact"]["is_recovered"], false, "better is not up");
    scene.record(&[(&better, 'u'), (&back, 'd')]);
    scene.until(&better, "resolved").await;
    scene.until(&back, "investigating").await;
    assert_eq!(scene.incidents_of(&back).len(), 2, "the next edge makes a new one");
}

/// A gateway that is unstable, or behind something that is down, hides what fails behind it.
#[tokio::test]
async fn dependents_of_unstable_or_unreachable_services_have_no_incident() {
    let Some(scene) = Scene::start() else { return };
    let unstable = scene.service("unstable", &[]);
    let behind = scene.service("behind", &[&unstable]);
    let top = scene.service("top", &[]);
    let middle = scene.service("middle", &[&top]);
    let bottom = scene.service("bottom", &[&middle]);
    let last = scene.service("last", &[&bottom]);
    scene.record(&[(&last, 'd'), (&bottom, 'd'), (&middle, 'g'), (&top, 'd')]);
    scene.record(&[(&unstable, 'd'), (&unstable, 'F'), (&behind, 'd')]);
    for (child, parent) in [(&behind, "unstable"), (&middle, "top"), (&bottom, "middle"), (&last, "bottom")] {
        let because_of = eventually(&format!("behind {parent}"), || {
            let seen = scene.client().get(&service(child)).expect(200).data()["unreachable"].clone();
            (!seen.is_null()).then(|| seen["because_of"].clone())
        })
        .await;
        assert_eq!(because_of[0]["name"], parent);
    }
    let all = scene.client().get("/v1/incidents").expect(200).data();
    let mut titles: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["top is down", "unstable is unstable"]);
}

/// Generated texts name only services that the page shows, by the names shown there; members see the whole title.
#[tokio::test]
async fn a_public_title_names_only_services_shown_on_the_page() {
    let Some(scene) = Scene::start() else { return };
    let client = scene.client();
    let policy = client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let rules = json!({"publish": true, "group_by": "tags"});
    client.patch(&format!("/v1/incident-policies/{policy}"), &rules).expect(200);
    let tagged =
        |name: &str| create(&client, &json!({"name": name, "check_type": "manual", "tags": ["one"]}));
    let [hidden, shop, plain] = ["a-db-7", "b-shop-3", "Plain"].map(tagged);
    let alone = scene.service("Alone", &[]);
    let page = |slug: &str| {
        let body = json!({"name": "Lines", "slug": slug, "show_unlinked_services": false});
        let made = client.post("/v1/statuspages", &body).expect(201).data();
        format!("/v1/statuspages/{}", made["id"].as_str().unwrap())
    };
    let (renamed, own, chosen) = (page("renamed"), page("own"), page("chosen"));
    let add = |page: &str, name: &str, id: &str| {
        let component = json!({"name": name, "service_id": id});
        client.post(&format!("{page}/components"), &component).expect(201);
    };
    add(&renamed, "Shop", &shop);
    add(&own, "Alone", &alone);
    scene.record(&[(&hidden, 'd'), (&shop, 'd'), (&plain, 'd'), (&alone, 'd')]);
    let whole = scene.until(&hidden, "investigating").await;
    assert_eq!(whole["title"], "a-db-7 and 2 other services are down");
    scene.until(&alone, "investigating").await;
    let id = chosen.rsplit('/').next().unwrap();
    let chosen_pages = json!({"statuspage_ids": [id]});
    let path = format!("/v1/incidents/{}", whole["id"].as_str().unwrap());
    let shown = |slug: &str| {
        let head = format!("GET / HTTP/1.1\r\nHost: {slug}.localhost\r\nConnection: close\r\n\r\n");
        exchange(client.address, head.as_bytes()).expect(200).body
    };
    let html = shown("renamed");
    assert!(html.contains("Shop is down"), "{html}");
    assert!(shown("own").contains("Alone is down"));
    client.patch(&path, &chosen_pages).expect(200);
    let nowhere = shown("chosen");
    assert!(nowhere.contains("Some systems are affected"), "{nowhere}");
    for html in [html, nowhere] {
        for name in ["a-db-7", "b-shop-3", "Plain", "2 other"] {
            assert!(!html.contains(name), "{name}: {html}");
        }
    }
    client.patch(&path, &json!({"title": "What a person writes"})).expect(200);
    assert!(shown("chosen").contains("What a person writes"));
}
