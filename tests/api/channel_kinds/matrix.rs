//! A home server of Matrix, simulated by a test server.

use serde_json::{Value, json};

use super::markup::html;
use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, must};
use crate::support::sink::Received;

const BODY: Shape = Shape::Object(&[
    must("msgtype", Shape::OneOf(&["m.text"])),
    must("body", Shape::Text(65_536)),
    must("format", Shape::OneOf(&["org.matrix.custom.html"])),
    must("formatted_body", Shape::Markup(65_536, html)),
    // Empty: nobody is mentioned, whatever the text contains.
    must("m.mentions", Shape::Object(&[])),
]);
/// An event as a whole; the server adds some hundred bytes of its own.
const EVENT_BYTES: usize = 65_536 - 1_024;
const PATH: &str = "PUT /_matrix/client/v3/rooms/%21room%3Aexample%2Eorg/send/m.room.message/";

pub(super) const SERVICE: Service = Service {
    kind: "matrix",
    settings: |base| settings(base, "syt_parole"),
    wrong: |base| settings(base, "syt_another"),
    judge,
    read: |received| text_at(received, "/body"),
};

fn settings(base: &str, token: &str) -> Value {
    json!({"homeserver": base, "room_id": "!room:example.org", "access_token": token})
}

fn judge(received: &Received) -> Answer {
    let Some(transaction) = received.line().strip_prefix(PATH) else {
        return refusal(404, "M_UNRECOGNIZED", "Unrecognized request");
    };
    if received.header("authorization") != "Bearer syt_parole" {
        return refusal(401, "M_UNKNOWN_TOKEN", "Unknown access token");
    }
    if received.body.len() > EVENT_BYTES {
        return refusal(413, "M_TOO_LARGE", "Event too large");
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(400, "M_BAD_JSON", &text),
        Ok(_) => (200, json!({"event_id": format!("${transaction}")}).to_string()),
    }
}

fn refusal(status: u16, code: &str, text: &str) -> Answer {
    (status, json!({"errcode": code, "error": text}).to_string())
}
