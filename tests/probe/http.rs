//! HTTP checks: the bytes on the wire, the facts for conditions, the error codes (contract 4.2, 4.8).

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::server::{Blackhole, Server, closed_address, reset};
use crate::support::{UP, condition, down, http, measure, public_only, toolbox, verdict};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-State: fine\r\nContent-Length: 33\r\n\r\n{\"state\":\"ready\",\"items\":[1,2,3]}";

#[tokio::test]
async fn a_request_has_exactly_these_lines() {
    let server = Server::answering(HELLO).await;
    let measured = measure(&http(&server.url("/a?b=c#d"), &json!({})), &toolbox()).await;
    assert_eq!((verdict(&measured), measured.status_code), (UP, Some(200)));
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "GET /a?b=c HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nuser-agent: Watchkeeper/{version}\r\naccept: */*\r\n\r\n",
        server.address
    );
    assert_eq!(server.requests(), [expected]);
}

#[tokio::test]
async fn configured_headers_credentials_and_body_are_sent_once() {
    let server = Server::answering(HELLO).await;
    let config = json!({
        "method": "POST",
        "headers": { "User-Agent": "mine", "X-Key": "k", "Accept": "text/plain" },
        "auth": { "type": "basic", "username": "u", "password": "p" },
        "body": "payload",
    });
    measure(&http(&server.url("/"), &config), &toolbox()).await;
    let request = server.requests().remove(0).to_ascii_lowercase();
    let lines = [
        "user-agent: mine",
        "x-key: k",
        "accept: text/plain",
        "authorization: basic dtpw",
        "content-length: 7",
    ];
    for line in lines {
        let name = line.split(':').next().unwrap();
        assert_eq!(request.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line} in {request}");
        assert_eq!(request.matches(&format!("\r\n{name}:")).count(), 1, "{name} in {request}");
    }
    assert!(request.ends_with("\r\n\r\npayload"));
}

/// RFC 9110, section 8.6: many servers answer 411 to a request that may have a body and says nothing about it.
#[rstest]
#[case("GET", 0)]
#[case("HEAD", 0)]
#[case("DELETE", 0)]
#[case("POST", 1)]
#[case("PUT", 1)]
#[case("PATCH", 1)]
#[tokio::test]
async fn an_empty_body_has_a_length(#[case] method: &str, #[case] count: usize) {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(
        verdict(&measure(&http(&server.url("/"), &json!({ "method": method })), &toolbox()).await),
        UP
    );
    let request = server.requests().remove(0);
    assert_eq!(request.matches("content-length: 0\r\n").count(), count, "{request}");
    assert_eq!(request.matches("content-length").count(), count, "{request}");
}

/// Contract 4.2.2: virtual hosts are checked with it.
#[tokio::test]
async fn a_configured_host_replaces_that_of_the_target() {
    let server = Server::answering(HELLO).await;
    let config = json!({ "headers": { "hOsT": "shop.test:8443" } });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), UP);
    let request = server.requests().remove(0).to_ascii_lowercase();
    assert!(request.contains("\r\nhost: shop.test:8443\r\n"), "{request}");
    assert_eq!(request.matches("\r\nhost:").count(), 1, "{request}");
}

/// Contract 4.2.4: a condition that holds, and whether it does.
#[rstest]
#[case("status_code", "eq", json!(200), true)]
#[case("status_code", "in", json!([301, 404]), false)]
#[case("response_time_ms", "lt", json!(2000), true)]
#[case("body", "contains", json!("ready"), true)]
#[case("body", "not_contains", json!("ready"), false)]
#[case("json.state", "eq", json!("ready"), true)]
#[case("json.items.#", "eq", json!(3), true)]
#[case("json.items.1", "gt", json!(2), false)]
#[case("header.x-state", "eq", json!("fine"), true)]
#[case("header.X-Missing", "neq", json!("fine"), true)]
#[case("metadata.redirects_followed", "eq", json!(0), true)]
#[case("metadata.content_length", "eq", json!(33), true)]
#[case("metadata.protocol", "eq", json!("HTTP/1.1"), true)]
#[case("metadata.final_url", "contains", json!("/path"), true)]
#[tokio::test]
async fn conditions_use_the_response(
    #[case] field: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] holds: bool,
) {
    let server = Server::answering(HELLO).await;
    let config = json!({ "conditions": [condition(field, operator, &value)] });
    let measured = measure(&http(&server.url("/path"), &config), &toolbox()).await;
    let expected = if holds { down(ErrorCode::ConditionFailed) } else { UP };
    assert_eq!(verdict(&measured), expected);
    assert!(measured.response_time.is_some(), "the target did answer");
    if let Some(failure) = measured.failure {
        assert!(
            !failure.message.contains("ready") && !failure.message.contains("fine"),
            "{}",
            failure.message
        );
    }
}

