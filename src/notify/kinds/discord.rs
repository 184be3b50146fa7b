//! `discord`: a webhook of a Discord channel (<https://docs.discord.com/developers/resources/webhook#execute-webhook>).
//!
//! One embed, within the limits of its parts and of 6,000 characters in total; mentions are disabled.

use serde_json::{Value, json};

use super::answer::{ChannelReply, ReplyMeaning, asked_to_wait, meaning_of_status, member};
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting};
use super::summary::{colour, cut, escaped, facts, units};
use crate::clock::Timestamp;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

/// Maximum length of an embed in total; the text gets what the other parts leave.
const ALL_LENGTH: usize = 6_000;
const TITLE_LENGTH: usize = 256;
const TEXT_LENGTH: usize = 4_000;
const FIELD_LENGTH: usize = 200;
const REASON_LENGTH: usize = 400;
const FOOTER_LENGTH: usize = 100;
/// Discord's error code for a webhook that does not exist.
const UNKNOWN_WEBHOOK: i64 = 10_015;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Discord,
    label: "Discord",
    description: "Posts to a channel of Discord. Create a webhook for it: settings of the channel, Integrations, Webhooks.",
    digests: DigestPolicy::Usual,
    fields: &[ChannelField {
        name: "url",
        label: "Webhook address",
        help: "https://discord.com/api/webhooks/… Anyone with this URL can post, so it is stored as a secret.",
        shape: FieldShape::Url,
        is_required: true,
        is_secret: true,
    }],
    compose,
    judge,
};

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let body = payload(envelope.message);
    Ok(OutgoingDelivery::Request(OutgoingRequest::json(envelope.settings.text("url"), &body)))
}

fn payload(message: &NotificationMessage) -> Value {
    let mut room = ALL_LENGTH - TITLE_LENGTH - FOOTER_LENGTH;
    let mut fields = Vec::new();
    for fact in facts(message) {
        let most = if fact.is_reason() { REASON_LENGTH } else { FIELD_LENGTH };
        let text = escaped(&fact.text, most, markdown);
        room = room.saturating_sub(units(&text) + units(&fact.label));
        fields.push(json!({"name": fact.label, "value": text, "inline": !fact.is_reason()}));
    }
    json!({
        "embeds": [{
            "title": escaped(&message.headline(), TITLE_LENGTH, markdown),
            "description": escaped(message.text().trim(), TEXT_LENGTH.min(room), markdown),
            "color": colour(message),
            "fields": fields,
            "timestamp": Timestamp::from_ms(message.at).to_string(),
            "footer": {"text": cut(&message.organisation, FOOTER_LENGTH)},
        }],
        "allowed_mentions": {"parse": []},
    })
}

const fn markdown(c: char) -> Option<&'static str> {
    match c {
        '\\' => Some("\\\\"),
        '*' => Some("\\*"),
        '_' => Some("\\_"),
        '~' => Some("\\~"),
        '`' => Some("\\`"),
        '|' => Some("\\|"),
        '<' => Some("\\<"),
        '>' => Some("\\>"),
        '[' => Some("\\["),
        '#' => Some("\\#"),
        _ => None,
    }
}

/// Classifies an answer. A rate limit contains the time to wait, in seconds with a fraction.
fn judge(reply: &ChannelReply<'_>) -> ReplyMeaning {
    match reply.status {
        404 if member(reply.body, "/code").and_then(|code| code.as_i64()) == Some(UNKNOWN_WEBHOOK) => {
            ReplyMeaning::Never
        }
        429 => asked_to_wait(reply.body, "/retry_after", 1.0),
        _ => meaning_of_status(reply),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, huge, incident, outage, test};

    fn settings() -> Value {
        json!({"url": "https://discord.com/api/webhooks/1/secret"})
    }

    #[test]
    fn a_message_mentions_no_user() {
        let body = body(ChannelKind::Discord, &settings(), &incident());
        assert_eq!(body["allowed_mentions"], json!({"parse": []}));
        let embed = &body["embeds"][0];
        assert_eq!(embed["title"], "\\<!channel\\> Payments & \\*cards\\* fail @everyone");
        assert!(
            embed["description"]
                .as_str()
                .unwrap()
                .contains("\\[click](https://evil.example) \\_now\\_ \\`x\\`")
        );
        assert_eq!(
            (&embed["color"], &embed["timestamp"]),
            (&json!(0xd3_2f_2f), &json!("2023-11-14T22:13:20.000Z"))
        );
        assert_eq!(embed["fields"][0], json!({"name": "Severity", "value": "critical", "inline": true}));
    }

    #[test]
    fn an_embed_contains_the_reason() {
        let body = body(ChannelKind::Discord, &settings(), &outage());
        let field = &body["embeds"][0]["fields"][0];
        assert_eq!((&field["name"], &field["inline"]), (&json!("Reason"), &json!(false)));
        assert_eq!(field["value"], escaped(REASON, REASON_LENGTH, markdown));
    }

    #[test]
    fn an_embed_keeps_to_its_limits() {
        for message in [huge(), incident(), outage(), test()] {
            let body = body(ChannelKind::Discord, &settings(), &message);
            let embed = &body["embeds"][0];
            let length = |text: &Value| text.as_str().unwrap().encode_utf16().count();
            let (title, text, footer) =
                (length(&embed["title"]), length(&embed["description"]), length(&embed["footer"]["text"]));
            assert!(title <= 256 && text <= 4_096 && footer <= 2_048);
            let fields: Vec<_> = embed["fields"].as_array().unwrap().iter().collect();
            assert!(
                fields.len() <= 25
                    && fields.iter().all(|field| (1..=1_024).contains(&length(&field["value"])))
            );
            let rest: usize =
                fields.iter().map(|field| length(&field["name"]) + length(&field["value"])).sum();
            assert!(title + text + footer + rest <= 6_000);
        }
    }

    #[rstest]
    #[case(204, "", ReplyMeaning::Taken)]
    #[case(400, r#"{"embeds": ["0"]}"#, ReplyMeaning::Never)]
    #[case(404, r#"{"message": "Unknown Webhook", "code": 10015}"#, ReplyMeaning::Never)]
    #[case(
        429,
        r#"{"message": "You are being rate limited.", "retry_after": 0.57, "global": false}"#,
        ReplyMeaning::After(Duration::from_millis(570))
    )]
    #[case(429, "", ReplyMeaning::Later)]
    #[case(502, "", ReplyMeaning::Later)]
    fn responses_are_classified(#[case] status: u16, #[case] body: &str, #[case] expected: ReplyMeaning) {
        assert_eq!(judge(&ChannelReply { status, body }), expected);
    }
}
