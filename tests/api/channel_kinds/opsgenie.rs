//! The Alert API of Opsgenie, simulated by a test server.

use serde_json::json;

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, must};
use crate::support::sink::Received;

const ALERT: Shape = Shape::Object(&[
    must("message", Shape::Text(130)),
    must("alias", Shape::Text(512)),
    must("description", Shape::Text(15_000)),
    must("details", Shape::Texts(8_000)),
    must("entity", Shape::Text(512)),
    must("source", Shape::Text(100)),
    must("priority", Shape::OneOf(&["P1", "P2", "P3", "P4", "P5"])),
]);
const STEP: Shape = Shape::Object(&[must("source", Shape::Text(100)), must("note", Shape::Text(25_000))]);

pub(super) const SERVICE: Service = Service {
    kind: "opsgenie",
    settings: |base| json!({"api_key": "parole-of-genie", "base_url": base}),
    wrong: |base| json!({"api_key": "another-of-genie", "base_url": base}),
    judge,
    read,
};

/// Action and alias of a request.
fn read(received: &Received) -> String {
    match step_of(received) {
        Some((alias, step)) => format!("{step} {alias}"),
        None => format!("create {}", text_at(received, "/alias")),
    }
}

fn step_of(received: &Received) -> Option<(&str, &str)> {
    let path = received.line().strip_prefix("POST /v2/alerts/")?;
    path.strip_suffix("?identifierType=alias")?.split_once('/')
}

fn judge(received: &Received) -> Answer {
    if received.header("authorization") != "GenieKey parole-of-genie" {
        return (403, json!({"message": "Could not authenticate", "took": 0.001}).to_string());
    }
    let shape = match (received.line(), step_of(received)) {
        ("POST /v2/alerts", _) => ALERT,
        (_, Some((_, "acknowledge" | "close"))) => STEP,
        _ => return (404, json!({"message": "No such path"}).to_string()),
    };
    match body_of(received, &shape) {
        Err(text) => {
            let message = "Request body is not processable. Please check the errors.";
            (422, json!({"message": message, "errors": {"body": text}}).to_string())
        }
        Ok(_) => (202, json!({"result": "Request will be processed", "requestId": "7"}).to_string()),
    }
}
