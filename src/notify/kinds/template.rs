//! `template`: a request with a custom body, for receivers without a kind of their own.
//!
//! The language is `notify::template`. A template is filled with samples before it is stored. If it cannot be filled later,
//! because a message differs from the samples or the template was stored by an earlier version, the message is not lost: its
//! facts are sent as JSON, as in a webhook.

mod samples;

use serde_json::{Map, Value, json};

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting};
use super::webhook::payload;
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;
use crate::notify::template::{MessageTemplate, TEMPLATE_LENGTH, TemplateError, WorkMeter};
use samples::SAMPLES;

const CONTENT_TYPE: &str = "content-type";
const JSON: &str = "application/json; charset=utf-8";

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Template,
    label: "Template",
    description: "Sends an HTTP request that you define, for services without a kind of their own.",
    digests: DigestPolicy::IfWanted,
    fields: &[
        ChannelField {
            name: "url",
            label: "Address",
            help: "Where the request goes. It may contain a key, so it is stored as a secret.",
            shape: FieldShape::Url,
            is_required: true,
            is_secret: true,
        },
        ChannelField {
            name: "method",
            label: "Method",
            help: "Method of the request.",
            shape: FieldShape::Select { options: &["POST", "PUT", "PATCH"], default: "POST" },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "headers",
            label: "Headers",
            help: "Further headers, such as Authorization; Content-Type is application/json without one here. They are kept \
                like passwords.",
            shape: FieldShape::Headers { max_items: 20 },
            is_required: false,
            is_secret: true,
        },
        ChannelField {
            name: BODY,
            label: "Body",
            help: "A template in a part of Jinja: {{ value }}, {% if %} with elif and else, {% for one in list %} with loop.index, \
                loop.first and loop.last, and, or, not, comparisons, + - * / // %, ~, {# comments #}, and the filters tojson, \
                urlencode, upper, lower, trim, default and truncate. It knows id, event, timestamp, organisation, subject_id, \
                headline, text, severity, is_good_news, incident, notice and digest (these three as a webhook has them, or \
                none; severity is none for a test). tojson writes a value as JSON: {\"text\": {{ headline|tojson }}}.",
            shape: FieldShape::Template { max_length: TEMPLATE_LENGTH, check: check_template },
            is_required: true,
            is_secret: false,
        },
    ],
    compose,
    judge: meaning_of_status,
};

/// The setting with the template.
const BODY: &str = "body";

/// Parses a template and fills it with a sample of each kind of message, including the longest one. All samples together
/// may take no more work than one message.
fn check_template(text: &str) -> Result<(), TemplateError> {
    let template = MessageTemplate::parse(text)?;
    let mut meter = WorkMeter::default();
    SAMPLES.iter().try_for_each(|message| template.render(&facts("id", message), &mut meter).map(drop))
}

/// Returns the error of the template in a channel's settings, secrets sealed or not.
#[must_use]
pub fn template_flaw(settings: &Map<String, Value>) -> Option<TemplateError> {
    check_template(settings.get(BODY).and_then(Value::as_str).unwrap_or_default()).err()
}

fn fill(template: &str, id: &str, message: &NotificationMessage) -> Result<String, TemplateError> {
    MessageTemplate::parse(template)?.render(&facts(id, message), &mut WorkMeter::default())
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { id, message, settings, .. } = *envelope;
    let filled = fill(settings.text(BODY), id.as_str(), message);
    let method = match settings.text("method") {
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        _ => "POST",
    };
    let none = Map::new();
    let headers = settings.value("headers").and_then(Value::as_object).unwrap_or(&none);
    let (body, flaw) = match filled {
        Ok(text) => (text.into_bytes(), None),
        Err(error) => (payload(message).to_string().into_bytes(), Some(error)),
    };
    let mut request =
        OutgoingRequest { method, url: settings.text("url").to_owned(), headers: Vec::new(), body };
    let is_content_type = |name: &str| name.eq_ignore_ascii_case(CONTENT_TYPE);
    if flaw.is_some() || !headers.keys().any(|name| is_content_type(name)) {
        request = request.with(CONTENT_TYPE, JSON);
    }
    for (name, value) in headers.iter().filter(|(name, _)| flaw.is_none() || !is_content_type(name)) {
        request = request.with(name.to_ascii_lowercase(), value.as_str().unwrap_or_default());
    }
    Ok(match flaw {
        None => OutgoingDelivery::Request(request),
        Some(flaw) => OutgoingDelivery::Facts { request, flaw },
    })
}

