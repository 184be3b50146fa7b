//! Answers that do not end, such as server-sent events and cameras: head and conditions decide (contract 4.2.4).

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::server::Server;
use crate::support::{UP, condition, down, http, measure, toolbox, verdict};

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const CAMERA: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const LONG: &str = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
const BUSY: &str = "HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream\r\n\r\n";
const TRUNCATED: (CheckStatus, Option<ErrorCode>) = (CheckStatus::Degraded, Some(ErrorCode::BodyTruncated));
const LATE: (CheckStatus, Option<ErrorCode>) = down(ErrorCode::HttpTimeout);
const MET: (CheckStatus, Option<ErrorCode>) = down(ErrorCode::ConditionFailed);

/// Sends a head, and then the same piece again and again until the visitor has had enough.
async fn endless(head: &'static str, piece: &'static str) -> Server {
    Server::start(move |mut stream, visit| async move {
        visit.request(&mut stream).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        while stream.write_all(piece.as_bytes()).await.is_ok() {
            pause.tick().await;
        }
    })
    .await
}

/// Columns: head, piece, and a condition that says `down`; then what becomes of the check.
#[rstest]
#[case::events(EVENTS, "data: x\n\n", "status_code", "neq", json!(200), UP)]
#[case::a_camera(CAMERA, "5\r\nframe\r\n", "status_code", "neq", json!(200), UP)]
#[case::a_stalled_camera(CAMERA, "", "status_code", "neq", json!(200), UP)]
#[case::a_declared_length(LONG, "x", "status_code", "neq", json!(200), UP)]
#[case::a_bad_status(BUSY, "data: x\n\n", "status_code", "neq", json!(200), MET)]
#[case::a_header(EVENTS, "data: x\n\n", "header.content-type", "eq", json!("text/event-stream"), MET)]
#[case::its_first_byte_is_its_time(EVENTS, "data: x\n\n", "response_time_ms", "gte", json!(400), UP)]
#[case::a_length_that_is_passed(EVENTS, "data: x\n\n", "metadata.content_length", "gt", json!(5), MET)]
#[case::a_length_ahead(EVENTS, "data: x\n\n", "metadata.content_length", "gt", json!(100_000), TRUNCATED)]
#[case::a_word_that_came(EVENTS, "data: x\n\n", "body", "not_contains", json!("data: x"), UP)]
#[case::a_bad_word_that_came(EVENTS, "data: x\n\n", "body", "contains", json!("data: x"), MET)]
#[case::a_word_that_did_not_come(EVENTS, "data: x\n\n", "body", "not_contains", json!("data: y"), TRUNCATED)]
#[case::json_that_did_not_end(CAMERA, "1\r\n[\r\n", "json.a", "eq", json!(1), TRUNCATED)]
#[case::a_declared_length_that_matters(LONG, "x", "body", "not_contains", json!("y"), LATE)]
#[case::a_stalled_declared_length(LONG, "", "body", "not_contains", json!("y"), LATE)]
#[tokio::test]
async fn an_endless_response_has_a_result(
    #[case] head: &'static str,
    #[case] piece: &'static str,
    #[case] field: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let server = endless(head, piece).await;
    let config = json!({ "conditions": [condition(field, operator, &value)] });
    let mut check = http(&server.url("/"), &config);
    check.timeout = Duration::from_millis(400);
    assert_eq!(verdict(&measure(&check, &toolbox()).await), expected);
}
