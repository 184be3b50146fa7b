//! Hostile HTTP servers (reliability 18): a check ends in time, within its memory, with a verdict.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::server::Server;
use crate::support::{UP, condition, down, http, measure, toolbox, verdict};

fn gzip_bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        encoder.write_all(&[b'a'; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap()
}

fn zstd_bomb() -> Vec<u8> {
    let plain = vec![b'a'; 30 << 20];
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(&plain).unwrap();
    encoder.finish().unwrap()
}

fn nonsense() -> Vec<u8> {
    b"not compressed by anything".to_vec()
}

#[rstest]
#[case("gzip", gzip_bomb, UP)]
#[case("zstd", zstd_bomb, UP)]
#[case("gzip", nonsense, down(ErrorCode::HttpProtocol))]
#[case("br", nonsense, down(ErrorCode::HttpProtocol))]
#[case("zstd", nonsense, down(ErrorCode::HttpProtocol))]
#[case("lzma", nonsense, down(ErrorCode::ConditionFailed))]
#[tokio::test]
async fn a_compressed_body_is_decoded_within_limits(
    #[case] coding: &str,
    #[case] body: fn() -> Vec<u8>,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let body = body();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    let server = Server::answering([head.into_bytes(), body].concat()).await;
    let config = json!({ "conditions": [condition("body", "not_contains", &json!("aaaa"))] });
    let mut check = http(&server.url("/"), &config);
    check.timeout = Duration::from_secs(10);
    assert_eq!(verdict(&measure(&check, &toolbox()).await), expected);
    assert!(server.requests()[0].contains("accept-encoding: gzip, deflate\r\n"));
}

#[rstest]
#[case::ten_thousand_headers("X-A: b\r\n".repeat(10_000))]
#[case::one_header_of_a_mebibyte(format!("X-A: {}\r\n", "b".repeat(1 << 20)))]
#[case::a_nul_in_a_header("X-A: b\0c\r\n".to_owned())]
#[case::two_lengths("Content-Length: 1\r\nContent-Length: 2\r\n".to_owned())]
#[tokio::test]
async fn a_bad_head_is_a_protocol_error(#[case] headers: String) {
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).await;
    let measured = measure(&http(&server.url("/"), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::HttpProtocol));
}

#[tokio::test]
async fn endless_chunks_are_read_up_to_the_limit() {
    let server = Server::start(|mut stream, visit| async move {
        visit.request(&mut stream).await;
        let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(chunk.as_bytes()).await.is_ok() {}
    })
    .await;
    let truncated = (CheckStatus::Degraded, Some(ErrorCode::BodyTruncated));
    for (operator, length, expected) in
        [("lt", 1_000, UP), ("gt", 1_000, down(ErrorCode::ConditionFailed)), ("gt", 1_000_000_000, truncated)]
    {
        let config =
            json!({ "conditions": [condition("metadata.content_length", operator, &json!(length))] });
        let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
        assert_eq!((verdict(&measured), measured.status_code), (expected, Some(200)), "{operator} {length}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_has_the_length_that_was_announced() {
    let body = "x".repeat(3 << 20);
    let server =
        Server::answering(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
    let config = json!({ "conditions": [condition("metadata.content_length", "neq", &json!(3 << 20))] });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), UP);
}

/// Reliability 30: whatever the bytes of a target, the wire carries one request line and the intended headers.
#[tokio::test]
async fn no_byte_of_a_url_breaks_out_of_the_request_line() {
    for byte in 0..=u8::MAX {
        let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let target = format!("{}a{}b?c{}d", server.url("/"), char::from(byte), char::from(byte));
        let config = serde_json::Map::new();
        let kind = watchkeeper::model::check::CheckType::Http;
        let Ok(check) = watchkeeper::probe::spec::CheckSpec::compile(kind, &target, 2, &config) else {
            continue; // Refused as a target: nothing is sent at all.
        };
        assert_eq!(verdict(&measure(&check, &toolbox()).await), UP, "{byte}");
        let request = server.requests().remove(0);
        let lines: Vec<&str> = request.split("\r\n").collect();
        assert_eq!(lines.len(), 7, "byte {byte}: {request:?}");
        assert!(lines[0].bytes().all(|sent| sent.is_ascii_graphic() || sent == b' '), "{request:?}");
        assert_eq!(lines[0].matches(' ').count(), 2, "{request:?}");
    }
}

/// Lateness of a task of the same thread that wants to run every 5 ms: at p99 of two seconds.
async fn lateness_of_a_neighbour() -> Duration {
    let every = Duration::from_millis(5);
    let mut late = Vec::new();
    let start = tokio::time::Instant::now();
    for number in 1..400 {
        let due = start + every * number;
        tokio::time::sleep_until(due).await;
        late.push(due.elapsed());
    }
    late.sort_unstable();
    late[late.len() * 99 / 100]
}

/// Reliability 18: bodies that are dear to decode do not hold up the checks beside them.
#[tokio::test]
async fn hostile_bodies_do_not_delay_other_checks() {
    let alone = lateness_of_a_neighbour().await;
    let toolbox = std::sync::Arc::new(toolbox());
    let config = json!({ "conditions": [condition("body", "contains", &json!("needle"))] });
    let mut servers = Vec::new();
    for (coding, body) in [("gzip", gzip_bomb()), ("zstd", zstd_bomb())] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        servers.push(Server::answering([head.into_bytes(), body].concat()).await);
    }
    // Each check is a task of its own, as in a location.
    // Searching a mebibyte takes ten milliseconds without optimisation.
    let attackers = if cfg!(debug_assertions) { 2 } else { 16 };
    let mut attack = tokio::task::JoinSet::new();
    for number in 0..attackers {
        let check = http(&servers[number % servers.len()].url("/"), &config);
        let toolbox = std::sync::Arc::clone(&toolbox);
        attack.spawn(async move {
            for _ in 0..1_000_000 {
                measure(&check, &toolbox).await;
            }
        });
    }
    let beside = lateness_of_a_neighbour().await;
    attack.abort_all();
    println!("late at p99: {alone:?} alone, {beside:?} beside hostile bodies");
    assert!(beside <= alone + Duration::from_millis(50), "{alone:?} alone, {beside:?} beside them");
}
