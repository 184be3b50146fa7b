//! Malformed responses that every browser shows: a check accepts them as browsers do.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
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
async fn a_malformed_head_is_read(#[case] lines: &str, #[case] value: &str) {
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
#[case::seven_hundred_kibibytes(format!("X-A: {}\r\n", "a".repeat(700 << 10)))]
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

/// Answers that curl and browsers take.
#[rstest]
#[case::chunks_of_1_0("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")]
#[case::chunks_by_line_feeds("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n")]
#[case::folded_trailers(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n 2\r\n\r\n"
)]
#[case::invalid_trailers(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nno trailer\r\n\r\n"
)]
#[case::a_plus("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello")]
#[case::a_semicolon("HTTP/1.1 200 OK\r\nContent-Length: 5;\r\n\r\nhello")]
#[case::a_decimal("HTTP/1.1 200 OK\r\nContent-Length: 5.0\r\n\r\nhello")]
#[case::a_unit("HTTP/1.1 200 OK\r\nContent-Length: 5 bytes\r\n\r\nhello")]
#[case::a_huge_length("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello")]
#[case::a_control_character("HTTP/1.1 200 O\x01K\r\nContent-Length: 5\r\n\r\nhello")]
#[case::a_tab("HTTP/1.1 200\tOK\r\nContent-Length: 5\r\n\r\nhello")]
#[case::two_blanks("HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\nhello")]
#[case::small_letters("http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")]
#[case::a_bare_return("HTTP/1.1 200 OK\r\nX-A: a\rb\r\nContent-Length: 5\r\n\r\nhello")]
#[case::a_long_name(format!("HTTP/1.1 200 OK\r\n{}: 1\r\nContent-Length: 5\r\n\r\nhello", "a".repeat(70_000)))]
#[tokio::test]
async fn a_malformed_response_is_read(#[case] response: impl Into<Vec<u8>>) {
    assert_eq!(check(response, "body", &json!("hello")).await, UP);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// WHATWG Fetch, "handle content codings": unknown codings leave the bytes as they are.
#[rstest]
#[case("none", b"hello world")]
#[case("utf-8", b"hello world")]
#[case("aws-chunked", b"hello world")]
#[case("", b"hello world")]
#[case("aws-chunked, gzip", &gzip(b"hello world"))]
#[case("gzip", &[gzip(b"hello world"), vec![0; 512]].concat())]
#[case("gzip", &[gzip(b"hello "), gzip(b"world"), b"junk".to_vec()].concat())]
#[tokio::test]
async fn a_body_is_decoded_as_by_browsers(#[case] coding: &str, #[case] body: &[u8]) {
    let response = answer(&format!("Content-Encoding: {coding}\r\n"), body);
    assert_eq!(check(response, "body", &json!("hello world")).await, UP);
}

#[tokio::test]
async fn broken_data_names_its_coding() {
    let server = Server::answering(answer("Content-Encoding: gzip\r\n", b"no gzip at all")).await;
    let config = json!({ "conditions": [condition("body", "contains", &json!("x"))] });
    let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::HttpProtocol));
    assert_eq!(&*measured.failure.unwrap().message, "The body is not valid gzip");
}

/// RFC 9110, section 8.3.2: a word that must be there is found, and one that must not be there as well.
#[rstest]
#[case("; charset=iso-8859-1", b"St\xf6rung", "Störung")]
#[case("; charset=windows-1252", b"St\xf6rung \x84heute\x93", "Störung „heute“")]
#[case("; charset=utf-16le", b"S\0t\0\xf6\0r\0u\0n\0g\0", "Störung")]
#[case("; charset=utf-16", b"\xff\xfeS\0t\0\xf6\0r\0u\0n\0g\0", "Störung")]
#[case("; charset=shift_jis", b"\x8f\xe1\x8aQ", "障害")]
#[case("; charset=utf-8", "Störung".as_bytes(), "Störung")]
#[case("", b"<meta charset=koi8-r>\xc1\xc2", "аб")]
#[case("", b"St\xf6rung", "Störung")]
#[case("", b"caf\xe9", "café")]
#[tokio::test]
async fn a_word_is_found_in_every_encoding(#[case] charset: &str, #[case] body: &[u8], #[case] word: &str) {
    let server = Server::answering(answer(&format!("Content-Type: text/html{charset}\r\n"), body)).await;
    for (operator, expected) in [("not_contains", UP), ("contains", down(ErrorCode::ConditionFailed))] {
        let config = json!({ "conditions": [condition("body", operator, &json!(word))] });
        let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
        assert_eq!(verdict(&measured), expected, "{operator}");
    }
}

