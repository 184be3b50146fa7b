//! `/v1/services/{id}/checks` (contract 4.8) and what leads to it: a service that is really watched.
//!
//! Targets are real; every time, code and status comes from a check that was made.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{
    create, create_unconfigured, create_watched, ms_of_day, service, until_checks, until_status,
};

/// Contract 4.8: the keys of an entry, in this order.
const KEYS: &str = "checked_at probe status response_time_ms status_code error_message timings scheduled_at attempt \
    error_code";

/// Contract 4.3.2, 4.8: checks start at once; an entry carries what was measured.
#[tokio::test]
async fn a_configured_service_is_checked_with_real_timings() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    let seen = until_status(&client, &id, "up").await;
    assert_eq!(seen["effective_status"], "up");
    let check = until_checks(&client, &id, 1).await.remove(0);
    let keys: Vec<&String> = check.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    for (key, value) in [
        ("probe", json!("local")),
        ("status", json!("up")),
        ("status_code", json!(200)),
        ("error_message", Value::Null),
        ("error_code", Value::Null),
        ("attempt", json!(1)),
    ] {
        assert_eq!(check[key], value, "{key}");
    }
    assert!(check["response_time_ms"].as_u64().unwrap() >= 1);
    let timings = check["timings"].as_object().unwrap();
    assert_eq!(timings.keys().collect::<Vec<_>>(), ["dns", "connect", "tls", "ttfb", "transfer", "total"]);
    for phase in ["connect", "ttfb", "total"] {
        assert!(timings[phase].as_f64().unwrap() > 0.0, "{phase}: {check}");
    }
    assert!(timings["tls"].is_null());
    assert!(target.requests()[0].starts_with("GET / HTTP/1.1\r\n"));
}

/// Contract 4.3.4, 4.3.7, 4.8: down after all attempts, and up again.
#[tokio::test]
async fn a_stopped_target_is_down_after_its_retries_and_up_again_later() {
    let (server, mut target) = (Server::shared(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1, "retries": 2}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    let path = format!("{}/checks?status=down&per_page=1", service(&id));
    let check = crate::support::eventually("the refusal is stored", || {
        client.get(&path).expect(200).data().get(0).cloned()
    })
    .await;
    assert_eq!((&check["error_code"], &check["attempt"]), (&json!("connect_refused"), &json!(3)));
    assert_eq!((&check["status_code"], &check["response_time_ms"]), (&Value::Null, &Value::Null));
    assert!(check["error_message"].as_str().is_some_and(|text| (1..=500).contains(&text.len())));
    target.start_again();
    until_status(&client, &id, "up").await;
}

/// Contract 4.2.4: a condition that matches decides the status.
#[tokio::test]
async fn a_condition_that_matches_makes_the_service_degraded() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.client();
    let condition = json!({"field": "status_code", "operator": "eq", "value": 200, "status": "degraded"});
    let settings = json!({"interval_seconds": 3600, "retries": 0, "config": {"conditions": [condition]}});
    let id = create_watched(&client, &target.url(), &settings);
    until_status(&client, &id, "degraded").await;
    let check = until_checks(&client, &id, 1).await.remove(0);
    assert_eq!((&check["status"], &check["error_code"]), (&json!("degraded"), &json!("condition_failed")));
}

/// Contract 4.8: walking by `links.next` gives every check once, newest first.
#[tokio::test]
async fn paging_by_cursor_repeats_and_skips_nothing() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1}));
    until_checks(&client, &id, 5).await;
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    // Checks under way at the pause are discarded; finished ones are stored soon.
    let all = settled(&client, &id).await;
    let base = server.base();
    let mut path = format!("{}/checks?per_page=2&status=up,down", service(&id));
    let mut walked = Vec::new();
    loop {
        let page = client.get(&path).expect(200).json();
        let rows = page["data"].as_array().unwrap();
        assert!((1..=2).contains(&rows.len()), "{page}");
        walked.extend(rows.clone());
        assert_eq!(page["meta"]["per_page"], 2);
        let Some(cursor) = page["meta"]["next_cursor"].as_str() else {
            assert_eq!(page["links"], json!({"first": null, "last": null, "prev": null, "next": null}));
            break;
        };
        let next = page["links"]["next"].as_str().unwrap();
        let checks = format!("{base}/v1/services/{id}/checks");
        assert_eq!(next, format!("{checks}?per_page=2&status=up%2Cdown&cursor={cursor}"));
        path = next.strip_prefix(&base).unwrap().to_owned();
    }
    assert_eq!(walked, all);
    let times: Vec<&str> = all.iter().map(|check| check["checked_at"].as_str().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] > pair[1]), "{times:?}");
}

/// All checks of a paused service, once two reads agree.
async fn settled(client: &Client, id: &str) -> Vec<Value> {
    let path = format!("{}/checks?per_page=100", service(id));
    let mut before = Value::Null;
    crate::support::eventually("no further check is stored", || {
        let now = client.get(&path).expect(200).data();
        let agrees = now == before;
        before = now;
        agrees.then(|| before.as_array().unwrap().clone())
    })
    .await
}

