//! The rules of HTTP itself (contract 1.1-1.3, 1.12): paths, methods, bodies, headers of every answer.

use rstest::rstest;
use serde_json::json;

use crate::support::client::exchange;
use crate::support::server::Server;
use crate::support::{create_unconfigured, service};

/// Contract 1.12, 1.9, 1.2: on every answer below `/v1`, whatever its status.
#[rstest]
#[case("GET", "/v1/services", "", 200)]
#[case("HEAD", "/v1/services", "", 200)]
#[case("OPTIONS", "/v1/services", "", 200)]
#[case("POST", "/v1/services", "{\"name\": \"x\", \"check_type\": \"manual\"}", 201)]
#[case("POST", "/v1/services", "{", 400)]
#[case("GET", "/v1/nowhere", "", 404)]
#[case("DELETE", "/v1/services", "", 405)]
#[case("POST", "/v1/services", "{}", 422)]
#[case("TRACE", "/v1/services", "", 405)]
fn every_answer_carries_the_common_headers(
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] status: u16,
) {
    let client = Server::shared_client();
    let answer = client.send(method, path, &[], body.as_bytes()).expect(status);
    for (name, value) in [
        ("content-type", "application/json; charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-ratelimit-limit", "1000000"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    for name in ["x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"] {
        assert!(answer.header(name).is_some(), "{name}");
    }
    assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")));
    if method != "HEAD" && status >= 400 {
        assert_eq!(answer.json()["request_id"].as_str(), answer.header("x-request-id"));
    }
}

/// Contract 1.12: a client's request id of 1 to 64 visible characters is taken over.
#[rstest]
#[case("abc-123", true)]
#[case("a b", false)]
#[case("", false)]
fn a_client_request_id_is_used(#[case] sent: &str, #[case] taken: bool) {
    let client = Server::shared_client();
    let answer = client.send("GET", "/v1/me", &[&format!("X-Request-Id: {sent}")], b"");
    assert_eq!(answer.header("x-request-id") == Some(sent), taken);
    let long = "x".repeat(65);
    let answer = client.send("GET", "/v1/me", &[&format!("X-Request-Id: {long}")], b"");
    assert_ne!(answer.header("x-request-id"), Some(&*long));
}

/// Contract 1.1: one trailing slash is removed, two are not; case counts; segments are decoded once.
#[rstest]
#[case("/v1/services/", 200)]
#[case("/v1/services//", 404)]
#[case("//v1/services", 404)]
#[case("/v1/Services", 404)]
#[case("/V1/services", 404)]
#[case("/v1/ser%76ices", 200)]
#[case("/v1/ser%2576ices", 404)]
#[case("/v1", 404)]
#[case("/v1/", 404)]
#[case("/v2/services", 404)]
#[case("/index.html", 404)]
fn paths_are_taken_literally(#[case] path: &str, #[case] status: u16) {
    let answer = Server::shared_client().get(path).expect(status);
    if status == 404 {
        assert_eq!(answer.message(), "The requested resource does not exist.");
    }
}

/// Contract 1.1: outside `/v1` an unknown path is 404 without a token; inside a token is needed.
#[test]
fn unknown_paths_are_404_outside_of_v1_and_401_inside() {
    let stranger = Server::shared_client().without_token();
    for (path, status) in [("/v2/services", 404), ("/v1x", 404), ("/v1/nowhere", 401), ("/v1", 401)] {
        stranger.get(path).expect(status);
    }
}

/// Contract 1.1: HEAD is GET without the body.
#[rstest]
#[case("/v1/services?per_page=1", 200)]
#[case("/v1/me", 200)]
#[case("/v1/nowhere", 404)]
fn head_is_get_without_the_body(#[case] path: &str, #[case] status: u16) {
    let client = Server::shared_client();
    let head = client.send("HEAD", path, &[], b"").expect(status);
    let get = client.get(path).expect(status);
    assert_eq!(head.body, "");
    for name in ["content-type", "cache-control", "x-ratelimit-limit"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
}

/// Contract 1.1: OPTIONS lists the methods without a token; 405 lists them with one.
#[rstest]
#[case("/v1/services", "GET, HEAD, POST", "PATCH")]
#[case("/v1/services/x", "GET, HEAD, PUT, PATCH, DELETE", "POST")]
#[case("/v1/services/x/pause", "POST", "GET")]
#[case("/v1/services/x/status-override", "POST, DELETE", "PUT")]
#[case("/v1/probes/", "GET, HEAD", "POST")]
fn allowed_methods_are_listed(#[case] path: &str, #[case] allowed: &str, #[case] wrong: &str) {
    let client = Server::shared_client();
    let options = client.without_token().send("OPTIONS", path, &[], b"").expect(200);
    assert_eq!(options.header("allow"), Some(allowed));
    let methods: Vec<&str> = allowed.split(", ").collect();
    assert_eq!(options.json(), json!({"data": {"methods": methods}}));
    let refused = client.send(wrong, path, &[], b"").expect(405);
    assert_eq!(refused.header("allow"), Some(allowed));
    assert_eq!(refused.message(), format!("This method is not allowed here. Allowed: {allowed}."));
    client.without_token().send("OPTIONS", "/v1/nowhere", &[], b"").expect(404);
}

const JSON: &str = "The request body is not valid JSON.";
const OBJECT: &str = "The request body must be a JSON object.";
const CONTENT_TYPE: &str = "Send the request body as application/json.";

/// Contract 1.2: what cannot be read is 400 with one of three texts.
#[rstest]
#[case::truncated("application/json", b"{\"name\":", JSON)]
#[case::empty("application/json", b" ", JSON)]
#[case::no_utf8("application/json", b"{\"name\": \"\xff\"}", JSON)]
#[case::trailing("application/json", b"{} {}", JSON)]
#[case::list("application/json", b"[]", OBJECT)]
#[case::string("application/json", b"\"x\"", OBJECT)]
#[case::null("application/json", b"null", OBJECT)]
#[case::form("application/x-www-form-urlencoded", b"name=x", CONTENT_TYPE)]
#[case::text("text/plain", b"{}", CONTENT_TYPE)]
#[case::charset("application/json; charset=latin1", b"{}", CONTENT_TYPE)]
#[case::encoding("application/json\r\nContent-Encoding: gzip", b"{}", CONTENT_TYPE)]
fn a_body_that_cannot_be_read_is_refused(
    #[case] content_type: &str,
    #[case] body: &[u8],
    #[case] text: &str,
) {
    let client = Server::shared_client();
    let line = format!("Content-Type: {content_type}");
    let refused = client.send("POST", "/v1/services", &[&line], body).expect(400);
    assert_eq!(refused.message(), text);
}

/// Contract 1.2: content types that are read; none is read as JSON; the last of repeated keys counts.
#[rstest]
#[case(&["Content-Type: application/json"])]
#[case(&["Content-Type: APPLICATION/JSON; Charset=\"UTF-8\""])]
#[case(&["Content-Type: application/vnd.api+json"])]
#[case(&[])]
fn a_body_of_a_json_type_is_read(#[case] lines: &[&str]) {
    let body = br#"{"name": "first", "check_type": "manual", "name": "last"}"#;
    let made = Server::shared_client().send("POST", "/v1/services", lines, body).expect(201);
    assert_eq!(made.data()["name"], "last");
}

/// Contract 1.2: nesting deeper than 32 is refused.
#[rstest]
#[case(31, 201)]
#[case(32, 400)]
#[case(100_000, 400)]
fn nesting_has_a_limit(#[case] lists: usize, #[case] status: u16) {
    let body = format!(
        r#"{{"name": "x", "check_type": "manual", "x": {}{}}}"#,
        "[".repeat(lists),
        "]".repeat(lists)
    );
    Server::shared_client().post_text(&body).expect(status);
}

/// Contract 1.2: 1 MiB is read, one byte more is not.
#[rstest]
#[case(1_048_576, 201)]
#[case(1_048_577, 413)]
fn bodies_have_a_limit(#[case] size: usize, #[case] status: u16) {
    let start = r#"{"name": "x", "check_type": "manual", "x": ""#;
    let body = format!("{start}{}\"}}", "x".repeat(size - start.len() - 2));
    assert_eq!(body.len(), size);
    let answer = Server::shared_client().post_text(&body).expect(status);
    if status == 413 {
        assert_eq!(answer.message(), "The request body is too large.");
        assert!(answer.header("x-ratelimit-remaining").is_some());
    }
}

/// Contract 1.2: a body on GET and DELETE is ignored.
#[test]
fn an_unexpected_body_is_ignored() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    client.send("GET", &service(&id), &["Content-Type: text/plain"], b"not json").expect(200);
    client.send("DELETE", &service(&id), &["Content-Type: text/plain"], b"not json").expect(200);
}

/// Contract 1.1: links start with the configured address, never with `Host`.
#[test]
fn links_do_not_follow_the_host_header() {
    let server = Server::shared();
    let client = server.client();
    let token = client.token.clone().unwrap();
    let request = format!(
        "GET /v1/services HTTP/1.1\r\nHost: evil.example\r\nForwarded: host=evil.example\r\n\
         X-Forwarded-Host: evil.example\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let answer = exchange(client.address, request.as_bytes()).expect(200);
    assert!(!answer.body.contains("evil"), "{}", answer.body);
    assert_eq!(answer.json()["meta"]["path"], format!("{}/v1/services", server.base()));
}

/// Contract 1.1: the configured address may contain a path; every link begins with it.
#[test]
fn links_start_with_the_configured_address() {
    let server = Server::behind("https://api.example.com/base/");
    let client = server.client();
    let made = client.post("/v1/services", &json!({"name": "x", "check_type": "manual"})).expect(201);
    let services = "https://api.example.com/base/v1/services";
    let id = made.data()["id"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), Some(&*format!("{services}/{id}")));
    let list = client.get("/v1/services").expect(200).json();
    assert_eq!(
        (&list["meta"]["path"], &list["links"]["first"]),
        (&json!(services), &json!(format!("{services}?page=1")))
    );
}
