//! Concurrent writes on PostgreSQL (contract 3.3, 5.1): they wait for each other, and none fails because of another.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;

const ROUNDS: usize = 8;

fn made(client: &Client, path: &str, body: &Value) -> String {
    client.post(path, body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

/// Incidents and maintenances link the services and pages that others change, tag and synchronise.
#[test]
fn concurrent_writes_do_not_fail() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    let client = server.client();
    let manual = json!({"name": "Shop", "check_type": "manual", "tags": ["env:prod"]});
    let services = [made(&client, "/v1/services", &manual), made(&client, "/v1/services", &manual)];
    let page = made(&client, "/v1/statuspages", &json!({"name": "Status"}));
    let tag = client.get("/v1/tags").expect(200).data()[0]["id"].clone();
    let components = format!("/v1/statuspages/{page}/components");
    client.post(&components, &json!({"name": "All", "is_group": true, "sync_tag_id": tag})).expect(201);
    let both = json!({"title": "t", "message": "m", "service_ids": services, "statuspage_ids": [page]});
    let mut begun = both.clone();
    begun["scheduled_start"] = "2026-01-01".into();
    let write = |turn: usize, round: usize| match turn {
        0 => client.post("/v1/incidents", &both).status,
        1 => client.post("/v1/maintenances", &begun).status,
        2 => client.post("/v1/services", &manual).status,
        3 => client.post(&components, &json!({"name": "x", "service_id": services[0]})).status,
        _ => {
            let tags = if round.is_multiple_of(2) { json!([]) } else { json!(["env:prod"]) };
            let path = format!("/v1/services/{}", services[round % 2]);
            client.patch(&path, &json!({"name": format!("Shop {round}"), "tags": tags})).status
        }
    };
    std::thread::scope(|scope| {
        for turn in 0..10 {
            let write = &write;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let status = write(turn % 5, round);
                    assert!([200, 201].contains(&status), "{turn} {round}: {status}");
                }
            });
        }
    });
    assert!(!server.log().contains("deadlock"), "{}", server.log());
}
