//! `opsgenie`: alerts by the Alert API (<https://docs.opsgenie.com/docs/alert-api>).
//!
//! An incident is one alert, identified by its alias: created, acknowledged, closed.

use serde_json::{Value, json};

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape, any_line};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting, address};
use super::summary::{SummaryFact, cut, facts, one_line, plain};
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::NotificationMessage;

const BASE_URL: &str = "https://api.opsgenie.com";
const EU_URL: &str = "https://api.eu.opsgenie.com";
/// Maximum number of characters of an alert's message; the next two limits are those of its description and of a note.
const MESSAGE_LENGTH: usize = 130;
const TEXT_LENGTH: usize = 15_000;
const NOTE_LENGTH: usize = 10_000;
/// Maximum number of characters of a reason; all details together may have 8,000.
const REASON_LENGTH: usize = 900;
const DETAIL_LENGTH: usize = 400;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Opsgenie,
    label: "Opsgenie",
    description: "Creates, acknowledges and closes alerts of Opsgenie. Add an API integration to a team there. A test creates an alert of priority P5.",
    digests: DigestPolicy::Never,
    fields: &[
        ChannelField {
            name: "api_key",
            label: "API key",
            help: "API key of the integration, as Opsgenie shows it.",
            shape: FieldShape::Text { max_length: 100, passes: any_line, form: "one line" },
            is_required: true,
            is_secret: true,
        },
        ChannelField {
            name: "region",
            label: "Region",
            help: "Region of the account.",
            shape: FieldShape::Select { options: &["us", "eu"], default: "us" },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "base_url",
            label: "Server",
            help: "Only for a server that is not one of Opsgenie's own.",
            shape: FieldShape::Url,
            is_required: false,
            is_secret: false,
        },
    ],
    compose,
    judge: meaning_of_status,
};

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { message, settings, .. } = *envelope;
    let alias = message.subject_id();
    let (path, body) = match action(message) {
        None => ("v2/alerts".to_owned(), alert(message)),
        Some(action) => {
            let path = format!("v2/alerts/{alias}/{action}?identifierType=alias");
            (path, json!({"source": "Watchkeeper", "note": cut(&plain(message), NOTE_LENGTH)}))
        }
    };
    let usual = if settings.text("region") == "eu" { EU_URL } else { BASE_URL };
    let request = OutgoingRequest::json(address(settings.text("base_url"), usual, &path), &body);
    Ok(OutgoingDelivery::Request(
        request.with("authorization", format!("GenieKey {}", settings.text("api_key"))),
    ))
}

/// Returns the action on an existing alert; `None` for a message that may create one.
fn action(message: &NotificationMessage) -> Option<&'static str> {
    match message.event {
        NotificationEvent::IncidentAcknowledged => Some("acknowledge"),
        _ if message.severity().is_some() && message.is_good_news() => Some("close"),
        _ => None,
    }
}

fn alert(message: &NotificationMessage) -> Value {
    let detail = |fact: SummaryFact| {
        let most = if fact.is_reason() { REASON_LENGTH } else { DETAIL_LENGTH };
        (fact.label.into_owned(), Value::from(cut(&fact.text, most)))
    };
    let details = facts(message).into_iter().map(detail);
    json!({
        "message": cut(&one_line(&message.headline()), MESSAGE_LENGTH),
        "alias": message.subject_id(),
        "description": cut(&plain(message), TEXT_LENGTH),
        "details": Value::Object(details.collect()),
        "entity": cut(&message.organisation, 512),
        "source": "Watchkeeper",
        "priority": priority(message),
    })
}

fn priority(message: &NotificationMessage) -> &'static str {
    match message.severity() {
        Some(Severity::Critical) => "P1",
        Some(Severity::Major) => "P2",
        Some(Severity::Minor) => "P3",
        None => "P5",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{REASON, body, event, huge, incident, notice, outage, request};

    #[rstest]
    #[case(json!({"region": "us"}), incident(), "https://api.opsgenie.com/v2/alerts")]
    #[case(json!({"region": "eu"}), event(NotificationEvent::IncidentReopened), "https://api.eu.opsgenie.com/v2/alerts")]
    #[case(json!({}), event(NotificationEvent::IncidentServiceJoined), "https://api.opsgenie.com/v2/alerts")]
    #[case(json!({}), event(NotificationEvent::IncidentWorsened), "https://api.opsgenie.com/v2/alerts")]
    #[case(json!({}), event(NotificationEvent::IncidentServiceRecovered), "https://api.opsgenie.com/v2/alerts")]
    #[case(json!({}), event(NotificationEvent::IncidentAcknowledged),
        "https://api.opsgenie.com/v2/alerts/rNSJxMbDTX2uHc08AiCqo/acknowledge?identifierType=alias")]
    #[case(json!({"base_url": "http://genie.example/"}), event(NotificationEvent::IncidentResolved),
        "http://genie.example/v2/alerts/rNSJxMbDTX2uHc08AiCqo/close?identifierType=alias")]
    #[case(json!({}), notice(true), "https://api.opsgenie.com/v2/alerts/certificate-1/close?identifierType=alias")]
    fn an_alert_is_found_by_its_alias(
        #[case] mut settings: Value,
        #[case] message: NotificationMessage,
        #[case] url: &str,
    ) {
        settings["api_key"] = "secret-key".into();
        let sent = request(ChannelKind::Opsgenie, &settings, &message);
        assert_eq!((sent.method, sent.url.as_str()), ("POST", url));
        assert!(sent.headers.contains(&("authorization".into(), "GenieKey secret-key".to_owned())));
    }

    #[test]
    fn details_and_description_contain_the_reason() {
        let body = body(ChannelKind::Opsgenie, &json!({"api_key": "k"}), &outage());
        assert_eq!(body["details"]["Reason"], REASON);
        assert!(body["description"].as_str().unwrap().starts_with(REASON), "{body}");
    }

    #[test]
    fn an_alert_keeps_to_its_limits() {
        for message in [incident(), huge()] {
            let sent = request(ChannelKind::Opsgenie, &json!({"api_key": "k"}), &message);
            let body: Value = serde_json::from_slice(&sent.body).unwrap();
            let length = |name: &str| body[name].as_str().unwrap().chars().count();
            assert!(length("message") <= 130 && length("description") <= 15_000);
            assert!(body["details"].to_string().chars().count() <= 8_000);
            assert_eq!((&body["alias"], &body["priority"]), (&json!("rNSJxMbDTX2uHc08AiCqo"), &json!("P1")));
        }
    }
}
