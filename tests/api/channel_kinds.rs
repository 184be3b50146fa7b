//! Every kind of channel against a server that is as strict as the service that it simulates: paths, secrets, members, lengths,
//! escapes; and what a delivery shows when such a service refuses.

mod discord;
mod gotify;
mod markup;
mod matrix;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod service;
mod shape;
mod slack;
mod teams;
mod telegram;
mod template;

use rstest::rstest;
use serde_json::{Value, json};

use self::service::Service;
use crate::incidents::{id_of, open_incident};
use crate::notification_channels::create_channel;
use crate::support::client::Client;
use crate::support::moments::ms_between;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Sink};
use crate::support::{create, eventually};

/// Texts with a meaning for services: mentions, markup, tags, entities, quotes, and marks that change the direction of a text.
const HOSTILE: &str = "<!channel> @everyone *b* _i_ ~s~ `c` <b>x</b> [a](https://evil.example) {{ x }} & &lt; \"q\" \\ # | 🚨 \u{202e}moc";

/// A text of the longest message that an incident takes, in lines.
fn long_text() -> String {
    format!("{HOSTILE}\n").repeat(100).chars().take(9_999).chain(['.']).collect()
}

fn add(client: &Client, service: &Service, settings: &Value) -> Value {
    let events = json!([
        "incident.opened",
        "incident.updated",
        "incident.acknowledged",
        "incident.reopened",
        "incident.resolved"
    ]);
    let body = json!({"kind": service.kind, "name": "Others", "settings": settings, "events": events});
    create_channel(client, &body)
}

/// Opens an incident full of hostile texts, takes it, changes it, and ends it; its id.
fn send_incident_messages(client: &Client) -> String {
    let services = (0..12).map(|number| {
        let name = format!("{number} {HOSTILE}");
        create(client, &json!({"name": name, "check_type": "http", "target": "http://127.0.0.1:9/"}))
    });
    let services: Vec<String> = services.collect();
    let incident = open_incident(
        client,
        &json!({"title": HOSTILE, "message": long_text(), "severity": "critical", "service_ids": services}),
    );
    let path = format!("/v1/incidents/{}", id_of(&incident));
    client.post(&format!("{path}/acknowledge"), &json!({})).expect(200);
    let update = json!({"status": "monitoring", "message": HOSTILE.repeat(50)});
    client.post(&format!("{path}/updates"), &update).expect(201);
    client.post(&format!("{path}/resolve"), &json!({"message": long_text()})).expect(200);
    id_of(&incident)
}

/// The messages of the client, oldest first, once none waits.
async fn ended(client: &Client, count: usize) -> Vec<Value> {
    eventually(&format!("{count} messages have ended"), || {
        let rows = client.get("/v1/notifications").expect(200).data();
        let rows = rows.as_array().unwrap();
        let is_over = rows.len() == count && rows.iter().all(|row| !row["ended_at"].is_null());
        is_over.then(|| rows.iter().rev().cloned().collect())
    })
    .await
}

/// The service accepts every message of an incident with hostile texts, and reads each as one message.
#[rstest]
#[case::slack(&slack::SERVICE, ["*Test of a n", "*&lt;!channel&gt; @e", "*Acknowledged: &lt;!", "*Update: &lt;!", "*Resolved: &lt;!"])]
#[case::discord(&discord::SERVICE, ["Test of a n", "\\<!channel\\> @e", "Acknowledged: \\<!", "Update: \\<!", "Resolved: \\<!"])]
#[case::teams(&teams::SERVICE, ["Test of a n", "<!channel> @e", "Acknowledged: <!", "Update: <!", "Resolved: <!"])]
#[case::telegram(&telegram::SERVICE, ["🔔 <b>Test", "🚨 <b>&lt;!channel&gt; @e", "🚨 <b>Acknowledged: &lt;!", "🚨 <b>Update: ", "✅ <b>Resolved: "])]
#[case::matrix(&matrix::SERVICE, ["Test of a n", "<!channel> @e", "Acknowledged: <!", "Update: <!", "Resolved: <!"])]
#[case::pagerduty(&pagerduty::SERVICE, ["trigger test", "trigger {id}", "acknowledge {id}", "trigger {id}", "resolve {id}"])]
#[case::opsgenie(&opsgenie::SERVICE, ["create test", "create {id}", "acknowledge {id}", "create {id}", "close {id}"])]
#[case::ntfy(&ntfy::SERVICE, ["Test of a n", "<!channel> @e", "Acknowledged: <!", "Update: <!", "Resolved: <!"])]
#[case::gotify(&gotify::SERVICE, ["Test of a n", "<!channel> @e", "Acknowledged: <!", "Update: <!", "Resolved: <!"])]
#[case::template(&template::SERVICE, ["channel.test test", "incident.opened {id}", "incident.acknowledged {id}", "incident.updated {id}", "incident.resolved {id}"])]
#[tokio::test]
async fn a_service_accepts_every_message_of_an_incident(
    #[case] service: &Service,
    #[case] expected: [&str; 5],
) {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Judge(service.judge));
    let channel = add(&client, service, &(service.settings)(&sink.base()));
    let tested = client.post(&format!("/v1/notification-channels/{}/test", id_of(&channel)), &json!({}));
    let tested = tested.expect(200).data();
    assert_eq!(tested["outcome"], "delivered", "{tested}");
    let incident = send_incident_messages(&client);
    for row in ended(&client, 4).await {
        assert_eq!(row["status"], "delivered", "{row}");
    }
    let received = sink.received();
    assert_eq!(received.len(), expected.len(), "each once");
    for (received, expected) in received.iter().zip(expected) {
        let (read, expected) = ((service.read)(received), expected.replace("{id}", &incident));
        assert!(read.starts_with(&expected), "{read}");
    }
}

