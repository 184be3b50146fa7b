//! A server of Gotify, simulated by a test server.

use serde_json::json;

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, must};
use crate::support::sink::Received;

/// Anything but plain text could be Markdown in the client.
const DISPLAY: Shape = Shape::Object(&[must("contentType", Shape::OneOf(&["text/plain"]))]);
const BODY: Shape = Shape::Object(&[
    must("title", Shape::Text(250)),
    must("message", Shape::Text(20_000)),
    must("priority", Shape::Whole(0, 10)),
    must("extras", Shape::Object(&[must("client::display", DISPLAY)])),
]);

pub(super) const SERVICE: Service = Service {
    kind: "gotify",
    settings: |base| json!({"server": format!("{base}/push/"), "app_token": "Aparole"}),
    wrong: |base| json!({"server": format!("{base}/push/"), "app_token": "Aanother"}),
    judge,
    read: |received| text_at(received, "/title"),
};

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /push/message" {
        return refusal(404, "Not Found", "page not found");
    }
    if received.header("x-gotify-key") != "Aparole" {
        return refusal(401, "Unauthorized", "you need to provide a valid access token");
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(400, "Bad Request", &text),
        Ok(_) => (200, json!({"id": 7, "appid": 1}).to_string()),
    }
}

fn refusal(status: u16, error: &str, text: &str) -> Answer {
    (status, json!({"error": error, "errorCode": status, "errorDescription": text}).to_string())
}
