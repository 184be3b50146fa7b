//! The rate limit (contract 1.9): exact, per token, shown on every response; unauthenticated requests are counted by address.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::client::{Answer, Client};
use crate::support::server::Server;

const LIMIT: u32 = 20;

fn limited() -> Server {
    Server::with("", &[("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "20")])
}

fn number(answer: &Answer, name: &str) -> u32 {
    answer.header(name).unwrap_or_else(|| panic!("no {name}: {answer:?}")).parse().unwrap()
}

fn spend(client: &Client) {
    for used in 1..=LIMIT {
        let answer = client.get("/v1/me").expect(200);
        assert_eq!(number(&answer, "x-ratelimit-limit"), LIMIT);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), LIMIT - used);
    }
}

/// Contract 1.9: exactly the limit passes; then 429 with `Retry-After`; other tokens go on.
#[test]
fn exactly_the_limit_passes() {
    let server = limited();
    let client = server.client();
    spend(&client);
    let refused = client.get("/v1/nowhere").expect(429);
    let wait = number(&refused, "retry-after");
    assert!((1..=60).contains(&wait));
    assert_eq!(refused.message(), format!("Too many requests. Try again in {wait} seconds."));
    assert_eq!(number(&refused, "x-ratelimit-remaining"), 0);
    assert!(number(&refused, "x-ratelimit-reset") > 1_700_000_000);
    server.tenant("team").get("/v1/me").expect(200);
}

/// Contract 1.9: many at once do not pass more. Where the machine takes more than a minute for them, each window passes as many.
#[test]
fn simultaneous_requests_do_not_exceed_the_limit() {
    let server = limited();
    let client = server.client();
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..64).map(|_| scope.spawn(|| client.get("/v1/me"))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut passed = BTreeMap::<u32, u32>::new();
    for answer in &answers {
        *passed.entry(number(answer, "x-ratelimit-reset")).or_default() += u32::from(answer.status == 200);
    }
    assert!(passed.values().all(|count| *count <= LIMIT), "{passed:?}");
    assert_eq!(passed.values().max(), Some(&LIMIT), "{passed:?}");
}

/// Contract 1.9: refusals and HEAD count as well.
#[test]
fn every_authenticated_request_counts() {
    let server = limited();
    let client = server.client();
    for (spent, (method, path, status)) in [
        ("GET", "/v1/nowhere", 404),
        ("HEAD", "/v1/services", 200),
        ("DELETE", "/v1/services", 405),
        ("POST", "/v1/services", 422),
    ]
    .into_iter()
    .enumerate()
    {
        let body = if method == "POST" { "{}" } else { "" };
        let answer = client.send(method, path, &[], body.as_bytes()).expect(status);
        assert_eq!(number(&answer, "x-ratelimit-remaining") as usize, LIMIT as usize - spent - 1);
    }
}

/// Contract 1.9: requests without a valid token spend a bucket of their address, which no header moves.
#[test]
fn unauthenticated_requests_are_counted_by_address() {
    let server = limited();
    let stranger = server.client().without_token();
    for used in 1..=LIMIT {
        let forged = format!("X-Forwarded-For: 192.0.2.{used}");
        let lines = [&*forged, "Forwarded: for=192.0.2.1"];
        let answer = stranger.send("GET", "/v1/services", &lines, b"").expect(401);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), LIMIT - used);
    }
    stranger.get("/v1/services").expect(429);
    stranger.send("OPTIONS", "/v1/services", &[], b"").expect(429);
    server.client().get("/v1/me").expect(200);
}

/// Contract 1.8: a plan without API access is reported before the rate limit.
#[test]
fn the_plan_is_checked_before_the_rate_limit() {
    let server = limited();
    let client = server.tenant("free");
    for _ in 0..LIMIT + 5 {
        let refused = client.get("/v1/services").expect(403).json();
        assert_eq!(refused["upsell"], json!({"reason": "feature", "key": "api_access"}));
    }
}

/// Contract 1.9: behind a trusted proxy each client has a bucket of its own.
#[test]
fn a_trusted_proxy_names_the_client() {
    let variables =
        [("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "20"), ("WATCHKEEPER_TRUSTED_PROXIES", "127.0.0.0/8")];
    let server = Server::with("", &variables);
    let stranger = server.client().without_token();
    for last in 1..=3 {
        let line = format!("X-Forwarded-For: 198.51.100.1, 192.0.2.{last}");
        let answer = stranger.send("GET", "/v1/services", &[&line], b"").expect(401);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), LIMIT - 1);
    }
}

/// Contract 1.9: a window lasts 60 seconds from its first request; the next request after it starts another.
#[tokio::test]
async fn a_window_ends_sixty_seconds_after_its_first_request() {
    let server = limited();
    let client = server.client();
    spend(&client);
    let refused = client.get("/v1/me").expect(429);
    let refused_at = tokio::time::Instant::now();
    let (wait, ends_at) = (number(&refused, "retry-after"), number(&refused, "x-ratelimit-reset"));
    let until = |seconds: u64| tokio::time::sleep_until(refused_at + std::time::Duration::from_secs(seconds));
    until(u64::from(wait) - 2).await;
    let late = client.get("/v1/me").expect(429);
    assert_eq!(number(&late, "x-ratelimit-reset"), ends_at, "refusals do not prolong it");
    assert!(number(&late, "retry-after") <= 2);
    until(u64::from(wait) + 1).await;
    let next = client.get("/v1/me").expect(200);
    assert_eq!(number(&next, "x-ratelimit-remaining"), LIMIT - 1);
    assert!((ends_at + 59..=ends_at + 62).contains(&number(&next, "x-ratelimit-reset")));
}

/// Reliability 26: a forwarding header does not change the counted address, with or without a token.
#[test]
fn untrusted_forwarding_headers_are_ignored() {
    let server = limited();
    let client = server.client();
    let passed = std::thread::scope(|scope| {
        let ask = |number: u32| {
            let forged = format!("X-Forwarded-For: 192.0.2.{number}");
            let lines =
                [&*forged, "Forwarded: for=192.0.2.1", "X-Real-IP: 192.0.2.1", "CF-Connecting-IP: 192.0.2.1"];
            client.send("GET", "/v1/me", &lines, b"")
        };
        let asking: Vec<_> = (0..64).map(|number| scope.spawn(move || ask(number))).collect();
        let answers: Vec<Answer> = asking.into_iter().map(|thread| thread.join().unwrap()).collect();
        for answer in &answers {
            assert!(
                number(answer, "x-ratelimit-limit") == LIMIT
                    && number(answer, "x-ratelimit-remaining") < LIMIT
            );
        }
        answers.iter().filter(|answer| answer.status == 200).count()
    });
    assert_eq!(passed, LIMIT as usize);
}
