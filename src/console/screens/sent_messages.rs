//! The messages about an incident: who was told, when, and with what answer.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;

/// A message about an incident.
pub(super) struct MessageRow {
    pub(super) id: String,
    /// Time of the message in UTC, to the second.
    pub(super) time: String,
    /// The channel, and the contact for whom it is.
    pub(super) channel: String,
    pub(super) status: String,
    pub(super) tone: &'static str,
    /// The event that it reports, in words.
    pub(super) event: String,
    pub(super) headline: String,
    /// The answer to the last attempt; empty before the first one.
    pub(super) answer: String,
    /// Time of the next attempt in UTC; empty if there is none.
    pub(super) next: String,
}

/// Returns the newest messages about an incident, at most `most`; none if the user may not see messages.
pub(super) async fn about_incident(
    visit: &UserVisit,
    incident: &str,
    most: usize,
) -> Result<Vec<MessageRow>, ScreenError> {
    let target = format!("/v1/notifications?incident_id={incident}&per_page={most}");
    let body = match visit.get(&target).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_) | ApiError::Confined) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(body["data"].as_array().into_iter().flatten().map(|row| MessageRow::of(visit.texts, row)).collect())
}

impl MessageRow {
    fn of(texts: ConsoleTexts, message: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let contact = message["contact"]["name"].as_str();
        let contact = contact.map(|name| format!(" ({name})")).unwrap_or_default();
        let status = text(&message["status"]);
        let last = message["tries"].as_array().and_then(|tries| tries.last());
        Self {
            id: text(&message["id"]),
            time: seconds(&message["created_at"]),
            channel: format!("{}{contact}", text(&message["channel"]["name"])),
            tone: delivery_tone(&status),
            status: texts.text_or(&format!("word-{status}"), &status),
            event: word_of(texts, "event", &text(&message["event"])),
            headline: text(&message["headline"]),
            answer: last.map(answer_of).unwrap_or_default(),
            next: seconds(&message["next_try_at"]),
        }
    }
}

/// Returns the colour class of the status of a message.
pub(super) fn delivery_tone(status: &str) -> &'static str {
    match status {
        "delivered" => "operational",
        "dead" => "major_outage",
        _ => "unknown",
    }
}

/// Returns the answer to an attempt: the status of HTTP if there is one, and what the receiver or the failure says.
pub(super) fn answer_of(attempt: &Value) -> String {
    let status = attempt["status_code"].as_u64().map(|status| format!("HTTP {status}"));
    let detail = attempt["detail"].as_str().filter(|detail| !detail.is_empty()).map(str::to_owned);
    status.into_iter().chain(detail).collect::<Vec<_>>().join(", ")
}

/// Returns a time of the API to the second; empty for null.
pub(super) fn seconds(time: &Value) -> String {
    let time = time.as_str().unwrap_or_default();
    time.get(..19).unwrap_or(time).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"status_code": 204, "detail": ""}), "HTTP 204")]
    #[case(json!({"status_code": 500, "detail": "oops"}), "HTTP 500, oops")]
    #[case(json!({"status_code": null, "detail": "connect_refused"}), "connect_refused")]
    fn an_attempt_has_an_answer(#[case] attempt: Value, #[case] expected: &str) {
        assert_eq!(answer_of(&attempt), expected);
    }

    #[test]
    fn a_message_says_who_was_told() {
        let message = json!({
            "id": "Ur2w5sIevWimLrDNa-yuR", "event": "incident.opened", "created_at": "2026-11-28T10:00:01.500Z", "status": "delivered",
            "channel": {"name": "Phones"}, "contact": {"name": "Anna"}, "headline": "Shop is down",
            "tries": [{"status_code": 503, "detail": "busy"}, {"status_code": 200, "detail": "ok"}],
            "next_try_at": null,
        });
        let row = MessageRow::of(ConsoleTexts::of("en"), &message);
        let shown = [row.time, row.channel, row.status, row.event, row.answer, row.next].join(" | ");
        assert_eq!(
            shown,
            "2026-11-28 10:00:01 | Phones (Anna) | delivered | Incident opened | HTTP 200, ok | "
        );
    }
}
