//! `GET /v1/services?status=&check_type=&q=&tag=` (contract 4.3.3).

use rstest::rstest;
use serde_json::{Value, json};

use crate::heartbeat::{address, ping};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, service, until_status};

/// Services of several types and states, in this order.
async fn stock(client: &Client, target: &Target) {
    let settings = json!({"interval_seconds": 3_600, "retries": 0});
    let up = json!({"name": "Shop", "check_type": "http", "target": target.url(), "settings": settings, "tags": ["env:prod"]});
    let down = json!({"name": "Größe 100%", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings, "tags": ["env:prod"]});
    let (up, down) = (create(client, &up), create(client, &down));
    create(client, &json!({"name": "Desk_1", "check_type": "manual"}));
    create(client, &json!({"name": "Later", "check_type": "http", "target": "https://SHOP.example.com/x"}));
    let paused =
        json!({"name": "Paused", "check_type": "tcp", "target": "127.0.0.1:10", "settings": settings});
    let paused = create(client, &paused);
    client.post(&format!("/v1/services/{paused}/pause"), &json!({})).expect(200);
    until_status(client, &up, "up").await;
    until_status(client, &down, "down").await;
}

fn names(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|service| service["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_list_is_narrowed_by_its_filters() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.tenant("business");
    stock(&client, &target).await;
    // Columns: query, names in their order.
    let rows: [(&str, &[&str]); 22] = [
        ("", &["Shop", "Größe 100%", "Desk_1", "Later", "Paused"]),
        ("status=up", &["Shop"]),
        ("status=down,paused", &["Größe 100%", "Paused"]),
        ("status[]=down&status[]=up", &["Shop", "Größe 100%"]),
        ("status=operational", &["Desk_1"]),
        ("status=unknown", &["Later"]),
        ("status=maintenance", &[]),
        ("status=", &["Shop", "Größe 100%", "Desk_1", "Later", "Paused"]),
        ("check_type=http", &["Shop", "Later"]),
        ("check_type=tcp,manual", &["Größe 100%", "Desk_1", "Paused"]),
        ("check_type=dns", &[]),
        ("check_type=", &["Shop", "Größe 100%", "Desk_1", "Later", "Paused"]),
        ("q=shop", &["Shop", "Later"]),
        ("q=GR%C3%96SSE", &[]),
        ("q=GR%C3%96%C3%9FE", &["Größe 100%"]),
        ("q=0%25", &["Größe 100%"]),
        ("q=%25", &["Größe 100%"]),
        ("q=_", &["Desk_1"]),
        ("q=", &["Shop", "Größe 100%", "Desk_1", "Later", "Paused"]),
        ("q=127.0.0.1&check_type=tcp&status=down", &["Größe 100%"]),
        ("tag=env:prod&q=s&status=up", &["Shop"]),
        ("tag=env:none&q=s", &[]),
    ];
    for (query, expected) in rows {
        let page = client.get(&format!("/v1/services?{query}")).expect(200).json();
        assert_eq!(names(&page), expected, "{query}");
        assert_eq!(page["meta"]["total"], expected.len(), "{query}");
    }
}

#[tokio::test]
async fn a_narrowed_list_has_pages_and_follows_changes() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.tenant("business");
    stock(&client, &target).await;
    let second = client.get("/v1/services?q=e&per_page=2&page=2").expect(200).json();
    assert_eq!((names(&second), &second["meta"]["total"]), (vec!["Later", "Paused"], &json!(4)));
    let next = client.get("/v1/services?q=e&per_page=1").expect(200).json()["links"]["next"].clone();
    assert!(next.as_str().unwrap().contains("q=e&per_page=1&page=2"), "{next}");
    let paused = client.get("/v1/services?status=paused").expect(200).data()[0]["id"].clone();
    client.post(&format!("/v1/services/{}/resume", paused.as_str().unwrap()), &json!({})).expect(200);
    let there = client.get("/v1/services?status=paused").expect(200).json();
    assert_eq!(names(&there), Vec::<&str>::new());
    let other = server.tenant("business");
    assert_eq!(other.get("/v1/services?q=e").expect(200).json()["meta"]["total"], 0);
}