/// Contract 4.8: filters narrow; empty ones are ignored; the end of a period is exclusive.
#[tokio::test]
async fn filters_narrow_the_history() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    let check = until_checks(&client, &id, 1).await.remove(0);
    let at = check["checked_at"].as_str().unwrap();
    for (query, rows) in [
        (format!("from={at}"), 1),
        (format!("to={at}"), 0),
        (format!("from={}", at.replace('Z', "+00:00")), 1),
        ("from=2200-01-01".to_owned(), 0),
        ("from=1970-01-01".to_owned(), 1),
        ("probe=local".to_owned(), 1),
        ("probe=mars,local".to_owned(), 1),
        ("probe=mars".to_owned(), 0),
        ("probe[]=mars&probe[]=local".to_owned(), 1),
        ("probe=local&probe=mars".to_owned(), 0),
        ("status=up".to_owned(), 1),
        ("status=down,degraded".to_owned(), 0),
        ("probe=&status=&from=&to=&cursor=".to_owned(), 1),
        ("probe=,&status[]=".to_owned(), 1),
    ] {
        let found = client.get(&format!("{}/checks?{query}", service(&id))).expect(200).data();
        assert_eq!(found.as_array().unwrap().len(), rows, "{query}");
    }
}

/// Contract 4.8, the column `error`.
#[rstest]
#[case("status=up,paused", "status.1", "Unknown value. Allowed: up, down, degraded.")]
#[case("probe=local,a%20b", "probe.1", "This is not a valid ID.")]
#[case("from=yesterday", "from", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
#[case("to=2201-01-01", "to", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
#[case("from=2026-11-20&to=2026-11-20", "to", "This time must be later than from.")]
#[case("from[]=2026-11-20", "from", "Send a single value.")]
#[case("cursor=MjAyNi4uLg", "cursor", "This cursor is not valid.")]
fn a_wrong_filter_is_refused(#[case] query: &str, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.get(&format!("{}/checks?{query}", service(&id)));
    assert_eq!(answer.errors(), [(key.to_owned(), text.to_owned())]);
}

/// Contract 4.8: a cursor is authenticated and bound to its service.
#[tokio::test]
async fn an_altered_or_foreign_cursor_is_refused() {
    let (server, target) = (Server::shared(), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1}));
    until_checks(&client, &id, 2).await;
    let page = client.get(&format!("{}/checks?per_page=1", service(&id))).expect(200).json();
    let cursor = page["meta"]["next_cursor"].as_str().unwrap();
    client.get(&format!("{}/checks?cursor={cursor}", service(&id))).expect(200);
    let other = create_unconfigured(&client);
    let flipped = if cursor.starts_with('A') { "B" } else { "A" };
    for (id, cursor) in [
        (&id, format!("{flipped}{}", &cursor[1..])),
        (&id, cursor[..cursor.len() - 1].to_owned()),
        (&id, format!("{cursor}A")),
        (&id, "A".repeat(257)),
        (&other, cursor.to_owned()),
    ] {
        let answer = client.get(&format!("{}/checks?cursor={cursor}", service(id)));
        assert_eq!(answer.errors(), [("cursor".to_owned(), "This cursor is not valid.".to_owned())]);
    }
}

/// Contract 4.8: manual services have no history; a page size is clamped.
#[test]
fn a_service_without_checks_has_an_empty_history() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    for (query, per_page) in [("", 50), ("?per_page=0", 1), ("?per_page=1000", 100), ("?per_page=x", 50)] {
        let page = client.get(&format!("{}/checks{query}", service(&id))).expect(200).json();
        let links = json!({"first": null, "last": null, "prev": null, "next": null});
        let expected =
            json!({"data": [], "links": links, "meta": {"per_page": per_page, "next_cursor": null}});
        assert_eq!(page, expected, "{query}");
    }
}

/// Nothing acknowledged is lost by a kill; status and schedule stay.
#[tokio::test]
async fn a_killed_server_keeps_checks_status_and_schedule() {
    let target = Target::start();
    let mut server = Server::start();
    let id = create_watched(&server.client(), &target.url(), &json!({"interval_seconds": 2}));
    let before = until_checks(&server.client(), &id, 3).await;
    until_status(&server.client(), &id, "up").await;
    server.kill_and_restart();
    let client = server.client();
    let status = client.get(&service(&id)).expect(200).data()["status"].clone();
    assert_eq!(status, "up", "the status is kept");
    let after = until_checks(&client, &id, before.len() + 2).await;
    for check in &before {
        assert_eq!(after.iter().filter(|kept| *kept == check).count(), 1, "{check}");
    }
    let phase = |check: &Value| ms_of_day(&check["scheduled_at"]).rem_euclid(2_000);
    let regular = phase(&before[0]);
    assert_eq!([phase(&after[0]), phase(&after[1])], [regular, regular], "the phase is kept");
}
