//! `pagerduty`: alerts by the Events API v2 (<https://developer.pagerduty.com/docs/events-api-v2-overview>).
//!
//! An incident is one alert: its start triggers, an acknowledgement acknowledges, its end resolves.

use serde_json::{Value, json};

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{cut, facts, one_line};
use super::webhook::services;
use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::NotificationMessage;

const BASE_URL: &str = "https://events.pagerduty.com";
const SUMMARY_LENGTH: usize = 1_024;
const TEXT_LENGTH: usize = 10_000;
/// Maximum number of services with machine-readable details; an event has at most 512 KB.
const SERVICES_MAX: usize = 10;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Pagerduty,
    label: "PagerDuty",
    description: "Triggers, acknowledges and resolves alerts of PagerDuty. Add the integration Events API v2 to a service there. A test triggers an alert of severity info.",
    digests: DigestPolicy::Never,
    fields: &[
        ChannelField {
            name: "routing_key",
            label: "Integration key",
            help: "32 letters and digits, as PagerDuty shows it for the integration.",
            shape: FieldShape::Text { max_length: 32, passes: is_key, form: "32 letters and digits" },
            is_required: true,
            is_secret: true,
        },
        ChannelField {
            name: "base_url",
            label: "Server",
            help: "https://events.eu.pagerduty.com for accounts in Europe; https://events.pagerduty.com otherwise.",
            shape: FieldShape::Url,
            is_required: false,
            is_secret: false,
        },
    ],
    compose,
    judge: meaning_of_status,
};

fn is_key(text: &str) -> bool {
    text.len() == 32 && text.chars().all(|c| c.is_ascii_alphanumeric())
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { message, settings, .. } = *envelope;
    let action = action(message);
    let mut body = json!({
        "routing_key": settings.text("routing_key"),
        "event_action": action,
        "dedup_key": message.subject_id(),
    });
    if action == "trigger" {
        body["client"] = "Watchkeeper".into();
        body["payload"] = payload(message);
    }
    let url = address(settings.text("base_url"), BASE_URL, "v2/enqueue");
    Ok(OutgoingDelivery::Request(OutgoingRequest::json(url, &body)))
}

fn action(message: &NotificationMessage) -> &'static str {
    match message.event {
        NotificationEvent::IncidentAcknowledged => "acknowledge",
        _ if message.severity().is_some() && message.is_good_news() => "resolve",
        _ => "trigger",
    }
}

fn payload(message: &NotificationMessage) -> Value {
    let details = facts(message).into_iter().map(|fact| (fact.label.into_owned(), Value::from(fact.text)));
    let text = ("Message".to_owned(), Value::from(cut(message.text(), TEXT_LENGTH)));
    let reported = message.incident().map(|incident| {
        let reported = incident.reported_services();
        ("services".to_owned(), Value::from(services(&reported[..reported.len().min(SERVICES_MAX)])))
    });
    json!({
        "summary": cut(&one_line(&message.headline()), SUMMARY_LENGTH),
        "source": message.organisation,
        "severity": severity(message),
        "timestamp": Timestamp::from_ms(message.at).to_string(),
        "custom_details": Value::Object(std::iter::once(text).chain(details).chain(reported).collect()),
    })
}

fn severity(message: &NotificationMessage) -> &'static str {
    match message.severity() {
        Some(Severity::Critical) => "critical",
        Some(Severity::Major) => "error",
        Some(Severity::Minor) => "warning",
        None => "info",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, event, huge, incident, notice, outage, request, test};

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn an_incident_is_one_alert() {
        let settings = json!({"routing_key": KEY});
        let sent = request(ChannelKind::Pagerduty, &settings, &incident());
        assert_eq!(sent.url, "https://events.pagerduty.com/v2/enqueue");
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(
            (&body["routing_key"], &body["dedup_key"]),
            (&json!(KEY), &json!("rNSJxMbDTX2uHc08AiCqo"))
        );
        let payload = &body["payload"];
        assert_eq!((&payload["severity"], &payload["source"]), (&json!("critical"), &json!("Acme")));
        assert_eq!(payload["timestamp"], "2023-11-14T22:13:20.000Z");
        assert_eq!(payload["custom_details"]["Status"], "investigating");
    }

    #[test]
    fn details_contain_the_reason() {
        let body = body(ChannelKind::Pagerduty, &json!({"routing_key": KEY}), &outage());
        let details = &body["payload"]["custom_details"];
        assert_eq!(details["Reason"], REASON);
        let service = &details["services"][0];
        assert_eq!(service["last_failure"]["error_code"], "connect_refused");
        assert_eq!(service["target"], "https://shop.example/");
    }

    #[rstest]
    #[case(incident(), "trigger")]
    #[case(event(NotificationEvent::IncidentUpdated), "trigger")]
    #[case(event(NotificationEvent::IncidentServiceJoined), "trigger")]
    #[case(event(NotificationEvent::IncidentWorsened), "trigger")]
    #[case(event(NotificationEvent::IncidentServiceRecovered), "trigger")]
    #[case(event(NotificationEvent::IncidentReopened), "trigger")]
    #[case(event(NotificationEvent::IncidentAcknowledged), "acknowledge")]
    #[case(event(NotificationEvent::IncidentResolved), "resolve")]
    #[case(notice(false), "trigger")]
    #[case(notice(true), "resolve")]
    #[case(test(), "trigger")]
    fn an_event_is_an_action(#[case] message: NotificationMessage, #[case] expected: &str) {
        assert_eq!(
            body(ChannelKind::Pagerduty, &json!({"routing_key": KEY}), &message)["event_action"],
            expected
        );
    }

    #[test]
    fn a_summary_has_at_most_1024_characters() {
        let body = body(ChannelKind::Pagerduty, &json!({"routing_key": KEY}), &huge());
        assert!(body["payload"]["summary"].as_str().unwrap().chars().count() <= 1_024);
        assert!(body.to_string().len() < 512 * 1_024);
    }

    #[test]
    fn a_key_has_32_characters() {
        assert!(is_key(KEY) && !is_key(&KEY[1..]) && !is_key("0123456789abcdef0123456789abcde/"));
    }
}