/// Reaction of a server to a request.
#[derive(Clone, Copy, Debug)]
enum Conduct {
    Reset,
    Close,
    Silence,
    SlowHead,
    Send(&'static str),
}

async fn conducted(conduct: Conduct) -> Server {
    Server::start(move |mut stream, visit| async move {
        visit.request(&mut stream).await;
        match conduct {
            Conduct::Reset => reset(stream),
            Conduct::Close => drop(stream),
            Conduct::Silence => std::future::pending().await,
            Conduct::SlowHead => drip(stream, "HTTP/1.1 200 OK\r\nX-Slow: ").await,
            Conduct::Send(bytes) => stream.write_all(bytes.as_bytes()).await.unwrap(),
        }
    })
    .await
}

/// Sends one byte after the other until the visitor has had enough.
async fn drip(mut stream: tokio::net::TcpStream, start: &str) {
    stream.write_all(start.as_bytes()).await.unwrap();
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while stream.write_all(b"x").await.is_ok() {
        pause.tick().await;
    }
}

/// Contract 4.8: one row a code that an HTTP conversation can end with.
#[rstest]
#[case(Conduct::Reset, ErrorCode::ConnectReset)]
#[case(Conduct::Close, ErrorCode::HttpProtocol)]
#[case(Conduct::Silence, ErrorCode::HttpTimeout)]
#[case(Conduct::SlowHead, ErrorCode::HttpTimeout)]
#[case(Conduct::Send("SSH-2.0-OpenSSH_9.2\r\n"), ErrorCode::HttpProtocol)]
#[case(Conduct::Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), ErrorCode::HttpProtocol)]
#[case(Conduct::Send("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), ErrorCode::HttpProtocol)]
#[case(Conduct::Send("HTTP/1.1 999999 OK\r\n\r\n"), ErrorCode::HttpProtocol)]
#[case(Conduct::Send("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), ErrorCode::ConditionFailed)]
#[case(Conduct::Send("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"), ErrorCode::HttpRedirectLoop)]
#[tokio::test]
async fn a_bad_answer_has_its_code(#[case] conduct: Conduct, #[case] code: ErrorCode) {
    let server = conducted(conduct).await;
    let mut check = http(&server.url("/"), &json!({}));
    check.timeout = Duration::from_millis(400);
    let measured = measure(&check, &toolbox()).await;
    assert_eq!(verdict(&measured), down(code));
    assert!(measured.timings.connect.is_some());
    assert!(measured.timings.total.unwrap().get() < 650_000, "{:?}", measured.timings);
    assert_eq!(measured.response_time.is_some(), code == ErrorCode::ConditionFailed);
}

#[tokio::test]
async fn a_target_that_cannot_be_reached_has_its_code() {
    let closed = format!("http://{}/", closed_address().await);
    assert_eq!(
        verdict(&measure(&http(&closed, &json!({})), &toolbox()).await),
        down(ErrorCode::ConnectRefused)
    );
    assert_eq!(
        verdict(&measure(&http(&closed, &json!({})), &public_only()).await),
        down(ErrorCode::TargetBlocked)
    );
    let hole = Blackhole::dig().await;
    let mut check = http(&format!("http://{}/", hole.address), &json!({}));
    check.timeout = Duration::from_millis(200);
    assert_eq!(verdict(&measure(&check, &toolbox()).await), down(ErrorCode::ConnectTimeout));
}

/// Reliability 13: no phase is shorter than the server took. That none is longer is shown by `timings`: one check may be late for
/// any time on a busy machine, which makes the first phase longer and the second one shorter.
#[tokio::test]
async fn phases_show_the_delays_of_the_server() {
    let server = Server::start(|mut stream, visit| async move {
        visit.request(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(120)).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na").await.unwrap();
        tokio::time::sleep(Duration::from_millis(80)).await;
        stream.write_all(b"b").await.unwrap();
    })
    .await;
    let timings = measure(&http(&server.url("/"), &json!({})), &toolbox()).await.timings;
    let us = |phase: Option<watchkeeper::model::check::Micros>| phase.map_or(0, std::num::NonZeroU32::get);
    assert!(us(timings.ttfb) >= 119_000 && us(timings.transfer) > 0, "{timings:?}");
    assert!(us(timings.ttfb) + us(timings.transfer) >= 198_000, "{timings:?}");
    let phases = [timings.dns, timings.connect, timings.tls, timings.ttfb, timings.transfer];
    let sum: u32 = phases.into_iter().map(us).sum();
    assert!(us(timings.total).abs_diff(sum) <= 1000, "{timings:?}");
}

#[tokio::test]
async fn a_late_answer_can_be_degraded() {
    let server = Server::answering(HELLO).await;
    let config = json!({ "conditions": [
        { "field": "response_time_ms", "operator": "gt", "value": 0, "status": "degraded" },
    ] });
    let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
    assert_eq!(verdict(&measured), (CheckStatus::Degraded, Some(ErrorCode::ConditionFailed)));
}

#[tokio::test]
async fn answers_without_body_and_with_chunks_are_understood() {
    for (method, response, length) in [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", 0),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 0),
        ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 3),
        ("GET", "HTTP/1.0 200 OK\r\n\r\nuntil the end", 13),
    ] {
        let server = Server::answering(response).await;
        let config = json!({
            "method": method,
            "conditions": [condition("metadata.content_length", "neq", &json!(length))],
        });
        let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
        assert_eq!(verdict(&measured), UP, "{method} {response}");
    }
}

/// A check is a future that any runtime may spawn; it shares nothing but the toolbox.
#[tokio::test]
async fn checks_run_as_tasks_side_by_side() {
    let server = Server::start(|mut stream, visit| async move {
        let request = visit.request(&mut stream).await;
        let status = request.split(['/', ' ']).nth(2).unwrap().to_owned();
        let response = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(response.as_bytes()).await.unwrap();
    })
    .await;
    let toolbox = std::sync::Arc::new(toolbox());
    let tasks: Vec<_> = (200..300_u16)
        .map(|status| {
            let check = http(&server.url(&format!("/{status}")), &json!({}));
            let toolbox = toolbox.clone();
            tokio::spawn(async move { (status, measure(&check, &toolbox).await) })
        })
        .collect();
    for task in tasks {
        let (status, measured) = task.await.unwrap();
        assert_eq!((verdict(&measured), measured.status_code), (UP, Some(status)));
    }
}
