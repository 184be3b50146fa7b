//! `telegram`: `sendMessage` of a bot of Telegram (<https://core.telegram.org/bots/api#sendmessage>), as HTML.
//!
//! The path of the address contains the token of the bot, so the address is never shown.

use serde_json::{Value, json};

use super::answer::{ChannelReply, ReplyMeaning, asked_to_wait, meaning_of_status, member};
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{SummaryFact, escaped, facts, html, units};
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

const BASE_URL: &str = "https://api.telegram.org";
/// Maximum length of a message, including escapes; Telegram accepts 4,096 characters. The text gets what the other lines
/// leave.
const MESSAGE_LENGTH: usize = 4_000;
const TITLE_LENGTH: usize = 500;
const FACT_LENGTH: usize = 100;
const REASON_LENGTH: usize = 400;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Telegram,
    label: "Telegram",
    description: "Sends messages through a bot of Telegram. Create a bot with @BotFather, and add it to the group or channel.",
    digests: DigestPolicy::Usual,
    fields: &[
        ChannelField {
            name: "bot_token",
            label: "Token of the bot",
            help: "Digits, a colon and a key, as @BotFather shows it.",
            shape: FieldShape::Text {
                max_length: 100,
                passes: is_token,
                form: "digits, a colon, then letters, digits, - and _",
            },
            is_required: true,
            is_secret: true,
        },
        ChannelField {
            name: "chat_id",
            label: "Chat",
            help: "The number of the chat (groups begin with -), or @name of a public channel.",
            shape: FieldShape::Text { max_length: 64, passes: is_chat, form: "a number, or @ and a name" },
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "message_thread_id",
            label: "Topic",
            help: "The number of a topic, in a group with topics.",
            shape: FieldShape::Text { max_length: 18, passes: is_number, form: "digits" },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "base_url",
            label: "Server",
            help: "Address of your own Bot API server; https://api.telegram.org unless given.",
            shape: FieldShape::Url,
            is_required: false,
            is_secret: false,
        },
    ],
    compose,
    judge,
};

fn is_token(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.split_once(':').is_some_and(|(id, key)| is_number(id) && !key.is_empty() && key.chars().all(allowed))
}

fn is_chat(text: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.strip_prefix('@') {
        Some(name) => is_name(name),
        None => is_number(text.strip_prefix('-').unwrap_or(text)),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let settings = envelope.settings;
    let path = format!("bot{}/sendMessage", settings.text("bot_token"));
    let mut body = json!({
        "chat_id": settings.text("chat_id"),
        "text": text(envelope.message),
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true},
    });
    if let Ok(topic) = settings.text("message_thread_id").parse::<i64>() {
        body["message_thread_id"] = Value::from(topic);
    }
    Ok(OutgoingDelivery::Request(OutgoingRequest::json(
        address(settings.text("base_url"), BASE_URL, &path),
        &body,
    )))
}

fn text(message: &NotificationMessage) -> String {
    let mark = match (message.severity(), message.is_good_news()) {
        (None, _) => "🔔",
        (Some(_), true) => "✅",
        (Some(_), false) => "🚨",
    };
    let (reasons, others): (Vec<SummaryFact>, Vec<SummaryFact>) =
        facts(message).into_iter().partition(SummaryFact::is_reason);
    let mut lines = vec![format!("{mark} <b>{}</b>", escaped(&message.headline(), TITLE_LENGTH, html))];
    lines.extend(reasons.iter().map(|reason| escaped(&reason.text, REASON_LENGTH, html)));
    let line =
        |fact: &SummaryFact| format!("<b>{}</b>: {}", fact.label, escaped(&fact.text, FACT_LENGTH, html));
    let others: Vec<String> = others.iter().map(line).collect();
    let used: usize = lines.iter().chain(&others).map(|line| units(line) + 1).sum();
    lines.push(escaped(message.text().trim(), MESSAGE_LENGTH.saturating_sub(used), html));
    lines.extend(others);
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Classifies an answer. Telegram refuses invalid messages with 400; 429 contains the time to wait, in seconds.
fn judge(reply: &ChannelReply<'_>) -> ReplyMeaning {
    match reply.status {
        429 => asked_to_wait(reply.body, "/parameters/retry_after", 1.0),
        // The group has a new number, or the bot was removed from it: the settings must change.
        403 if member(reply.body, "/ok").is_some() => ReplyMeaning::Never,
        _ => meaning_of_status(reply),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, huge, incident, outage, request, test};

    fn settings() -> Value {
        json!({"bot_token": "123:AAbb-_", "chat_id": "-100123", "message_thread_id": "7"})
    }

    #[test]
    fn a_message_is_html_without_tags_of_others() {
        let sent = request(ChannelKind::Telegram, &settings(), &incident());
        assert_eq!(sent.url, "https://api.telegram.org/bot123:AAbb-_/sendMessage");
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            (&body["chat_id"], &body["message_thread_id"], &body["parse_mode"]),
            (&json!("-100123"), &json!(7), &json!("HTML"))
        );
        let text = body["text"].as_str().unwrap();
        assert!(
            text.starts_with("🚨 <b>&lt;!channel&gt; Payments &amp; *cards* fail @everyone</b>\n"),
            "{text}"
        );
        assert!(
            text.contains("&lt;b&gt;db&lt;/b&gt; &quot;a\\b&quot;")
                && text.contains("<b>Severity</b>: critical")
        );
    }

    #[test]
    fn a_custom_server_is_used() {
        let mut own = settings();
        own["base_url"] = json!("http://bots.example:8081/api/");
        let sent = request(ChannelKind::Telegram, &own, &test());
        assert_eq!(sent.url, "http://bots.example:8081/api/bot123:AAbb-_/sendMessage");
    }

    #[test]
    fn a_message_contains_the_reason() {
        let body = body(ChannelKind::Telegram, &settings(), &outage());
        let lines: Vec<&str> = body["text"].as_str().unwrap().lines().collect();
        assert_eq!(lines[1], REASON);
    }

    #[test]
    fn a_message_has_at_most_4096_characters() {
        for message in [huge(), incident(), outage(), test()] {
            let body = body(ChannelKind::Telegram, &settings(), &message);
            assert!(body["text"].as_str().unwrap().encode_utf16().count() <= 4_096);
        }
    }

    #[rstest]
    #[case(200, r#"{"ok":true}"#, ReplyMeaning::Taken)]
    #[case(
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#,
        ReplyMeaning::Never
    )]
    #[case(
        403,
        r#"{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked"}"#,
        ReplyMeaning::Never
    )]
    #[case(401, r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#, ReplyMeaning::Later)]
    #[case(
        429,
        r#"{"ok":false,"error_code":429,"parameters":{"retry_after":35}}"#,
        ReplyMeaning::After(Duration::from_secs(35))
    )]
    #[case(502, "", ReplyMeaning::Later)]
    fn responses_are_classified(#[case] status: u16, #[case] body: &str, #[case] expected: ReplyMeaning) {
        assert_eq!(judge(&ChannelReply { status, body }), expected);
    }

    #[rstest]
    #[case("123:AAbb-_", "@status_page", true)]
    #[case("123:", "@", false)]
    #[case("bot123:AA", "-", false)]
    #[case("12/3:AA", "12a", false)]
    fn settings_have_the_forms_of_telegram(#[case] token: &str, #[case] chat: &str, #[case] are_right: bool) {
        assert_eq!((is_token(token), is_chat(chat)), (are_right, are_right));
    }
}