/// Lists that the database could filter as well are counted in memory once a search has read all services.
#[tokio::test]
async fn a_list_in_memory_follows_changes() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.tenant("business");
    stock(&client, &target).await;
    client.get("/v1/services?q=e").expect(200);
    let totals = || {
        ["check_type=manual", "tag=env:prod", "page=2&per_page=2", "tag=other"].map(|query| {
            client.get(&format!("/v1/services?{query}")).expect(200).json()["meta"]["total"].clone()
        })
    };
    assert_eq!(totals(), [1, 2, 5, 0]);
    let another = json!({"name": "Another", "check_type": "manual", "tags": ["env:prod", "other"]});
    let another = create(&client, &another);
    assert_eq!(totals(), [2, 3, 6, 1]);
    client.patch(&format!("/v1/services/{another}"), &json!({"tags": ["other"]})).expect(200);
    assert_eq!(totals(), [2, 2, 6, 1]);
    client.delete(&format!("/v1/services/{another}")).expect(200);
    assert_eq!(totals(), [1, 2, 5, 0]);
}

/// Columns: query, parameter, error.
#[rstest]
#[case(
    "status=broken",
    "status",
    "Unknown value. Allowed: unknown, up, down, degraded, paused, maintenance, operational."
)]
#[case("status=up,broken", "status", "Unknown value.")]
#[case("check_type=ftp", "check_type", "Unknown value. Allowed: http, ")]
#[case("check_type=HTTP", "check_type", "Unknown value.")]
#[case("q[]=a", "q", "")]
fn an_unknown_filter_value_is_refused(#[case] query: &str, #[case] name: &str, #[case] told: &str) {
    let refused = Server::shared_client().get(&format!("/v1/services?{query}")).expect(422).json();
    let errors = refused["errors"].as_object().unwrap();
    let (key, texts) = errors.iter().next().unwrap();
    assert!(key.starts_with(name), "{refused}");
    assert!(texts[0].as_str().unwrap().starts_with(told), "{refused}");
}

#[test]
fn a_text_has_at_most_200_characters() {
    let client = Server::shared_client();
    client.get(&format!("/v1/services?q={}", "%C3%A4".repeat(200))).expect(200);
    let refused = client.get(&format!("/v1/services?q={}", "a".repeat(201))).expect(422).json();
    assert_eq!(refused["errors"]["q"][0], "Use at most 200 characters.");
}

/// What one request says about the status of a service is what the next list finds, also while nothing is recorded yet.
#[test]
fn a_list_is_as_current_as_a_single_service() {
    let client = Server::shared().tenant("business");
    let job =
        client.post("/v1/services", &json!({"name": "Job", "check_type": "heartbeat"})).expect(201).data();
    let (one, address) = (service(job["id"].as_str().unwrap()), address(&job));
    for round in 0..10 {
        let path = if round % 2 == 0 { format!("{address}/fail") } else { address.clone() };
        ping(&client, "POST", &path).expect(200);
        let status = client.get(&one).expect(200).data()["status"].as_str().unwrap().to_owned();
        assert_eq!(status, if round % 2 == 0 { "down" } else { "up" });
        let found = client.get(&format!("/v1/services?status={status}")).expect(200).json();
        assert_eq!(names(&found), ["Job"], "round {round}: {status}");
        let name = format!("Job {round}");
        client.patch(&one, &json!({"name": name})).expect(200);
        let found = client.get(&format!("/v1/services?q=B%20{round}")).expect(200).json();
        assert_eq!(names(&found), [name.as_str()]);
        client.patch(&one, &json!({"name": "Job"})).expect(200);
    }
}
