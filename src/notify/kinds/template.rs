//! `template`: a request whose body people write themselves, with minijinja, for everything that has no kind of its own.
//!
//! A template is filled with a sample before it is stored, so that it cannot fail for a word that does not exist. It has a bound of
//! steps and of bytes, and reads nothing but the message.

use std::io::{self, Write};

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::{Value, json};

use super::answer::meaning_of_status;
use super::definition::{Definition, Digests};
use super::field::{Field, Shape};
use super::outgoing::{Envelope, Outgoing, OutgoingRequest, Unsendable};
use super::webhook::payload;
use crate::model::incident::{IncidentStatus, Severity};
use crate::model::notification::change::IncidentChange;
use crate::model::notification::message::{IncidentFacts, Message, NoticeFacts, Sender, Subject};
use crate::model::notification::{ChannelKind, Event};

/// Most characters of a template, steps of filling it, and bytes of what comes out.
const TEMPLATE_LENGTH: usize = 20_000;
const FUEL: u64 = 50_000;
const BODY_BYTES: usize = 256 * 1_024;

pub(super) static DEFINITION: Definition = Definition {
    kind: ChannelKind::Template,
    label: "Template",
    description: "Sends a request that you write yourself, for whatever has no kind of its own.",
    digests: Digests::IfWanted,
    fields: &[
        Field {
            name: "url",
            label: "Address",
            help: "Where the request goes. It may hold a key, so it is kept like a password.",
            shape: Shape::Url,
            is_required: true,
            is_secret: true,
        },
        Field {
            name: "method",
            label: "Method",
            help: "Of the request.",
            shape: Shape::Select { options: &["POST", "PUT", "PATCH"], default: "POST" },
            is_required: false,
            is_secret: false,
        },
        Field {
            name: "headers",
            label: "Headers",
            help: "Further headers, such as Authorization; Content-Type is application/json without one here. They are kept \
                like passwords.",
            shape: Shape::Headers { max_items: 20 },
            is_required: false,
            is_secret: true,
        },
        Field {
            name: "body",
            label: "Body",
            help: "A template of Jinja. It knows id, event, timestamp, organisation, subject_id, headline, text, severity, \
                is_good_news, incident and notice (these two as a webhook has them, or none); the filter tojson writes a value \
                as JSON: {\"text\": {{ headline|tojson }}}.",
            shape: Shape::Lines { max_length: TEMPLATE_LENGTH, passes: is_template, form: FORM },
            is_required: true,
            is_secret: false,
        },
    ],
    compose,
    judge: meaning_of_status,
};

const FORM: &str = "a template that can be filled for an incident, for a notice and for a test (severity and incident are \
    none then)";

fn is_template(text: &str) -> bool {
    let environment = environment();
    samples().iter().all(|message| fill(&environment, text, "id", message).is_some())
}

fn compose(envelope: &Envelope<'_>) -> Result<Outgoing, Unsendable> {
    let Envelope { id, message, settings, .. } = *envelope;
    let body = fill(&environment(), settings.text("body"), id.as_str(), message).ok_or(Unsendable("body"))?;
    let method = match settings.text("method") {
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        _ => "POST",
    };
    let none = serde_json::Map::new();
    let headers = settings.value("headers").and_then(Value::as_object).unwrap_or(&none);
    let mut request =
        OutgoingRequest { method, url: settings.text("url").to_owned(), headers: Vec::new(), body };
    if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        request = request.with("content-type", "application/json; charset=utf-8");
    }
    for (name, value) in headers {
        request = request.with(name.to_ascii_lowercase(), value.as_str().unwrap_or_default());
    }
    Ok(Outgoing::Request(request))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    environment
}

/// The filled template; `None` when it cannot be filled within the bounds.
fn fill(environment: &Environment<'_>, template: &str, id: &str, message: &Message) -> Option<Vec<u8>> {
    let template = environment.template_from_str(template).ok()?;
    let mut bounded = Bounded(Vec::new());
    let context = minijinja::Value::from(minijinja::value::Serde(context(id, message)));
    template.render_captured_to(context, &mut bounded).ok()?;
    Some(bounded.0)
}

fn context(id: &str, message: &Message) -> Value {
    let mut payload = payload(message);
    let mut part = |name: &str| payload["data"][name].take();
    json!({
        "id": id,
        "event": message.event.as_str(),
        "incident": part("incident"),
        "notice": part("notice"),
        "timestamp": payload["timestamp"],
        "organisation": message.organisation,
        "subject_id": message.subject_id(),
        "headline": message.headline(),
        "text": message.text(),
        "severity": message.severity().map(Severity::as_str),
        "is_good_news": message.is_good_news(),
    })
}

fn samples() -> [Message; 3] {
    let test = Message::test(Sender { name: "Acme", language: "en", default_language: "en" }, 0);
    let incident = IncidentFacts {
        id: "rNSJxMbDTX2uHc08AiCqo".into(),
        title: "Payments fail".into(),
        status: IncidentStatus::Investigating,
        severity: Severity::Critical,
        started_at: 0,
        resolved_at: None,
        text: "No answer.".into(),
        acknowledged_by: None,
        services: Vec::new(),
        services_count: 0,
        change: IncidentChange::default(),
    };
    let notice = NoticeFacts {
        id: "sample".into(),
        title: "A certificate ends".into(),
        text: "Tomorrow.".into(),
        severity: Severity::Minor,
        is_over: false,
    };
    let incident =
        Message { event: Event::IncidentOpened, subject: Subject::Incident(incident), ..test.clone() };
    let notice = Message { subject: Subject::Notice(notice), ..incident.clone() };
    [test, incident, notice]
}

/// Takes so many bytes and no more.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > BODY_BYTES {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture::{incident, request};

    #[test]
    fn texts_cannot_leave_their_place_in_json() {
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

    #[rstest]
    #[case::all_that_it_knows(
        "{{ id }}{{ event }}{{ timestamp }}{{ organisation }}{{ subject_id }}{{ headline }}{{ text }}{{ severity }}{{ is_good_news }}",
        true
    )]
    #[case::only_for_incidents("{% if incident %}{{ incident.title }}{% endif %}", true)]
    #[case::forgets_the_test("{{ incident.title }}", false)]
    #[case::an_unknown_word("{{ titel }}", false)]
    #[case::no_template("{% if %}", false)]
    #[case::an_unknown_filter("{{ text|shout }}", false)]
    #[case::another_file("{% include 'x' %}", false)]
    #[case::too_many_steps(
        "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
        false
    )]
    #[case::too_many_bytes("{% for a in range(4000) %}{{ 'x' * 1000 }}{% endfor %}", false)]
    #[case::endless("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", false)]
    fn a_template_is_tried_before_it_is_stored(#[case] text: &str, #[case] is_one: bool) {
        assert_eq!(is_template(text), is_one);
    }
}