/// Returns the variables of a template for a message.
fn facts(id: &str, message: &NotificationMessage) -> Map<String, Value> {
    let mut payload = payload(message);
    let mut part = |name: &str| payload["data"][name].take();
    let facts = json!({
        "id": id,
        "event": message.event.as_str(),
        "incident": part("incident"),
        "notice": part("notice"),
        "digest": part("digest"),
        "timestamp": payload["timestamp"],
        "organisation": message.organisation,
        "subject_id": message.subject_id(),
        "headline": message.headline(),
        "text": message.text(),
        "severity": message.severity().map(Severity::as_str),
        "is_good_news": message.is_good_news(),
    });
    if let Value::Object(facts) = facts { facts } else { Map::new() }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rstest::rstest;

    use super::*;
    use crate::model::notification::NotificationEvent;
    use crate::notify::kinds::fixture::{huge, incident, request};
    use crate::notify::kinds::{OpenSettings, definition};

    #[test]
    fn texts_cannot_break_out_of_json_strings() {
        let settings = json!({
            "url": "https://api.example.com/x?key=secret", "method": "PUT", "headers": {"Authorization": "Basic eDp5"},
            "body": "{\"text\": {{ text|tojson }}, \"first\": {{ incident.services[0].name|tojson }}, \"id\": \"{{ id }}\"}",
        });
        let sent = request(ChannelKind::Template, &settings, &incident());
        assert_eq!((sent.method, sent.url.as_str()), ("PUT", "https://api.example.com/x?key=secret"));
        assert!(sent.headers.contains(&("authorization".into(), "Basic eDp5".to_owned())));
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body["text"], incident().text());
        assert_eq!(
            (&body["first"], &body["id"]),
            (&json!("API <eu> & *web*"), &json!("rNSJxMbDTX2uHc08AiCq1"))
        );
    }

    /// Cases: the template and its error; `None` if the template can be stored.
    #[rstest]
    #[case::all_that_it_knows(
        "{{ id }}{{ event }}{{ timestamp }}{{ organisation }}{{ subject_id }}{{ headline }}{{ text }}{{ severity }}{{ is_good_news }}",
        None
    )]
    #[case::only_for_incidents("{% if incident %}{{ incident.title }}{% endif %}", None)]
    #[case::only_for_digests("{% if digest %}{{ digest.messages[0].headline }}{% endif %}", None)]
    #[case::everything_twice("{{ incident|tojson }}{{ incident|tojson }}", None)]
    #[case::forgets_the_test(
        "{{ incident.title }}",
        Some("line 1, column 13: there is no `title` in none; use the filter default if it may be missing")
    )]
    #[case::an_unknown_word(
        "{{ titel }}",
        Some("line 1, column 4: there is no `titel`; use the filter default if it may be missing")
    )]
    #[case::a_word_of_one_service_only(
        "{% if incident %}{% for one in incident.services %}{{ one.nam }}{% endfor %}{% endif %}",
        Some(
            "line 1, column 59: there is no `nam` in an object; use the filter default if it may be missing"
        )
    )]
    #[case::too_long_for_the_longest_message(
        "{% if incident %}{% for one in incident.services %}{{ text }}{% endfor %}{% endif %}",
        Some("line 1, column 55: the filled template has more than 262144 bytes")
    )]
    fn a_template_is_tried_with_every_kind_of_message(#[case] text: &str, #[case] flaw: Option<&str>) {
        assert_eq!(check_template(text).err().map(|error| error.to_string()).as_deref(), flaw);
    }

    /// Templates that were stored by an earlier version, or that fail for this message only.
    #[rstest]
    #[case::of_an_earlier_language("{% set a = 1 %}{{ a }}")]
    #[case::a_branch_that_no_sample_takes(
        "{% if organisation == 'Acme' and text is not none %}{{ nothing }}{% endif %}"
    )]
    #[case::too_long_for_this_message(
        "{% for one in incident.services %}{{ text }}{{ text|tojson }}{% endfor %}"
    )]
    fn a_template_that_cannot_be_filled_sends_the_default_body(#[case] body: &str) {
        let message = huge();
        let headers = json!({"Content-Type": "text/plain", "X-Key": "k"});
        let settings = json!({"url": "https://api.example.com/x", "headers": headers, "body": body});
        let settings = OpenSettings::new(settings.as_object().unwrap().clone());
        let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
        let envelope = MessageEnvelope {
            id: &id,
            at_seconds: 0,
            message: &message,
            settings: &settings,
            recipient: None,
        };
        let composed = (definition(ChannelKind::Template).compose)(&envelope).unwrap();
        let OutgoingDelivery::Facts { request, flaw } = composed else { panic!("it was filled") };
        assert_eq!(flaw.line, 1);
        assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), payload(&message));
        let expected = [(CONTENT_TYPE, JSON), ("x-key", "k")];
        let expected = expected.map(|(name, value)| (Cow::from(name), value.to_owned()));
        assert_eq!(request.headers, expected);
    }

    #[test]
    fn there_is_a_sample_of_every_kind_of_message() {
        let events: Vec<NotificationEvent> = SAMPLES.iter().map(|message| message.event).collect();
        let expected = [
            NotificationEvent::ChannelTest,
            NotificationEvent::IncidentOpened,
            NotificationEvent::IncidentResolved,
            NotificationEvent::IncidentUpdated,
            NotificationEvent::CertificateExpiring,
            NotificationEvent::Digest,
        ];
        assert_eq!(events, expected);
        assert_eq!(SAMPLES[3].incident().unwrap().services.len(), 50);
    }
}
