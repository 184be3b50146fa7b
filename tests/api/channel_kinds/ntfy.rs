//! A server of ntfy, simulated by a test server.

use serde_json::json;

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, must};
use crate::support::sink::Received;

const BODY: Shape = Shape::Object(&[
    must("topic", Shape::OneOf(&["ops"])),
    must("title", Shape::Text(250)),
    must("message", Shape::Text(4_096)),
    must("priority", Shape::Whole(1, 5)),
    must("tags", Shape::List(5, &Shape::Text(50))),
]);
/// A longer message becomes a file that has to be downloaded.
const MESSAGE_BYTES: usize = 4_096;

pub(super) const SERVICE: Service = Service {
    kind: "ntfy",
    settings: |base| json!({"topic": "ops", "token": "tk_parole", "base_url": base}),
    wrong: |base| json!({"topic": "ops", "token": "tk_another", "base_url": base}),
    judge,
    read: |received| text_at(received, "/title"),
};

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /" {
        return refusal(404, 40_401, "page not found");
    }
    if received.header("authorization") != "Bearer tk_parole" {
        return refusal(401, 40_101, "unauthorized");
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(400, 40_024, &format!("invalid request: {text}")),
        Ok(body) if body["message"].as_str().unwrap().len() > MESSAGE_BYTES => {
            refusal(413, 41_301, "attachment too large, or bandwidth limit reached")
        }
        Ok(_) => (200, json!({"id": "7", "event": "message", "topic": "ops"}).to_string()),
    }
}

fn refusal(status: u16, code: u32, text: &str) -> Answer {
    (status, json!({"code": code, "http": status, "error": text}).to_string())
}