/// A secret that the service does not know: the delivery shows the error of the service, not the secret.
#[rstest]
#[case::slack(&slack::SERVICE, 404, "dead", "no_service")]
#[case::discord(&discord::SERVICE, 401, "waiting", "Invalid Webhook Token")]
#[case::teams(&teams::SERVICE, 401, "waiting", "DirectApiAuthorizationRequired")]
#[case::telegram(&telegram::SERVICE, 401, "waiting", "Unauthorized")]
#[case::matrix(&matrix::SERVICE, 401, "waiting", "M_UNKNOWN_TOKEN")]
#[case::pagerduty(&pagerduty::SERVICE, 400, "dead", "'routing_key' is invalid")]
#[case::opsgenie(&opsgenie::SERVICE, 403, "waiting", "Could not authenticate")]
#[case::ntfy(&ntfy::SERVICE, 401, "waiting", "unauthorized")]
#[case::gotify(&gotify::SERVICE, 401, "waiting", "you need to provide a valid access token")]
#[case::template(&template::SERVICE, 403, "waiting", "who are you?")]
#[tokio::test]
async fn a_wrong_secret_shows_the_error_of_the_service(
    #[case] service: &Service,
    #[case] code: u16,
    #[case] status: &str,
    #[case] text: &str,
) {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Judge(service.judge));
    add(&client, service, &(service.wrong)(&sink.base()));
    open_incident(&client, &json!({}));
    let row = first_try(&client).await;
    assert_eq!((&row["status"], &row["tries"][0]["status_code"]), (&json!(status), &json!(code)), "{row}");
    assert!(row["tries"][0]["detail"].as_str().unwrap().contains(text), "{row}");
}

/// The only message of the client, once it has been tried.
async fn first_try(client: &Client) -> Value {
    eventually("a try", || {
        let row = client.get("/v1/notifications").expect(200).data()[0].clone();
        row["tries"].get(0).is_some().then_some(row)
    })
    .await
}

const RATE_LIMITED: &str =
    r#"{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}"#;
const TOO_MANY: &str = r#"{"ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 35}}"#;
const MIGRATED: &str = r#"{"ok": false, "error_code": 400, "description": "group chat was upgraded to a supergroup chat", "parameters": {"migrate_to_chat_id": -100124}}"#;
const FORM: &str =
    r#"{"message": "Invalid Form Body", "code": 50035, "errors": {"embeds": {"0": {"title": {}}}}}"#;
const GONE: &str = r#"{"message": "Unknown Webhook", "code": 10015}"#;
const INVALID: &str = r#"{"status": "invalid event", "message": "Event object is invalid", "errors": ["'payload.severity' is invalid"]}"#;
const LIMIT: &str =
    r#"{"errcode": "M_LIMIT_EXCEEDED", "error": "Too many requests", "retry_after_ms": 45000}"#;
const THROTTLED: &str = r#"{"error": {"code": "WorkflowTriggerIsThrottled"}}"#;

