//! Answers that no specification wants and every browser shows: a check takes them as browsers do.

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::server::Server;
use crate::support::{UP, condition, down, http, measure, toolbox, verdict};

/// Answers every request with `response`; the check is down when `field` is not `value`.
async fn check(response: impl Into<Vec<u8>>, field: &str, value: &Value) -> (CheckStatus, Option<ErrorCode>) {
    let server = Server::answering(response).await;
    let operator = if field == "body" { "not_contains" } else { "neq" };
    let config = json!({ "conditions": [condition(field, operator, value)] });
    verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await)
}

/// RFC 9112, section 5.2, and what browsers and curl do with lines that are no header.
#[rstest]
#[case::folded_by_a_blank("X-A: one\r\n two", "one two")]
#[case::folded_by_a_tab("X-A: one\r\n\t\ttwo", "one two")]
#[case::folded_twice("X-A: one\r\n two\r\n  three", "one two three")]
#[case::folded_by_line_feeds("X-A: one\n two", "one two")]
#[case::an_empty_first_line("X-A:\r\n one\r\n two", "one two")]
#[case::a_blank_before_the_colon("X-A : one", "one")]
#[case::a_line_without_colon("this is no header\r\nX-A: one", "one")]
#[case::a_name_with_a_blank("X B: two\r\nX-A: one", "one")]
#[case::a_bad_name_that_is_folded("X B: two\r\n three\r\nX-A: one", "one")]
#[tokio::test]
async fn an_untidy_head_is_read(#[case] lines: &str, #[case] value: &str) {
    let response = format!("HTTP/1.1 200 OK\r\n{lines}\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(check(response, "header.x-a", &json!(value)).await, UP);
}

/// Browsers and curl bound the bytes of a head, not its lines.
#[rstest]
#[case(101)]
#[case(300)]
#[case(2_000)]
#[tokio::test]
async fn a_head_may_have_many_lines(#[case] count: usize) {
    let cookies: String = (0..count).map(|number| format!("Set-Cookie: c{number}=1; Path=/\r\n")).collect();
    let response = format!("HTTP/1.1 200 OK\r\n{cookies}X-A: one\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(check(response, "header.x-a", &json!("one")).await, UP);
}

#[rstest]
#[case::three_hundred_kibibytes(format!("X-A: {}\r\n", "a".repeat(300 << 10)))]
#[case::five_thousand_lines("A: b\r\n".repeat(5_000))]
#[tokio::test]
async fn a_head_beyond_the_limit_is_named(#[case] lines: String) {
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n{lines}\r\n")).await;
    let measured = measure(&http(&server.url("/"), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::HttpProtocol));
    let message = measured.failure.unwrap().message;
    assert_eq!(&*message, "The head of the response is larger than 256 KiB or 4,096 lines");
}

#[tokio::test]
async fn a_redirect_may_fold_its_lines() {
    let server = Server::start(|mut stream, visit| async move {
        let request = visit.request(&mut stream).await;
        let response = if request.starts_with("GET /next ") {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        } else {
            "HTTP/1.1 301 Moved\r\nX-A: 1;\r\n 2\r\nLocation:\r\n /next\r\nContent-Length: 0\r\n\r\n"
        };
        stream.write_all(response.as_bytes()).await.unwrap();
    })
    .await;
    assert_eq!(verdict(&measure(&http(&server.url("/"), &json!({})), &toolbox()).await), UP);
    assert_eq!(server.requests().len(), 2);
}
