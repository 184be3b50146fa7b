//! Sample messages with which a template is filled before it is stored: one of each kind, and the longest one.
//!
//! The samples have the form of stored deliveries, so fields that are added to messages later are missing here, as in old
//! messages. A test ensures that all of them can be read.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::model::notification::message::{NotificationMessage, SERVICES_MAX};

/// A test, the start of an incident, its end, the longest message, a notice, and a digest.
pub(super) static SAMPLES: LazyLock<Vec<NotificationMessage>> = LazyLock::new(|| {
    let longest = incident(&json!("🚨".repeat(255)), &json!("🚨".repeat(10_000)), SERVICES_MAX, None);
    let (title, text) = (json!("Payments fail"), json!("No answer."));
    let resolved_at = Some("resolved");
    [
        ("channel.test", json!("test")),
        ("incident.opened", incident(&title, &text, 1, None)),
        ("incident.resolved", incident(&title, &text, 1, resolved_at)),
        ("incident.updated", longest),
        ("certificate.expiring", notice()),
        ("digest", digest()),
    ]
    .into_iter()
    .filter_map(|(event, subject)| {
        let stored = json!({"event": event, "at": 0, "organisation": "Acme", "subject": subject});
        serde_json::from_value(stored).ok()
    })
    .collect()
});

const ID: &str = "rNSJxMbDTX2uHc08AiCqo";

fn incident(title: &Value, text: &Value, services: usize, resolved: Option<&str>) -> Value {
    let service =
        json!({"id": ID, "name": title, "impact": "major_outage", "is_recovered": resolved.is_some()});
    json!({"incident": {
        "id": ID,
        "title": title,
        "status": resolved.unwrap_or("investigating"),
        "severity": "critical",
        "started_at": 0,
        "resolved_at": resolved.map(|_| 60_000),
        "text": text,
        "acknowledged_by": resolved.map(|_| "Ada"),
        "services": vec![service; services],
        "services_count": services,
    }})
}

fn notice() -> Value {
    json!({"notice": {
        "id": ID,
        "title": "A certificate ends",
        "text": "Tomorrow.",
        "severity": "minor",
        "is_over": false,
    }})
}

fn digest() -> Value {
    let entry = json!({"id": ID, "event": "incident.opened", "subject": ID, "headline": "Payments fail"});
    json!({"digest": {
        "id": ID,
        "count": 1,
        "entries": [entry],
        "text": "Payments fail",
        "severity": "critical",
        "is_over": false,
    }})
}
