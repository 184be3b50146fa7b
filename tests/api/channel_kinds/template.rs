//! An arbitrary API, reached by a request that a member configured.

use serde_json::{Value, json};

use super::service::{Answer, Service, body_of, text_at};
use super::shape::{Shape, may, must};
use crate::support::sink::Received;

const BODY: Shape = Shape::Object(&[
    must(
        "what",
        Shape::OneOf(&[
            "channel.test",
            "incident.opened",
            "incident.acknowledged",
            "incident.updated",
            "incident.resolved",
        ]),
    ),
    must("title", Shape::Text(300)),
    must("text", Shape::Text(20_000)),
    must("key", Shape::Text(21)),
    may("services", Shape::List(50, &Shape::Text(300))),
]);
const TEMPLATE: &str = "{\"what\": {{ event|tojson }}, \"title\": {{ headline|tojson }}, \"text\": {{ text|tojson }}, \
    \"key\": {{ subject_id|tojson }}{% if incident %}, \"services\": [{% for one in incident.services %}\
    {% if not loop.first %}, {% endif %}{{ one.name|tojson }}{% endfor %}]{% endif %}}";

pub(super) const SERVICE: Service = Service {
    kind: "template",
    settings: |base| settings(base, "parole"),
    wrong: |base| settings(base, "another"),
    judge,
    read: |received| format!("{} {}", text_at(received, "/what"), text_at(received, "/key")),
};

fn settings(base: &str, key: &str) -> Value {
    json!({"url": format!("{base}/tickets?from=watchkeeper"), "method": "PUT", "headers": {"X-Api-Key": key}, "body": TEMPLATE})
}

fn judge(received: &Received) -> Answer {
    if received.line() != "PUT /tickets?from=watchkeeper" {
        return (404, "nothing here".into());
    }
    if received.header("x-api-key") != "parole" {
        return (403, "who are you?".into());
    }
    match body_of(received, &BODY) {
        Err(text) => (422, text),
        Ok(_) => (201, String::new()),
    }
}
