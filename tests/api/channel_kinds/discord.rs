//! Discord's webhooks, simulated by a test server.

use serde_json::{Value, json};

use super::markup::markdown;
use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, must};
use crate::support::sink::Received;

const FIELD: Shape = Shape::Object(&[
    must("name", Shape::Text(256)),
    must("value", Shape::Markup(1_024, markdown)),
    must("inline", Shape::Flag),
]);
const EMBED: Shape = Shape::Object(&[
    must("title", Shape::Markup(256, markdown)),
    must("description", Shape::Markup(4_096, markdown)),
    must("color", Shape::Whole(0, 0xff_ff_ff)),
    must("fields", Shape::List(25, &FIELD)),
    must("timestamp", Shape::Time),
    must("footer", Shape::Object(&[must("text", Shape::Text(2_048))])),
]);
/// Without `allowed_mentions`, or with anything in it, texts mention people.
const BODY: Shape = Shape::Object(&[
    must("embeds", Shape::List(10, &EMBED)),
    must("allowed_mentions", Shape::Object(&[must("parse", Shape::List(0, &Shape::Null))])),
]);
const EMBED_LENGTH: usize = 6_000;

pub(super) const SERVICE: Service = Service {
    kind: "discord",
    settings: |base| json!({"url": format!("{base}/api/webhooks/7/parole")}),
    wrong: |base| json!({"url": format!("{base}/api/webhooks/7/another")}),
    judge,
    read: |received| text_at(received, "/embeds/0/title"),
};

fn judge(received: &Received) -> Answer {
    if received.line() != "POST /api/webhooks/7/parole" {
        return (401, json!({"message": "Invalid Webhook Token", "code": 50_027}).to_string());
    }
    match body_of(received, &BODY) {
        Err(text) => refusal(&text),
        Ok(body) if length_of(&body["embeds"][0]) > EMBED_LENGTH => {
            refusal("Embed size exceeds maximum size of 6000")
        }
        Ok(_) => (204, String::new()),
    }
}

fn refusal(text: &str) -> Answer {
    let errors = json!({"embeds": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": text}]}});
    (400, json!({"message": "Invalid Form Body", "code": 50_035, "errors": errors}).to_string())
}

/// Characters of title, description, fields and footer.
fn length_of(embed: &Value) -> usize {
    let length = |value: &Value| value.as_str().map_or(0, |text| text.encode_utf16().count());
    let fields = embed["fields"].as_array().unwrap().iter();
    let of_fields: usize = fields.map(|field| length(&field["name"]) + length(&field["value"])).sum();
    length(&embed["title"]) + length(&embed["description"]) + length(&embed["footer"]["text"]) + of_fields
}
