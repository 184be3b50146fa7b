//! Tests the gate against contract 1.1, 1.8, 1.9 and 1.12, with a list of callers and a few routes, without a database.

mod world;

use std::sync::atomic::Ordering;
use std::time::Duration;

use rstest::rstest;

use super::*;
use crate::clock::DAY_MS;
use crate::http::gate::tests::world::{Directory, World, header, world};

const ID: &str = "rNSJxMbDTX2uHc08AiCqo";
const UNAUTHORISED: &str = "Send a valid API token as a Bearer token.";
const NOT_FOUND: &str = "The requested resource does not exist.";
const NO_PLAN: &str = "The plan of this organisation does not include API access.";

/// Contract 1.8, steps 2 to 9: the request of each row would also fail at a later step.
#[rstest]
#[case("GET", "/v1/services/{id}", "", 401, UNAUTHORISED)]
#[case("GET", "/v1/services/{id}", "unknown", 401, UNAUTHORISED)]
#[case("GET", "/v1/services/{id}", "foreign", 401, UNAUTHORISED)]
#[case("GET", "/v1/services/{id}", "expired", 401, UNAUTHORISED)]
#[case("GET", "/v1/nothing", "", 401, UNAUTHORISED)]
#[case("TRACE", "/v1", "", 401, UNAUTHORISED)]
#[case("GET", "/nothing", "", 404, NOT_FOUND)]
#[case("GET", "/", "full", 404, NOT_FOUND)]
#[case("GET", "/v1/nothing", "free plan", 403, NO_PLAN)]
#[case("POST", "/v1/me", "free plan", 403, NO_PLAN)]
#[case("GET", "/v1/services/{id}", "free plan", 403, NO_PLAN)]
#[case("GET", "/v1", "none", 404, NOT_FOUND)]
#[case("GET", "/v1/services/{id}//", "none", 404, NOT_FOUND)]
#[case(
    "POST",
    "/v1/services/{id}",
    "none",
    405,
    "This method is not allowed here. Allowed: GET, HEAD, PUT, PATCH, DELETE."
)]
#[case("TRACE", "/v1/services", "none", 405, "This method is not allowed here. Allowed: POST.")]
#[case("GET", "/v1/services/short", "none", 403, "This token is missing the permission 'services.view'.")]
#[case(
    "GET",
    "/v1/services/{id}/incidents",
    "no incidents",
    403,
    "This token is missing the permission 'incidents.view'."
)]
#[case(
    "GET",
    "/v1/services/{id}/incidents",
    "none",
    403,
    "This token is missing the permission 'services.view'."
)]
#[case(
    "DELETE",
    "/v1/services/short?delete_orphaned_incidents=true",
    "no incidents",
    403,
    "This token is missing the permission 'incidents.delete'."
)]
#[case(
    "DELETE",
    "/v1/services/short?delete_orphaned_incidents=1",
    "no incidents",
    403,
    "This token is missing the permission 'incidents.delete'."
)]
#[case("DELETE", "/v1/services/short?delete_orphaned_incidents=0", "no incidents", 404, NOT_FOUND)]
#[case("DELETE", "/v1/services/short?delete_orphaned_incidents=", "no incidents", 404, NOT_FOUND)]
#[case("GET", "/v1/services/short", "full", 404, NOT_FOUND)]
#[case("POST", "/v1/services", "full", 400, "The request body is not valid JSON.")]
#[case("GET", "/v1/broken", "full", 500, "Internal server error.")]
#[case("POST", "/v1/broken", "full", 500, "Internal server error.")]
#[tokio::test]
async fn the_first_failed_check_decides_the_response(
    #[case] method: &str,
    #[case] uri: &str,
    #[case] token: &str,
    #[case] status: u16,
    #[case] message: &str,
) {
    let world = world(120);
    let (response, body) = world.ask(method, &uri.replace("{id}", ID), token).await;
    assert_eq!((response.status().as_u16(), body["message"].as_str()), (status, Some(message)));
    assert_eq!(body["request_id"].as_str(), header(&response, "x-request-id"));
    assert_eq!(header(&response, "www-authenticate").is_some(), status == 401);
    assert_eq!(header(&response, "allow").is_some(), status == 405);
}