/// Responses of services that do not accept a message: the shown detail, and the minimum number of seconds until the next try.
#[rstest]
#[case(&slack::SERVICE, (400, "", "invalid_payload"), "dead", 0)]
#[case(&slack::SERVICE, (410, "", "channel_is_archived"), "dead", 0)]
#[case(&slack::SERVICE, (403, "", "action_prohibited"), "dead", 0)]
#[case(&slack::SERVICE, (429, "Retry-After: 30\r\n", "rate_limited"), "waiting", 30)]
#[case(&slack::SERVICE, (500, "", "rollup_error"), "waiting", 1)]
#[case(&discord::SERVICE, (400, "", FORM), "dead", 0)]
#[case(&discord::SERVICE, (404, "", GONE), "dead", 0)]
#[case(&discord::SERVICE, (429, "Retry-After: 65\r\n", RATE_LIMITED), "waiting", 65)]
#[case(&discord::SERVICE, (429, "", RATE_LIMITED), "waiting", 64)]
#[case(&teams::SERVICE, (429, "Retry-After: 20\r\n", THROTTLED), "waiting", 20)]
#[case(&teams::SERVICE, (404, "", r#"{"error": {"code": "WorkflowNotFound"}}"#), "waiting", 1)]
#[case(&teams::SERVICE, (413, "", ""), "dead", 0)]
#[case(&telegram::SERVICE, (429, "", TOO_MANY), "waiting", 35)]
#[case(&telegram::SERVICE, (400, "", MIGRATED), "dead", 0)]
#[case(&telegram::SERVICE, (403, "", r#"{"ok": false, "error_code": 403, "description": "Forbidden: bot was kicked"}"#), "dead", 0)]
#[case(&matrix::SERVICE, (429, "", LIMIT), "waiting", 45)]
#[case(&matrix::SERVICE, (403, "", r#"{"errcode": "M_FORBIDDEN", "error": "You are not in the room"}"#), "waiting", 1)]
#[case(&matrix::SERVICE, (413, "", r#"{"errcode": "M_TOO_LARGE", "error": "Too large"}"#), "dead", 0)]
#[case(&pagerduty::SERVICE, (400, "", INVALID), "dead", 0)]
#[case(&pagerduty::SERVICE, (429, "", ""), "waiting", 1)]
#[case(&opsgenie::SERVICE, (422, "", r#"{"message": "Request body is not processable.", "errors": {"message": "too long"}}"#), "dead", 0)]
#[case(&opsgenie::SERVICE, (429, "", r#"{"message": "You are making too many requests!"}"#), "waiting", 1)]
#[case(&ntfy::SERVICE, (429, "", r#"{"code": 42901, "http": 429, "error": "limit reached"}"#), "waiting", 1)]
#[case(&ntfy::SERVICE, (507, "", r#"{"code": 50701, "http": 507, "error": "cannot publish to UnifiedPush topic"}"#), "waiting", 1)]
#[case(&gotify::SERVICE, (400, "", r#"{"error": "Bad Request", "errorCode": 400}"#), "dead", 0)]
#[case(&gotify::SERVICE, (502, "", "<html>"), "waiting", 1)]
#[case(&template::SERVICE, (409, "", "busy"), "waiting", 1)]
#[tokio::test]
async fn the_response_of_a_service_decides_about_retries(
    #[case] service: &Service,
    #[case] (code, head, body): (u16, &'static str, &'static str),
    #[case] status: &str,
    #[case] wait_seconds: i64,
) {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Say(code, head, body));
    add(&client, service, &(service.settings)(&sink.base()));
    open_incident(&client, &json!({}));
    let row = first_try(&client).await;
    let attempt = &row["tries"][0];
    assert_eq!((&row["status"], &attempt["status_code"]), (&json!(status), &json!(code)), "{row}");
    assert_eq!(attempt["detail"], body, "{row}");
    match row["next_try_at"].as_str() {
        None => assert_eq!(wait_seconds, 0, "{row}"),
        Some(next) => {
            let (waited, took) =
                (ms_between(&attempt["at"], &json!(next)), attempt["took_ms"].as_i64().unwrap());
            let (least, most) = (wait_seconds * 1_000, wait_seconds * 1_000 + took + 3_000);
            assert!((least..most).contains(&waited), "{waited} {row}");
        }
    }
}

/// A home server that is sent a message again knows it by its transaction.
#[tokio::test]
async fn a_repeated_matrix_message_keeps_its_transaction_id() {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Say(502, "", ""));
    add(&client, &matrix::SERVICE, &(matrix::SERVICE.settings)(&sink.base()));
    open_incident(&client, &json!({}));
    first_try(&client).await;
    sink.behave(Conduct::Judge(matrix::SERVICE.judge));
    ended(&client, 1).await;
    let lines: Vec<String> = sink.received().iter().map(|received| received.line().to_owned()).collect();
    assert!(lines.len() > 1 && lines.iter().all(|line| *line == lines[0]), "{lines:?}");
}
