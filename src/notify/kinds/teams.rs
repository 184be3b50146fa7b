//! `teams`: a workflow of Microsoft Teams that posts an Adaptive Card
//! (<https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook>).
//!
//! Texts are `TextRun`s, in which nothing is Markdown. The body of the request stays below the 28 KB that Teams accepts.

use serde_json::{Value, json};

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting};
use super::summary::{cut, facts, one_line};
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

/// Maximum size of a request's body. Teams accepts 28 KB; the difference is room for additions of the workflow.
const BODY_BYTES: usize = 24 * 1_024;
const TITLE_LENGTH: usize = 500;
/// Lengths to which the text is truncated; the first one with which the request fits is used.
const TEXT_LENGTHS: [usize; 5] = [8_000, 4_000, 2_000, 1_000, 0];
const FACT_LENGTH: usize = 200;
const REASON_LENGTH: usize = 500;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Teams,
    label: "Microsoft Teams",
    description: "Posts a card to a channel or chat of Teams. Create a workflow for it: Workflows, Send webhook alerts to a channel.",
    digests: DigestPolicy::Usual,
    fields: &[ChannelField {
        name: "url",
        label: "Address of the workflow",
        help: "As Teams shows it when you create the workflow. Anyone with this URL can post, so it is stored as a secret.",
        shape: FieldShape::Url,
        is_required: true,
        is_secret: true,
    }],
    compose,
    judge: meaning_of_status,
};

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { message, settings, .. } = *envelope;
    let of_length = |length: usize| OutgoingRequest::json(settings.text("url"), &payload(message, length));
    let fitting = TEXT_LENGTHS.into_iter().map(of_length).find(|request| request.body.len() <= BODY_BYTES);
    fitting.map(OutgoingDelivery::Request).ok_or(UnusableSetting("url"))
}

fn payload(message: &NotificationMessage, text_length: usize) -> Value {
    let headline = cut(&one_line(&message.headline()), TITLE_LENGTH);
    let title = json!({"type": "TextRun", "text": headline, "weight": "bolder", "size": "large", "color": colour(message)});
    let mut body = vec![paragraph(&[title])];
    let text = cut(message.text().trim(), text_length);
    body.extend(text.lines().map(|line| paragraph(&[run(line)])));
    body.extend(facts(message).iter().map(|fact| {
        let label = json!({"type": "TextRun", "text": format!("{}: ", fact.label), "weight": "bolder"});
        let most = if fact.is_reason() { REASON_LENGTH } else { FACT_LENGTH };
        paragraph(&[label, run(&cut(&fact.text, most))])
    }));
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "msteams": {"width": "Full"},
                "body": body,
            },
        }],
    })
}

fn paragraph(runs: &[Value]) -> Value {
    json!({"type": "RichTextBlock", "inlines": runs})
}

fn run(text: &str) -> Value {
    json!({"type": "TextRun", "text": text})
}

fn colour(message: &NotificationMessage) -> &'static str {
    match message.severity() {
        None => "accent",
        Some(_) if message.is_good_news() => "good",
        Some(Severity::Critical) => "attention",
        Some(_) => "warning",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::kinds::fixture::{REASON, huge, incident, outage, request, test};

    fn settings() -> Value {
        json!({"url": "https://prod-1.westeurope.logic.azure.com/workflows/secret"})
    }

    #[test]
    fn a_message_is_a_card() {
        let sent = request(ChannelKind::Teams, &settings(), &incident());
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body["attachments"][0]["contentType"], "application/vnd.microsoft.card.adaptive");
        let card = &body["attachments"][0]["content"];
        let title = &card["body"][0]["inlines"][0];
        assert_eq!((&card["type"], &title["color"]), (&json!("AdaptiveCard"), &json!("attention")));
        assert_eq!(title["text"], "<!channel> Payments & *cards* fail @everyone");
        let kinds: Vec<&Value> =
            card["body"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert!(kinds.iter().all(|kind| *kind == "RichTextBlock") && kinds.len() == 7);
    }

    #[test]
    fn a_card_contains_the_reason() {
        let sent = request(ChannelKind::Teams, &settings(), &outage());
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        let blocks = body["attachments"][0]["content"]["body"].as_array().unwrap();
        assert!(blocks.iter().any(|block| block["inlines"][1]["text"] == REASON), "{body}");
    }

    #[test]
    fn a_card_stays_below_28_kb() {
        for message in [incident(), huge(), outage(), test()] {
            assert!(request(ChannelKind::Teams, &settings(), &message).body.len() < 28_000);
        }
    }
}