#[rstest]
#[case("GET", "/v1/services/{id}", "full", r#"{"data":{"id":"{id}","path":"/v1/services/{id}"}}"#)]
#[case("HEAD", "/v1/services/{id}/", "full", r#"{"data":{"id":"{id}","path":"/v1/services/{id}"}}"#)]
#[case("PUT", "/v1/services/{id}", "full", r#"{"data":{"id":"{id}","path":"/v1/services/{id}"}}"#)]
#[case("PATCH", "/v1/services/{id}", "full", r#"{"data":{"id":"{id}","path":"/v1/services/{id}"}}"#)]
#[case(
    "DELETE",
    "/v1/services/{id}?delete_orphaned_incidents=TRUE",
    "full",
    r#"{"data":{"id":"{id}","deleted":true}}"#
)]
#[case("GET", "/v1/me", "free plan", "null")]
#[case("HEAD", "/v1/me", "none", "null")]
#[case("OPTIONS", "/v1/services/{id}/", "", r#"{"data":{"methods":["GET","HEAD","PUT","PATCH","DELETE"]}}"#)]
#[tokio::test]
async fn a_request_that_passes_every_check_reaches_its_handler(
    #[case] method: &str,
    #[case] uri: &str,
    #[case] token: &str,
    #[case] body: &str,
) {
    let world = world(120);
    let (response, answered) = world.ask(method, &uri.replace("{id}", ID), token).await;
    assert_eq!((response.status().as_u16(), answered.to_string()), (200, body.replace("{id}", ID)));
}

