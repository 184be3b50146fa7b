//! A message of a channel: for whom it is, what it is about, and what the receiver answered to each attempt.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::sent_messages::{answer_of, delivery_tone, seconds};
use crate::console::visit::UserVisit;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::notification::delivery::DeliveryStatus;

#[derive(Template)]
#[template(path = "screens/message/message.html")]
struct MessageScreen {
    frame: ConsoleFrame,
    id: String,
    status: String,
    tone: &'static str,
    event: String,
    /// Time in UTC, to the second.
    created: String,
    facts: Vec<MessageFact>,
    attempts: Vec<AttemptRow>,
    may_redeliver: bool,
}

/// A fact about a message, such as its channel.
struct MessageFact {
    name: String,
    value: String,
    /// The screen about it.
    link: Option<String>,
}

/// An attempt to deliver the message.
struct AttemptRow {
    number: u64,
    /// Time in UTC, to the second.
    time: String,
    tone: &'static str,
    outcome: String,
    /// What the receiver, or the failure, says.
    answer: String,
    /// Duration, with its unit.
    took: String,
}

/// Shows a message.
pub(in crate::console) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    id.parse::<Id>().map_err(|_| ScreenError::Unknown)?;
    let mut body = visit.get(&format!("/v1/notifications/{id}")).await?;
    let message = body["data"].take();
    let texts = visit.texts;
    let status = text(&message["status"]);
    let headline = text(&message["headline"]);
    let document = MessageScreen {
        frame: ConsoleFrame::of(visit, ConsoleSection::Channels, headline),
        id: id.to_owned(),
        tone: delivery_tone(&status),
        status: word_of(texts, "status", &status),
        event: word_of(texts, "event", &text(&message["event"])),
        created: seconds(&message["created_at"]),
        facts: facts(texts, &message),
        attempts: rows(&message["tries"]).map(|attempt| AttemptRow::of(texts, attempt)).collect(),
        may_redeliver: status == DeliveryStatus::Dead.as_str()
            && visit.may(Permission::NotificationsRedeliver),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns the channel, the contact, the incident and the digest of a message, and why it waits.
fn facts(texts: ConsoleTexts, message: &Value) -> Vec<MessageFact> {
    let linked = |name: &str, object: &Value, screen: &str| {
        let link = object["id"].as_str().map(|id| format!("/console{screen}/{id}"))?;
        Some(MessageFact { name: texts.text(name), value: text(&object["name"]), link: Some(link) })
    };
    let named = |name: &str, member: &str, words: &str, screen: &str| {
        let link = message[member].as_str().map(|id| format!("/console{screen}/{id}"))?;
        Some(MessageFact { name: texts.text(name), value: texts.text(words), link: Some(link) })
    };
    let plain = |name: &str, value: String| {
        (!value.is_empty()).then(|| MessageFact { name: texts.text(name), value, link: None })
    };
    let next = seconds(&message["next_try_at"]);
    let next = if next.is_empty() { next } else { format!("{next} UTC") };
    let held = message["held_by"].as_str().map(|held| word_of(texts, "held_by", held)).unwrap_or_default();
    [
        linked("field-channel", &message["channel"], "/channels"),
        linked("field-contact", &message["contact"], "/oncall/contacts"),
        named("message-incident", "incident_id", "show-incident", "/incidents"),
        named("message-digest", "digest_id", "show-digest", "/channels/messages"),
        plain("field-held-by", held),
        plain("next-attempt", next),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl AttemptRow {
    fn of(texts: ConsoleTexts, attempt: &Value) -> Self {
        let outcome = text(&attempt["outcome"]);
        Self {
            number: attempt["number"].as_u64().unwrap_or_default(),
            time: seconds(&attempt["at"]),
            tone: if outcome == "delivered" { "operational" } else { "major_outage" },
            outcome: word_of(texts, "outcome", &outcome),
            answer: answer_of(attempt),
            took: attempt["took_ms"].as_i64().map(|ms| format!("{ms} ms")).unwrap_or_default(),
        }
    }
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_lead_to_what_they_name() {
        let message = json!({
            "channel": {"id": "CHANNEL", "name": "Phones"}, "contact": {"id": "CONTACT", "name": "Anna"},
            "incident_id": "INCIDENT", "digest_id": null, "held_by": "quiet_hours",
            "next_try_at": "2026-11-28T10:00:01.500Z",
        });
        let shown: Vec<String> = facts(ConsoleTexts::of("en"), &message)
            .iter()
            .map(|fact| format!("{}: {} {}", fact.name, fact.value, fact.link.as_deref().unwrap_or("–")))
            .collect();
        assert_eq!(
            shown,
            [
                "Channel: Phones /console/channels/CHANNEL",
                "Contact: Anna /console/oncall/contacts/CONTACT",
                "Incident: Show the incident /console/incidents/INCIDENT",
                "Held back by: quiet hours –",
                "Next attempt: 2026-11-28 10:00:01 UTC –",
            ]
        );
    }
}
