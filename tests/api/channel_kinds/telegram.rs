//! The Bot API of Telegram, simulated by a test server.

use serde_json::{Value, json};

use super::markup::html;
use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, may, must};
use crate::support::sink::Received;

/// 4,096 characters count after tags and entities have been read; ours stay below before.
const BODY: Shape = Shape::Object(&[
    must("chat_id", Shape::Text(64)),
    must("text", Shape::Markup(4_096, html)),
    must("parse_mode", Shape::OneOf(&["HTML"])),
    must("link_preview_options", Shape::Object(&[must("is_disabled", Shape::Flag)])),
    may("message_thread_id", Shape::Whole(1, i64::MAX)),
]);

pub(super) const SERVICE: Service = Service {
    kind: "telegram",
    settings: |base| settings(base, "12345:parole"),
    wrong: |base| settings(base, "12345:another"),
    judge,
    read: |received| text_at(received, "/text"),
};

fn settings(base: &str, token: &str) -> Value {
    json!({"bot_token": token, "chat_id": "-100123", "message_thread_id": "7", "base_url": base})
}

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /bot12345:parole/sendMessage" {
        return refusal(401, "Unauthorized");
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(400, &format!("Bad Request: can't parse entities: {text}")),
        Ok(body) if body["chat_id"] != "-100123" => refusal(400, "Bad Request: chat not found"),
        Ok(_) => (200, json!({"ok": true, "result": {"message_id": 1}}).to_string()),
    }
}

fn refusal(status: u16, text: &str) -> Answer {
    (status, json!({"ok": false, "error_code": status, "description": text}).to_string())
}