/// Contract 1.12, 1.9: common headers of every response, whatever its status.
#[rstest]
#[case("GET", "/v1/services/{id}", "full", 200)]
#[case("OPTIONS", "/v1/services", "", 200)]
#[case("OPTIONS", "/v1/nothing", "", 404)]
#[case("POST", "/v1/services", "full", 400)]
#[case("GET", "/v1/services/{id}", "", 401)]
#[case("GET", "/v1/services/{id}", "free plan", 403)]
#[case("GET", "/v1/services/{id}", "none", 403)]
#[case("GET", "/v1/nothing", "full", 404)]
#[case("PUT", "/v1/services", "full", 405)]
#[case("GET", "/v1/broken", "full", 500)]
#[tokio::test]
async fn every_answer_carries_the_common_headers(
    #[case] method: &str,
    #[case] uri: &str,
    #[case] token: &str,
    #[case] status: u16,
) {
    let world = world(120);
    let request =
        world.request(method, &uri.replace("{id}", ID), token).insert_header(("X-Request-Id", "req-7"));
    let (response, _) = world.send(request).await;
    assert_eq!(response.status().as_u16(), status);
    for (name, value) in [
        ("x-ratelimit-limit", "120"),
        ("x-ratelimit-remaining", "119"),
        ("x-ratelimit-reset", "1795193520"),
        ("x-request-id", "req-7"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("content-type", "application/json; charset=utf-8"),
    ] {
        assert_eq!(header(&response, name), Some(value), "{name}");
    }
    assert_eq!(header(&response, "access-control-allow-origin"), None);
}

#[tokio::test]
async fn the_rate_limit_is_checked_before_the_route() {
    let world = world(1);
    assert_eq!(world.ask("GET", "/v1/nothing", "full").await.0.status(), 404);
    let (response, body) = world.ask("GET", "/v1/nothing", "full").await;
    assert_eq!(response.status(), 429);
    assert_eq!(body["message"], "Too many requests. Try again in 60 seconds.");
    assert_eq!(header(&response, "retry-after"), Some("60"));
    assert_eq!(header(&response, "x-ratelimit-remaining"), Some("0"));
    assert_eq!(world.ask("GET", "/v1/me", "none").await.0.status(), 200, "another token has its own window");
}

#[tokio::test]
async fn plan_access_is_checked_before_the_rate_limit() {
    let world = world(1);
    for remaining in ["0", "0"] {
        let (response, body) = world.ask("GET", "/v1/services", "free plan").await;
        assert_eq!(
            (response.status().as_u16(), header(&response, "x-ratelimit-remaining")),
            (403, Some(remaining))
        );
        assert_eq!(body["upsell"], json!({"reason": "feature", "key": "api_access"}));
    }
    assert_eq!(world.ask("GET", "/v1/me", "free plan").await.0.status(), 429);
}

#[tokio::test]
async fn requests_without_token_and_options_use_up_the_window_of_the_address() {
    let world = world(2);
    let from = |last: u8, method: &str, token: &str| {
        let peer = std::net::SocketAddr::from(([192, 0, 2, last], 40_000));
        world.request(method, "/v1/services", token).peer_addr(peer)
    };
    assert_eq!(world.send(from(1, "GET", "")).await.0.status(), 401);
    assert_eq!(world.send(from(1, "OPTIONS", "")).await.0.status(), 200);
    assert_eq!(world.send(from(1, "GET", "unknown")).await.0.status(), 429);
    assert_eq!(world.send(from(1, "OPTIONS", "")).await.0.status(), 429);
    assert_eq!(world.send(from(1, "GET", "full")).await.0.status(), 405, "a valid token is not affected");
    assert_eq!(world.send(from(2, "GET", "")).await.0.status(), 401, "nor is another address");
}

#[tokio::test]
async fn without_its_database_the_service_is_not_available() {
    let mut world = world(1);
    world.gate.state = Arc::new(Directory { is_away: true, ..Directory::default() });
    for _ in 0..2 {
        let (response, body) = world.ask("GET", "/v1/me", "full").await;
        assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (503, Some("5")));
        assert_eq!(body["message"], "The service is not available at the moment.");
        assert!(header(&response, "x-ratelimit-remaining").is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_completes_when_its_client_disconnects() {
    let world = world(120);
    let (request, payload) = world.request("POST", "/v1/slow", "full").to_http_parts();
    let directory = &world.gate.state;
    let client_goes_away = async {
        let answer = std::pin::pin!(world.gate.answer(&request, payload));
        assert!(futures_util::poll!(answer).is_pending());
    };
    world.tasks.run_until(client_goes_away).await;
    directory.may_finish.notify_one();
    let finished = tokio::time::timeout(Duration::from_secs(60), directory.finished.notified());
    assert!(world.tasks.run_until(finished).await.is_ok());
}

#[tokio::test]
async fn a_body_is_read_within_its_limits() {
    let world = world(120);
    let post = |body: String| world.request("POST", "/v1/services", "full").set_payload(body);
    let (response, body) = world.send(post(r#"{"name": "shop"}"#.into())).await;
    assert_eq!((response.status().as_u16(), body["data"]["name"].as_str()), (200, Some("shop")));
    let (response, _) = world.send(post(format!("{{\"name\": \"{}\"}}", "x".repeat(100)))).await;
    assert_eq!(response.status(), 413);
}

/// Reliability 15: the full token is valid for another millisecond, the expired token is not, whatever happens to the clock.
#[rstest]
#[case::a_year_ahead(365)]
#[case::a_year_back(-365)]
#[tokio::test]
async fn a_clock_change_neither_expires_nor_revives_a_token(#[case] days: i64) {
    let world = world(100);
    world.gate.rules.clock.set_ahead(days * DAY_MS);
    for (token, status) in [("full", 200), ("expired", 401)] {
        let (response, _) = world.ask("GET", "/v1/me", token).await;
        assert_eq!(response.status(), status, "{token}");
    }
}

/// Invented tokens with valid checksums are counted before they are looked up, and a valid token among them is still
/// accepted.
#[tokio::test]
async fn invented_tokens_cause_few_database_lookups() {
    let mut world = world(3);
    let asked = |world: &World| world.gate.state.asked.load(Ordering::Relaxed);
    let mut statuses = Vec::new();
    for number in 0..500 {
        world.tokens.insert("unknown", TokenText::random("wk_"));
        statuses.push(world.ask("GET", "/v1/me", "unknown").await.0.status().as_u16());
        if number == 50 {
            assert_eq!(world.ask("GET", "/v1/me", "full").await.0.status().as_u16(), 200);
        }
    }
    assert_eq!(statuses[..3], [401; 3]);
    assert!(statuses[3..].iter().all(|status| *status == 429));
    assert_eq!(asked(&world), 3 + 100, "the rest was refused without a look");
    assert_eq!(header(&world.ask("GET", "/v1/me", "").await.0, "x-ratelimit-remaining"), Some("0"));
}
