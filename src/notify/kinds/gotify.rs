//! `gotify`: a message of an application of Gotify (<https://gotify.net/docs/pushmsg>).

use serde_json::json;

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape, any_line};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{cut, one_line, plain};
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

const TITLE_LENGTH: usize = 250;
const TEXT_LENGTH: usize = 10_000;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Gotify,
    label: "Gotify",
    description: "Sends messages to your own Gotify server. Create an application there: Apps, Create Application.",
    digests: DigestPolicy::Usual,
    fields: &[
        ChannelField {
            name: "server",
            label: "Server",
            help: "The address of the Gotify server.",
            shape: FieldShape::Url,
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "app_token",
            label: "Token of the application",
            help: "As Gotify shows it beside the application.",
            shape: FieldShape::Text { max_length: 100, passes: any_line, form: "one line" },
            is_required: true,
            is_secret: true,
        },
    ],
    compose,
    judge: meaning_of_status,
};

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { message, settings, .. } = *envelope;
    let body = json!({
        "title": cut(&one_line(&message.headline()), TITLE_LENGTH),
        "message": cut(&plain(message), TEXT_LENGTH),
        "priority": priority(message),
        "extras": {"client::display": {"contentType": "text/plain"}},
    });
    let request = OutgoingRequest::json(address(settings.text("server"), "", "message"), &body);
    Ok(OutgoingDelivery::Request(request.with("x-gotify-key", settings.text("app_token"))))
}

/// Returns the priority, 0 to 10; phones ring from 8 on.
fn priority(message: &NotificationMessage) -> u8 {
    match message.severity() {
        Some(severity) if !message.is_good_news() => match severity {
            Severity::Critical => 10,
            Severity::Major => 8,
            Severity::Minor => 5,
        },
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::model::notification::NotificationEvent;
    use crate::notify::kinds::fixture::{body, event, huge, incident, request};

    #[test]
    fn a_message_has_the_key_of_its_application() {
        let settings = json!({"server": "https://gotify.example/sub", "app_token": "AToken"});
        let sent = request(ChannelKind::Gotify, &settings, &incident());
        assert_eq!((sent.method, sent.url.as_str()), ("POST", "https://gotify.example/sub/message"));
        assert!(sent.headers.contains(&("x-gotify-key".into(), "AToken".to_owned())));
        let shown: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            (&shown["title"], &shown["priority"]),
            (&json!("<!channel> Payments & *cards* fail @everyone"), &json!(10))
        );
        let over = body(ChannelKind::Gotify, &settings, &event(NotificationEvent::IncidentResolved));
        assert_eq!(over["priority"], 4);
        let long = body(ChannelKind::Gotify, &settings, &huge());
        assert!(long["message"].as_str().unwrap().encode_utf16().count() <= 10_000);
    }
}
