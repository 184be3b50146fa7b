//! What incidents make of status changes, written as the engine would: trouble behind other trouble (contract 4.9).

use serde_json::json;

use crate::support::client::Client;
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
}

/// A gateway that is unstable, or behind something that is down, hides what fails behind it.
#[tokio::test]
async fn what_fails_behind_something_unstable_or_unreachable_has_no_incident() {
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
