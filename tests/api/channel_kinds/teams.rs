//! A workflow of Microsoft Teams that posts cards, simulated by a test server.

use serde_json::json;

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, may, must};
use crate::support::sink::Received;

/// A `TextRun` knows no Markdown, so its text needs no escapes.
const RUN: Shape = Shape::Object(&[
    must("type", Shape::OneOf(&["TextRun"])),
    must("text", Shape::Text(10_000)),
    may("weight", Shape::OneOf(&["lighter", "default", "bolder"])),
    may("size", Shape::OneOf(&["small", "default", "medium", "large", "extraLarge"])),
    may("color", Shape::OneOf(&["default", "dark", "light", "accent", "good", "warning", "attention"])),
]);
const BLOCK: Shape =
    Shape::Object(&[must("type", Shape::OneOf(&["RichTextBlock"])), must("inlines", Shape::List(100, &RUN))]);
const CARD: Shape = Shape::Object(&[
    must("$schema", Shape::OneOf(&["http://adaptivecards.io/schemas/adaptive-card.json"])),
    must("type", Shape::OneOf(&["AdaptiveCard"])),
    // Teams shows nothing newer on phones.
    must("version", Shape::OneOf(&["1.2", "1.3", "1.4"])),
    may("msteams", Shape::Object(&[must("width", Shape::OneOf(&["Full"]))])),
    must("body", Shape::List(1_000, &BLOCK)),
]);
const ATTACHMENT: Shape = Shape::Object(&[
    must("contentType", Shape::OneOf(&["application/vnd.microsoft.card.adaptive"])),
    must("contentUrl", Shape::Null),
    must("content", CARD),
]);
const BODY: Shape = Shape::Object(&[
    must("type", Shape::OneOf(&["message"])),
    must("attachments", Shape::List(1, &ATTACHMENT)),
]);
const MESSAGE_BYTES: usize = 28 * 1_024;
const PATH: &str = "POST /workflows/7/triggers/manual/paths/invoke?api-version=2016-06-01&sig=";

pub(super) const SERVICE: Service = Service {
    kind: "teams",
    settings: |base| json!({"url": address(base, "parole")}),
    wrong: |base| json!({"url": address(base, "another")}),
    judge,
    read: |received| text_at(received, "/attachments/0/content/body/0/inlines/0/text"),
};

fn address(base: &str, signature: &str) -> String {
    format!("{base}{}{signature}", PATH.trim_start_matches("POST "))
}

fn judge(received: &Received) -> Answer {
    if received.line() != format!("{PATH}parole") {
        let error = json!({"code": "DirectApiAuthorizationRequired", "message": "The signature is wrong."});
        return (401, json!({"error": error}).to_string());
    }
    if received.body.len() > MESSAGE_BYTES {
        return (413, json!({"error": {"code": "RequestEntityTooLarge", "message": "28 KB"}}).to_string());
    }
    match body_of(received, &BODY) {
        Err(text) => {
            let error = json!({"code": "TriggerInputSchemaMismatch", "message": text});
            (400, json!({"error": error}).to_string())
        }
        Ok(_) => (202, String::new()),
    }
}
