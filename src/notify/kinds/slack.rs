//! `slack`: an incoming webhook of Slack (<https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>).
//!
//! Texts are `mrkdwn`, in which `&`, `<` and `>` are escaped, so that no part of them becomes a link or a mention.

use serde_json::{Value, json};

use super::answer::{ChannelReply, ReplyMeaning, meaning_of_status};
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting};
use super::summary::{SummaryFact, colour, escaped, facts};
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

/// Maximum number of characters of a section; the next limit is that of one of its fields.
const TEXT_LENGTH: usize = 3_000;
const FIELD_LENGTH: usize = 2_000;
/// Maximum number of characters of a reason; three reasons share one section.
const REASON_LENGTH: usize = 900;
/// Answers which mean that the webhook or its channel was removed or refuses such messages.
const FINAL: [&str; 5] =
    ["no_service", "no_team", "channel_not_found", "channel_is_archived", "action_prohibited"];

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Slack,
    label: "Slack",
    description: "Posts to a channel of Slack. Create an incoming webhook for it: api.slack.com/apps, your app, \
        Incoming Webhooks.",
    digests: DigestPolicy::Usual,
    fields: &[ChannelField {
        name: "url",
        label: "Webhook address",
        help: "https://hooks.slack.com/services/… Anyone with this URL can post, so it is stored as a secret.",
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
    let headline = escaped(&message.headline(), TEXT_LENGTH - 2, mrkdwn);
    let mut blocks = Vec::new();
    if !message.text().trim().is_empty() {
        blocks.push(section(&escaped(message.text().trim(), TEXT_LENGTH, mrkdwn)));
    }
    let (reasons, others): (Vec<SummaryFact>, Vec<SummaryFact>) =
        facts(message).into_iter().partition(SummaryFact::is_reason);
    if !reasons.is_empty() {
        let lines: Vec<String> =
            reasons.iter().map(|fact| escaped(&fact.text, REASON_LENGTH, mrkdwn)).collect();
        blocks.push(section(&lines.join("\n")));
    }
    let fields: Vec<Value> = others
        .iter()
        .map(|fact| {
            let text = escaped(&fact.text, FIELD_LENGTH - 100, mrkdwn);
            json!({"type": "mrkdwn", "text": format!("*{}*\n{text}", fact.label)})
        })
        .collect();
    if !fields.is_empty() {
        blocks.push(json!({"type": "section", "fields": fields}));
    }
    json!({
        "text": format!("*{headline}*"),
        "attachments": [{"color": format!("#{:06x}", colour(message)), "blocks": blocks}],
    })
}

fn section(text: &str) -> Value {
    json!({"type": "section", "text": {"type": "mrkdwn", "text": text}})
}

const fn mrkdwn(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

/// Returns the meaning of an answer. A removed webhook is final, because its address is never used again.
fn judge(reply: &ChannelReply<'_>) -> ReplyMeaning {
    let is_final = matches!(reply.status, 403 | 404 | 410) && FINAL.contains(&reply.body.trim());
    if is_final { ReplyMeaning::Never } else { meaning_of_status(reply) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, huge, incident, outage, request, test};

    fn settings() -> Value {
        json!({"url": "https://hooks.slack.com/services/T0/B0/secret"})
    }

    #[test]
    fn nothing_in_a_text_is_a_mention() {
        let request = request(ChannelKind::Slack, &settings(), &incident());
        assert_eq!(
            (request.method, request.url.as_str()),
            ("POST", "https://hooks.slack.com/services/T0/B0/secret")
        );
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let attachment = &body["attachments"][0];
        assert_eq!(attachment["color"], "#d32f2f");
        assert_eq!(body["text"], "*&lt;!channel&gt; Payments &amp; *cards* fail @everyone*");
        assert_eq!(attachment["blocks"][1]["fields"][0]["text"], "*Severity*\ncritical");
        assert!(!body.to_string().contains('<'), "{body}");
    }

    #[test]
    fn a_section_contains_the_reason() {
        let body = body(ChannelKind::Slack, &settings(), &outage());
        let blocks = &body["attachments"][0]["blocks"];
        assert_eq!(blocks[1]["text"]["text"], REASON);
        assert_eq!(blocks[2]["fields"][0]["text"], "*Severity*\ncritical");
    }

    #[test]
    fn blocks_keep_to_their_limits() {
        for message in [huge(), incident(), outage(), test()] {
            let body = body(ChannelKind::Slack, &settings(), &message);
            for block in body["attachments"][0]["blocks"].as_array().unwrap() {
                let length = |text: &Value| text["text"].as_str().map_or(0, |text| text.chars().count());
                assert!(length(&block["text"]) <= 3_000 && length(&body) <= 3_000);
                let fields = block["fields"].as_array().map_or(&[] as &[Value], |fields| fields);
                assert!(fields.len() <= 10 && fields.iter().all(|field| length(field) <= 2_000));
            }
        }
    }

    #[rstest]
    #[case(200, "ok", ReplyMeaning::Taken)]
    #[case(400, "invalid_payload", ReplyMeaning::Never)]
    #[case(404, "no_service", ReplyMeaning::Never)]
    #[case(404, "<html>", ReplyMeaning::Later)]
    #[case(403, "action_prohibited", ReplyMeaning::Never)]
    #[case(410, "channel_is_archived", ReplyMeaning::Never)]
    #[case(429, "rate_limited", ReplyMeaning::Later)]
    #[case(500, "rollup_error", ReplyMeaning::Later)]
    fn responses_are_classified(#[case] status: u16, #[case] body: &str, #[case] expected: ReplyMeaning) {
        assert_eq!(judge(&ChannelReply { status, body }), expected);
    }
}
