//! The Events API v2 of PagerDuty, simulated by a test server.

use serde_json::{Value, json};

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, may, must};
use crate::support::sink::Received;

const PAYLOAD: Shape = Shape::Object(&[
    must("summary", Shape::Text(1_024)),
    must("source", Shape::Text(1_024)),
    must("severity", Shape::OneOf(&["critical", "error", "warning", "info"])),
    must("timestamp", Shape::Time),
    // Free-form: an object of whatever helps.
    must("custom_details", Shape::AnyObject(100_000)),
]);
const BODY: Shape = Shape::Object(&[
    must("routing_key", Shape::Text(32)),
    must("event_action", Shape::OneOf(&["trigger", "acknowledge", "resolve"])),
    must("dedup_key", Shape::Text(255)),
    may("client", Shape::Text(255)),
    may("payload", PAYLOAD),
]);
const BODY_BYTES: usize = 512 * 1_024;
const KEY: &str = "parole0123456789parole0123456789";

pub(super) const SERVICE: Service = Service {
    kind: "pagerduty",
    settings: |base| json!({"routing_key": KEY, "base_url": base}),
    wrong: |base| json!({"routing_key": "another0123456789other0123456789", "base_url": base}),
    judge,
    read: |received| format!("{} {}", text_at(received, "/event_action"), text_at(received, "/dedup_key")),
};

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /v2/enqueue" {
        return (404, "Not Found".into());
    }
    if received.body.len() > BODY_BYTES {
        return (413, "Payload Too Large".into());
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(&text),
        Ok(body) if body["routing_key"] != KEY => refusal("'routing_key' is invalid"),
        Ok(body) if body["event_action"] == "trigger" && body["payload"].is_null() => {
            refusal("'payload' is missing")
        }
        Ok(body) => taken(&body),
    }
}

fn taken(body: &Value) -> Answer {
    let answer = json!({"status": "success", "message": "Event processed", "dedup_key": body["dedup_key"]});
    (202, answer.to_string())
}

fn refusal(text: &str) -> Answer {
    let answer = json!({"status": "invalid event", "message": "Event object is invalid", "errors": [text]});
    (400, answer.to_string())
}
