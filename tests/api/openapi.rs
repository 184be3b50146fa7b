//! `/openapi.json`: the API described by itself, for everybody. That every answer is as described is seen by all other
//! tests: the client of `support` holds each one against this document.

use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::conformance::Document;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, service};

#[test]
fn the_document_is_public_and_names_this_server() {
    let server = Server::start();
    let stranger = server.client().without_token();
    let answer = stranger.get("/openapi.json").expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    let document = answer.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert_eq!(document["servers"], json!([{"url": server.base()}]));
    assert!(document["paths"]["/v1/services"]["get"].is_object());
    assert_eq!(stranger.send("HEAD", "/openapi.json", &[], b"").expect(200).body, "");
}

/// The command prints what the server serves, without starting one.
#[test]
fn the_command_prints_the_same_document() {
    let server = Server::start();
    let output = server.command(&["openapi", "--public-api-url", &server.base()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, server.client().get("/openapi.json").expect(200).json());
}

/// Generators make a type of each object, named by its path: `Notification.channel` and `NotificationChannel` are two.
#[test]
fn no_inline_object_collides_with_a_schema_name() {
    let document = Server::shared_client().without_token().get("/openapi.json").expect(200).json();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut same = Vec::new();
    for (name, schema) in schemas {
        for (member, shape) in schema["properties"].as_object().into_iter().flatten() {
            let words = member.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
            let called = format!("{name}{}", words.collect::<String>());
            if shape["type"] == "object" && schemas.contains_key(&called) {
                same.push(called);
            }
        }
    }
    assert_eq!(same, Vec::<String>::new());
    let channel = &document["components"]["schemas"]["Notification"]["properties"]["channel"];
    assert_eq!(channel["$ref"], "#/components/schemas/NotificationChannelRef");
    let about = document["info"]["description"].as_str().unwrap();
    assert!(
        about.contains("openapi-typescript") && about.contains("--default-non-nullable=false"),
        "{about}"
    );
}

/// Numbers on an address of their own are no part of what this address serves.
#[test]
fn unserved_paths_are_not_described() {
    let server = Server::with("", &[("WATCHKEEPER_METRICS_LISTEN", "127.0.0.1:0")]);
    let document = server.client().get("/openapi.json").expect(200).json();
    assert!(document["paths"].get("/metrics").is_none());
}

/// The same for people: the page loads no external resource and runs no script.
#[test]
fn the_reference_page_contains_no_scripts_or_external_resources() {
    let answer = Server::shared_client().without_token().get("/docs").expect(200);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for foreign in ["<script", "<link", "<img", "src=", "style=", "@import", "url("] {
        assert!(!answer.body.contains(foreign), "{foreign}");
    }
    for shown in
        ["id=\"create_service\"", "href=\"#schema-Service\"", "id=\"schema-Service\"", "services.create"]
    {
        assert!(answer.body.contains(shown), "{shown}");
    }
}

/// Contract 1.1: outside `/v1`, too, a wrong method gets the allowed ones.
#[test]
fn read_only_paths_refuse_other_methods() {
    let client = Server::shared_client().without_token();
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"] {
        let refused = client.send("POST", path, &[], b"").expect(405);
        assert_eq!(refused.header("allow"), Some("GET, HEAD"), "{path}");
        assert_eq!(refused.message(), "This method is not allowed here. Allowed: GET, HEAD.");
    }
}

fn described() -> Document {
    Document::new(Server::shared_client().get("/openapi.json").expect(200).json())
}

/// An answer that was right, changed by `spoil`, is found out.
fn is_found_out(spoil: impl FnOnce(&mut Answer)) -> String {
    let client = Server::shared_client();
    let path = service(&create_unconfigured(&client));
    let mut answer = client.get(&path).expect(200);
    assert_eq!(described().check("GET", &path, &answer), Ok(()));
    spoil(&mut answer);
    described().check("GET", &path, &answer).unwrap_err()
}

fn replace(answer: &mut Answer, key: &str, value: Value) {
    let mut body = answer.json();
    body["data"][key] = value;
    answer.body = body.to_string();
}

/// A check that cannot fail is worth nothing.
#[test]
fn a_response_that_violates_the_description_is_found() {
    let wrong_type = is_found_out(|answer| replace(answer, "is_paused", json!("no")));
    assert!(wrong_type.contains("/data/is_paused"), "{wrong_type}");
    let wrong_word = is_found_out(|answer| replace(answer, "status", json!("sleeping")));
    assert!(wrong_word.contains("/data/status"), "{wrong_word}");
    let wrong_time = is_found_out(|answer| replace(answer, "created_at", json!("2026-11-20T16:51:00Z")));
    assert!(wrong_time.contains("/data/created_at"), "{wrong_time}");
    let unknown = is_found_out(|answer| replace(answer, "novelty", json!(1)));
    assert!(unknown.contains("novelty"), "{unknown}");
    let missing = is_found_out(|answer| {
        let mut body = answer.json();
        body["data"].as_object_mut().unwrap().remove("heartbeat");
        answer.body = body.to_string();
    });
    assert!(missing.contains("heartbeat"), "{missing}");
    let status = is_found_out(|answer| answer.status = 418);
    assert!(status.contains("418"), "{status}");
    let header = is_found_out(|answer| answer.headers.retain(|(name, _)| name != "x-ratelimit-remaining"));
    assert!(header.contains("X-RateLimit-Remaining"), "{header}");
    let content = is_found_out(|answer| {
        answer.headers.retain(|(name, _)| name != "content-type");
        answer.headers.push(("content-type".into(), "text/html".into()));
    });
    assert!(content.contains("text/html"), "{content}");
}

/// The other way round: a description that does not fit finds out a right answer.
#[test]
fn a_wrong_description_is_found_by_a_correct_response() {
    let client = Server::shared_client();
    let mut document = client.get("/openapi.json").expect(200).json();
    let answer = client.get(&service(UNKNOWN_ID)).expect(404);
    let path = service(UNKNOWN_ID);
    assert_eq!(Document::new(document.clone()).check("GET", &path, &answer), Ok(()));
    document["components"]["schemas"]["Error"]["properties"]["message"]["maxLength"] = json!(3);
    assert!(Document::new(document).check("GET", &path, &answer).is_err());
}
