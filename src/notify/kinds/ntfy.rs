//! `ntfy`: publishes to a topic of ntfy (<https://docs.ntfy.sh/publish/#publish-as-json>).
//!
//! Messages are sent as JSON, because headers can only contain ASCII.

use serde_json::json;

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape, any_line};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{cut_bytes, one_line, plain};
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

const BASE_URL: &str = "https://ntfy.sh";
/// Maximum size of a message in bytes; ntfy turns a longer one into an attachment.
const MESSAGE_BYTES: usize = 4_096;
const TITLE_BYTES: usize = 250;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Ntfy,
    label: "ntfy",
    description: "Publishes to a topic of ntfy, which phones and browsers can subscribe to.",
    digests: DigestPolicy::Usual,
    fields: &[
        ChannelField {
            name: "base_url",
            label: "Server",
            help: "https://ntfy.sh unless given.",
            shape: FieldShape::Url,
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "topic",
            label: "Topic",
            help: "Letters, digits, - and _. On a public server anyone who knows the topic can read it: choose one that cannot be guessed.",
            shape: FieldShape::Text { max_length: 64, passes: is_topic, form: "letters, digits, - and _" },
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "token",
            label: "Access token",
            help: "tk_…, for a protected topic.",
            shape: FieldShape::Text { max_length: 200, passes: any_line, form: "one line" },
            is_required: false,
            is_secret: true,
        },
    ],
    compose,
    judge: meaning_of_status,
};

fn is_topic(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { message, settings, .. } = *envelope;
    let body = json!({
        "topic": settings.text("topic"),
        "title": cut_bytes(&one_line(&message.headline()), TITLE_BYTES),
        "message": cut_bytes(&plain(message), MESSAGE_BYTES),
        "priority": priority(message),
        "tags": [tag(message)],
    });
    let request = OutgoingRequest::json(address(settings.text("base_url"), BASE_URL, ""), &body);
    Ok(OutgoingDelivery::Request(match settings.text("token") {
        "" => request,
        token => request.with("authorization", format!("Bearer {token}")),
    }))
}

/// Returns the priority, 1 to 5; 3 is the default, 5 rings until the message is seen.
fn priority(message: &NotificationMessage) -> u8 {
    match message.severity() {
        Some(severity) if !message.is_good_news() => match severity {
            Severity::Critical => 5,
            Severity::Major => 4,
            Severity::Minor => 3,
        },
        _ => 3,
    }
}

/// Returns the name of the emoji.
fn tag(message: &NotificationMessage) -> &'static str {
    match message.severity() {
        None => "bell",
        Some(_) if message.is_good_news() => "white_check_mark",
        Some(Severity::Minor) => "warning",
        Some(_) => "rotating_light",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::model::notification::NotificationEvent;
    use crate::notify::kinds::fixture::{REASON, body, event, huge, incident, outage, request, test};

    #[test]
    fn a_message_is_published_as_json() {
        let settings = json!({"topic": "ops_1", "token": "tk_secret"});
        let sent = request(ChannelKind::Ntfy, &settings, &incident());
        assert_eq!((sent.method, sent.url.as_str()), ("POST", "https://ntfy.sh/"));
        assert!(sent.headers.contains(&("authorization".into(), "Bearer tk_secret".to_owned())));
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body["title"], "<!channel> Payments & *cards* fail @everyone");
        assert_eq!(
            (&body["topic"], &body["priority"], &body["tags"]),
            (&json!("ops_1"), &json!(5), &json!(["rotating_light"]))
        );
        assert!(body["message"].as_str().unwrap().ends_with("\nSeverity: critical\nStatus: investigating\nServices: API <eu> & *web*, Shop and 10 more\nBegan: 2023-11-14 22:13 UTC"));
    }

    #[test]
    fn a_resolution_has_default_priority() {
        let settings = json!({"topic": "ops", "base_url": "http://ntfy.example/"});
        assert!(request(ChannelKind::Ntfy, &settings, &test()).headers.len() == 1);
        let over = body(ChannelKind::Ntfy, &settings, &event(NotificationEvent::IncidentResolved));
        assert_eq!((&over["priority"], &over["tags"]), (&json!(3), &json!(["white_check_mark"])));
    }

    #[test]
    fn a_message_starts_with_the_reason() {
        let body = body(ChannelKind::Ntfy, &json!({"topic": "ops"}), &outage());
        assert!(body["message"].as_str().unwrap().starts_with(&format!("{REASON}\n")), "{body}");
    }

    #[test]
    fn a_message_has_at_most_4096_bytes() {
        let body = body(ChannelKind::Ntfy, &json!({"topic": "ops"}), &huge());
        assert!(body["message"].as_str().unwrap().len() <= 4_096);
    }
}
