//! Secrets of a service (contract 4.3.5): masked in answers, kept by the placeholder, sealed at rest, sent in clear.
//!
//! Whether a stored secret is still the same is seen where it matters: at the target.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{KEEP, create_unconfigured, create_watched, eventually, service, until_checks};

/// A stored configuration with headers and credentials.
fn stored(auth: &Value) -> Value {
    let headers = json!({"X-Api-Key": "old-key", "X-Old": "old-value"});
    json!({"interval_seconds": 604_800, "retries": 0, "config": {"headers": headers, "auth": auth}})
}

fn bearer() -> Value {
    json!({"type": "bearer", "token": "old-token"})
}

fn config_of(client: &Client, id: &str) -> Value {
    client.get(&service(id)).expect(200).data()["settings"]["config"].clone()
}

/// Contract 4.3.5: every secret leaf shows as the placeholder, an empty string too; other values in clear.
#[rstest]
#[case(bearer(), json!({"type": "bearer", "token": KEEP}))]
#[case(json!({"type": "basic", "username": "joe", "password": ""}), json!({"type": "basic", "username": "joe", "password": KEEP}))]
#[case(json!({"type": "api_key", "header": "X-Key", "value": "v"}), json!({"type": "api_key", "header": "X-Key", "value": KEEP}))]
#[case(json!({"type": "none"}), json!({"type": "none"}))]
#[case(Value::Null, json!({"type": "none"}))]
fn secrets_show_as_the_placeholder(#[case] auth: Value, #[case] shown: Value) {
    let client = Server::shared_client();
    let id = create_watched(&client, "http://127.0.0.1:9/", &stored(&auth));
    let config = config_of(&client, &id);
    assert_eq!(config["headers"], json!({"X-Api-Key": KEEP, "X-Old": KEEP}));
    assert_eq!(config["auth"], shown);
}

/// Contract 4.3.5, the table of cases that keep or replace: what the target then receives.
#[rstest]
#[case::other_spelling(bearer(), json!({"headers": {"x-api-key": KEEP}}), &["x-api-key: old-key", "authorization: bearer old-token"], &["old-value"])]
#[case::new_value(bearer(), json!({"headers": {"X-Api-Key": "new-key", "X-Old": KEEP}}), &["x-api-key: new-key", "x-old: old-value"], &["old-key"])]
#[case::headers_absent(bearer(), json!({"method": "GET"}), &["x-api-key: old-key", "x-old: old-value", "bearer old-token"], &[])]
#[case::headers_null(bearer(), json!({"headers": null}), &["bearer old-token"], &["old-key", "old-value"])]
#[case::headers_empty(bearer(), json!({"headers": {}}), &["bearer old-token"], &["old-key", "old-value"])]
#[case::token_kept(bearer(), json!({"auth": {"type": "bearer", "token": KEEP}}), &["authorization: bearer old-token"], &[])]
#[case::new_username(json!({"type": "basic", "username": "joe", "password": "pw"}), json!({"auth": {"type": "basic", "username": "ann", "password": KEEP}}), &["authorization: basic yw5uonb3"], &[])]
#[case::new_header(json!({"type": "api_key", "header": "X-K1", "value": "api-value"}), json!({"auth": {"type": "api_key", "header": "X-K2", "value": KEEP}}), &["x-k2: api-value"], &["x-k1"])]
#[case::none(bearer(), json!({"auth": {"type": "none"}}), &["x-old: old-value"], &["authorization"])]
#[case::auth_null(bearer(), json!({"auth": null}), &["x-old: old-value"], &["authorization"])]
#[case::ordinary_text(bearer(), json!({"headers": {"X-A": format!("Bearer {KEEP}")}}), &["x-a: bearer __service_keep_unchanged__"], &[])]
#[case::other_case(bearer(), json!({"headers": {"X-A": KEEP.to_lowercase()}}), &["x-a: __service_keep_unchanged__"], &[])]
#[tokio::test]
async fn a_kept_secret_is_sent_to_the_target(
    #[case] auth: Value,
    #[case] config: Value,
    #[case] there: &[&str],
    #[case] gone: &[&str],
) {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, "http://127.0.0.1:9/", &stored(&auth));
    let body = json!({"target": target.url(), "settings": {"config": config}});
    client.patch(&service(&id), &body).expect(200);
    // Pausing and resuming starts a check at once.
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    client.post(&format!("{}/resume", service(&id)), &json!({})).expect(200);
    let head = eventually("the target is visited", || target.requests().pop()).await.to_lowercase();
    for text in there {
        assert!(head.contains(text), "{text}: {head}");
    }
    for text in gone {
        assert!(!head.contains(text), "{text}: {head}");
    }
}

