//! `matrix`: a message in a room (<https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid>).
//!
//! The transaction id is that of the delivery, so a server accepts a repeated message only once.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::answer::{ChannelReply, ReplyMeaning, asked_to_wait, meaning_of_status, member};
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape, any_line};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{escaped, facts, html, plain};
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;

/// Maximum number of characters of the headline. An event may have 64 KiB; both forms of the text together stay far below.
const TITLE_LENGTH: usize = 1_000;
const TEXT_LENGTH: usize = 4_000;
const FACT_LENGTH: usize = 300;
const REASON_LENGTH: usize = 600;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Matrix,
    label: "Matrix",
    description: "Writes to a room of Matrix as one of your users, who must have joined the room.",
    digests: DigestPolicy::Usual,
    fields: &[
        ChannelField {
            name: "homeserver",
            label: "Home server",
            help: "The address of the client API, such as https://matrix.example.org.",
            shape: FieldShape::Url,
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "room_id",
            label: "Room",
            help: "The internal id of the room, beginning with !: Settings of the room, Advanced.",
            shape: FieldShape::Text { max_length: 255, passes: is_room, form: "! and an id" },
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "access_token",
            label: "Access token",
            help: "Access token of the user who writes.",
            shape: FieldShape::Text { max_length: 500, passes: any_line, form: "one line" },
            is_required: true,
            is_secret: true,
        },
    ],
    compose,
    judge,
};

fn is_room(text: &str) -> bool {
    text.len() > 1 && text.starts_with('!') && text.chars().all(|c| !c.is_control() && !c.is_whitespace())
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { id, message, settings, .. } = *envelope;
    let room = utf8_percent_encode(settings.text("room_id"), NON_ALPHANUMERIC);
    let path = format!("_matrix/client/v3/rooms/{room}/send/m.room.message/{id}");
    let body = json!({
        "msgtype": "m.text",
        "body": escaped(&format!("{}\n{}", message.headline(), plain(message)), TITLE_LENGTH + TEXT_LENGTH, |_| None),
        "format": "org.matrix.custom.html",
        "formatted_body": formatted(message),
        // Without this member, old clients search the text for names.
        "m.mentions": {},
    });
    let request = OutgoingRequest::json(address(settings.text("homeserver"), "", &path), &body);
    let request = OutgoingRequest { method: "PUT", ..request };
    Ok(OutgoingDelivery::Request(
        request.with("authorization", format!("Bearer {}", settings.text("access_token"))),
    ))
}

fn formatted(message: &NotificationMessage) -> String {
    let text = escaped(message.text().trim(), TEXT_LENGTH, html).replace('\n', "<br>");
    let facts = facts(message);
    let lines = facts.iter().map(|fact| {
        let most = if fact.is_reason() { REASON_LENGTH } else { FACT_LENGTH };
        format!("<br><b>{}</b>: {}", fact.label, escaped(&fact.text, most, html))
    });
    let headline = escaped(&message.headline(), TITLE_LENGTH, html);
    format!("<b>{headline}</b><br>{text}{}", lines.collect::<String>())
}

/// Classifies an answer. A rate limit contains the time to wait, in milliseconds.
fn judge(reply: &ChannelReply<'_>) -> ReplyMeaning {
    match reply.status {
        429 => asked_to_wait(reply.body, "/retry_after_ms", 0.001),
        404 if member(reply.body, "/errcode").is_some_and(|code| code == "M_UNRECOGNIZED") => {
            ReplyMeaning::Never
        }
        _ => meaning_of_status(reply),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;
    use serde_json::Value;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, huge, incident, outage, request};

    fn settings() -> Value {
        json!({"homeserver": "https://m.example", "room_id": "!a/b:example.org", "access_token": "syt_secret"})
    }

    #[test]
    fn a_repeat_has_the_same_transaction_id() {
        let sent = request(ChannelKind::Matrix, &settings(), &incident());
        assert_eq!(
            (sent.method, sent.url.as_str()),
            (
                "PUT",
                "https://m.example/_matrix/client/v3/rooms/%21a%2Fb%3Aexample%2Eorg/send/m.room.message/rNSJxMbDTX2uHc08AiCq1"
            )
        );
        assert!(sent.headers.contains(&("authorization".into(), "Bearer syt_secret".to_owned())));
        assert_eq!(sent, request(ChannelKind::Matrix, &settings(), &incident()));
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        let formatted = body["formatted_body"].as_str().unwrap();
        assert!(formatted.starts_with(
            "<b>&lt;!channel&gt; Payments &amp; *cards* fail @everyone</b><br>No answer from &lt;b&gt;db"
        ));
        assert!(body["body"].as_str().unwrap().starts_with("<!channel> Payments"));
        assert_eq!((&body["msgtype"], &body["m.mentions"]), (&json!("m.text"), &json!({})));
    }

    #[test]
    fn both_bodies_contain_the_reason() {
        let body = body(ChannelKind::Matrix, &settings(), &outage());
        let contains = |name: &str| body[name].as_str().unwrap().contains(REASON);
        assert!(contains("body") && contains("formatted_body"), "{body}");
    }

    #[test]
    fn an_event_is_small() {
        assert!(request(ChannelKind::Matrix, &settings(), &huge()).body.len() < 60_000);
    }

    #[rstest]
    #[case(200, r#"{"event_id": "$x"}"#, ReplyMeaning::Taken)]
    #[case(403, r#"{"errcode": "M_FORBIDDEN"}"#, ReplyMeaning::Later)]
    #[case(404, r#"{"errcode": "M_UNRECOGNIZED"}"#, ReplyMeaning::Never)]
    #[case(413, r#"{"errcode": "M_TOO_LARGE"}"#, ReplyMeaning::Never)]
    #[case(
        429,
        r#"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1500}"#,
        ReplyMeaning::After(Duration::from_millis(1_500))
    )]
    fn responses_are_classified(#[case] status: u16, #[case] body: &str, #[case] expected: ReplyMeaning) {
        assert_eq!(judge(&ChannelReply { status, body }), expected);
    }
}