const TRUNCATED: (CheckStatus, Option<ErrorCode>) = (CheckStatus::Degraded, Some(ErrorCode::BodyTruncated));
const MIB: usize = 1 << 20;

/// 900 KiB that no coding makes much smaller, with a word at their end.
fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        b"0123456789abcdef"[usize::try_from(state >> 28).unwrap()]
    };
    let mut noise: Vec<u8> = (0..900 << 10).map(|_| next()).collect();
    noise.extend_from_slice(b"KEYWORD");
    noise
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(plain, 1).unwrap()
}

/// The part that was read decides; the rest is neither up nor down.
#[rstest]
#[case::a_word_behind_the_limit("", [vec![b'x'; 2 * MIB], b"KEYWORD".to_vec()].concat(), "body", TRUNCATED)]
#[case::a_word_before_the_limit("", [b"KEYWORD".to_vec(), vec![b'x'; 2 * MIB]].concat(), "body", UP)]
#[case::a_word_within_the_limit("", noise(), "body", UP)]
#[case::compressed_by_gzip("gzip", gzip(&noise()), "body", UP)]
#[case::a_bomb("gzip", gzip(&vec![b'x'; 10 * MIB]), "body", TRUNCATED)]
#[case::half_as_much_of_zstd("zstd", zstd(&noise()), "body", TRUNCATED)]
#[case::a_field_before_the_limit(
    "",
    [b"{\"word\": \"KEYWORD\", \"pad\": \"".to_vec(), vec![b'x'; 2 * MIB], b"\"}".to_vec()].concat(),
    "json.word",
    UP
)]
#[case::a_field_behind_the_limit(
    "",
    [b"{\"pad\": \"".to_vec(), vec![b'x'; 2 * MIB], b"\", \"word\": \"KEYWORD\"}".to_vec()].concat(),
    "json.word",
    TRUNCATED
)]
#[case::an_unneeded_body("", vec![b'x'; 2 * MIB], "status_code", UP)]
#[tokio::test]
async fn a_truncated_body_decides_where_it_is_conclusive(
    #[case] coding: &str,
    #[case] body: Vec<u8>,
    #[case] field: &str,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let value = if field == "status_code" { json!(200) } else { json!("KEYWORD") };
    let response = answer(&format!("Content-Encoding: {coding}\r\n"), &body);
    assert_eq!(check(response, field, &value).await, expected);
}

/// A condition that is met is said as before, and what cannot be decided names the condition.
#[tokio::test]
async fn an_undecided_condition_is_reported() {
    let server = Server::answering(answer("", &[b"KEYWORD", &vec![b'x'; 2 * MIB][..]].concat())).await;
    for (operator, word, expected) in [
        ("contains", "KEYWORD", "Condition met: body contains the configured text"),
        (
            "contains",
            "lost",
            "The body is longer than the part that is read; this condition cannot be decided: body contains the configured text",
        ),
    ] {
        let config = json!({ "conditions": [condition("body", operator, &json!(word))] });
        let measured = measure(&http(&server.url("/"), &config), &toolbox()).await;
        assert_eq!(&*measured.failure.unwrap().message, expected);
    }
}

/// RFC 8259, section 6: whole numbers beyond 2^53 differ.
#[rstest]
#[case("9007199254740993", "eq", json!(9_007_199_254_740_992_u64), UP)]
#[case("9007199254740993", "neq", json!(9_007_199_254_740_993_u64), UP)]
#[case("18446744073709548794", "lt", json!(1), UP)]
#[case("9007199254740993", "gt", json!(9_007_199_254_740_992_u64), down(ErrorCode::ConditionFailed))]
#[tokio::test]
async fn whole_numbers_are_compared_exactly(
    #[case] number: &str,
    #[case] operator: &str,
    #[case] value: Value,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let document = format!("{{\"id\": {number}}}");
    let server = Server::answering(answer("Content-Type: application/json\r\n", document.as_bytes())).await;
    let config = json!({ "conditions": [condition("json.id", operator, &value)] });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), expected);
}