/// Contract 4.3.5, the table of cases that are refused; nothing is stored.
#[rstest]
#[case(bearer(), json!({"headers": {"X-New": KEEP}}), "headers.X-New", "There is no stored value to keep for this field.")]
#[case(bearer(), json!({"headers": {"X-Api-Key": KEEP, "x-api-key": KEEP}}), "headers.x-api-key", "This header is given twice.")]
#[case(bearer(), json!({"auth": {"type": "basic", "username": "joe", "password": KEEP}}), "auth.password", "There is no stored value to keep for this field.")]
#[case(bearer(), json!({"auth": {"type": "bearer"}}), "auth.token", "This field is required.")]
#[case(json!({"type": "none"}), json!({"auth": {"type": "bearer", "token": KEEP}}), "auth.token", "There is no stored value to keep for this field.")]
#[case(bearer(), json!({"body": KEEP}), "body", "The keep placeholder is only allowed for secret values.")]
#[case(bearer(), json!({"auth": {"type": "basic", "username": KEEP, "password": "x"}}), "auth.username", "The keep placeholder is only allowed for secret values.")]
#[case(bearer(), json!({"auth": {"type": "api_key", "header": KEEP, "value": "x"}}), "auth.header", "The keep placeholder is only allowed for secret values.")]
#[case(bearer(), json!({"conditions": [{"field": "body", "operator": "contains", "value": KEEP, "status": "down"}]}), "conditions.0.value", "The keep placeholder is only allowed for secret values.")]
fn a_placeholder_without_a_secret_is_refused(
    #[case] auth: Value,
    #[case] config: Value,
    #[case] key: &str,
    #[case] text: &str,
) {
    let client = Server::shared_client();
    let id = create_watched(&client, "http://127.0.0.1:9/", &stored(&auth));
    let before = config_of(&client, &id);
    let answer = client.patch(&service(&id), &json!({"name": "Never", "settings": {"config": config}}));
    assert_eq!(answer.errors(), [(format!("settings.config.{key}"), text.to_owned())]);
    assert_eq!(config_of(&client, &id), before);
}

/// Contract 4.3.5: on create, or on a service without settings, there is nothing to keep.
#[test]
fn a_placeholder_on_a_new_service_is_refused() {
    let client = Server::shared_client();
    let config = json!({"headers": {"X-A": KEEP}, "auth": {"type": "bearer", "token": KEEP}});
    let settings = json!({"interval_seconds": 60, "config": config});
    let text = "There is no stored value to keep for this field.".to_owned();
    let expected = [
        ("settings.config.headers.X-A".to_owned(), text.clone()),
        ("settings.config.auth.token".to_owned(), text),
    ];
    let body = json!({"name": "x", "check_type": "http", "target": "http://x/", "settings": settings});
    assert_eq!(client.post("/v1/services", &body).errors(), expected);
    let id = create_unconfigured(&client);
    assert_eq!(client.patch(&service(&id), &json!({"settings": settings})).errors(), expected);
}

/// Contract 4.3.5: a configuration that is read and sent back unchanged changes nothing.
#[test]
fn sending_settings_back_unchanged_changes_nothing() {
    let client = Server::shared_client();
    let id = create_watched(&client, "http://127.0.0.1:9/", &stored(&bearer()));
    let before = client.get(&service(&id)).expect(200);
    let sent_back = json!({"settings": before.data()["settings"]});
    client.patch(&service(&id), &sent_back).expect(200);
    let after = client.get(&service(&id)).expect(200).data();
    assert_eq!(
        (&after["settings"], &after["updated_at"]),
        (&before.data()["settings"], &before.data()["updated_at"])
    );
}

/// Contract 4.3.5: in clear only on the wire to the target: not in files, not in the log, not in answers.
#[tokio::test]
async fn a_secret_is_in_clear_only_at_the_target() {
    const MARKER: &str = "hunter2-the-marker-secret";
    let target = Target::start();
    let server = Server::with("", &[("WATCHKEEPER_LOG", "trace")]);
    let client = server.client();
    let config = json!({"headers": {"X-Marker": format!("{MARKER}-header")},
        "auth": {"type": "bearer", "token": format!("{MARKER}-token")}});
    let settings = json!({"interval_seconds": 1, "config": config});
    let id = create_watched(&client, &target.url(), &settings);
    until_checks(&client, &id, 2).await;
    let head = target.requests().remove(0);
    assert!(
        head.contains(&format!("{MARKER}-header")) && head.contains(&format!("{MARKER}-token")),
        "{head}"
    );
    // A refusal of a body that holds secrets does not repeat them.
    let wrong = json!({"settings": {"config": {"headers": {"X-A": format!("{MARKER}\n")},
        "auth": {"type": "bearer", "token": MARKER, "x": MARKER}}}});
    let mut answers = vec![client.patch(&service(&id), &wrong).expect(422).body];
    for path in ["", "/checks"] {
        answers.push(client.get(&format!("{}{path}", service(&id))).expect(200).body);
    }
    let refused = client.send("POST", "/v1/services", &[], format!("{{\"name\": \"{MARKER}").as_bytes());
    answers.push(refused.expect(400).body);
    for answer in answers {
        assert!(!answer.contains(MARKER), "{answer}");
    }
    let shows = |bytes: &[u8]| bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
    for path in server.files() {
        assert!(!shows(&std::fs::read(&path).unwrap()), "{}", path.display());
    }
    let log = server.log();
    let line = log.lines().find(|line| line.contains(MARKER));
    assert!(line.is_none(), "the log shows the secret: {line:?}");
}
