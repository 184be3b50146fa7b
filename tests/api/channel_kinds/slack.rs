//! Slack's incoming webhooks, simulated by a test server.

use serde_json::json;

use super::markup::mrkdwn;
use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, may, must};
use crate::support::sink::Received;

const TEXT: Shape =
    Shape::Object(&[must("type", Shape::OneOf(&["mrkdwn"])), must("text", Shape::Markup(3_000, mrkdwn))]);
const FIELD: Shape =
    Shape::Object(&[must("type", Shape::OneOf(&["mrkdwn"])), must("text", Shape::Markup(2_000, mrkdwn))]);
const BLOCK: Shape = Shape::Object(&[
    must("type", Shape::OneOf(&["section"])),
    may("text", TEXT),
    may("fields", Shape::List(10, &FIELD)),
]);
const ATTACHMENT: Shape =
    Shape::Object(&[must("color", Shape::Text(7)), must("blocks", Shape::List(50, &BLOCK))]);
const BODY: Shape = Shape::Object(&[
    must("text", Shape::Markup(40_000, mrkdwn)),
    must("attachments", Shape::List(20, &ATTACHMENT)),
]);
/// Slack refuses blocks that together are longer, with `msg_blocks_too_long`.
const BLOCKS_LENGTH: usize = 13_000;

pub(super) const SERVICE: Service = Service {
    kind: "slack",
    settings: |base| json!({"url": format!("{base}/services/T0/B0/parole")}),
    wrong: |base| json!({"url": format!("{base}/services/T0/B0/another")}),
    judge,
    read: |received| text_at(received, "/text"),
};

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /services/T0/B0/parole" {
        return (404, "no_service".into());
    }
    match body_of(received, &BODY) {
        Err(_) => (400, "invalid_payload".into()),
        Ok(body) if body["attachments"].to_string().len() > BLOCKS_LENGTH * 4 => {
            (400, "msg_blocks_too_long".into())
        }
        Ok(_) => (200, "ok".into()),
    }
}
