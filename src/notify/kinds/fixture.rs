//! Messages and requests for the tests of kinds.

use serde_json::Value;

use crate::id::Id;
use crate::model::incident::{IncidentStatus, Severity};
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::message::{
    IncidentFacts, MessageSubject, NoticeFacts, NotificationMessage, SenderIdentity, ServiceFacts,
};
use crate::model::notification::{ChannelKind, NotificationEvent};
use crate::model::outage_evidence::{LastFailure, OutageEvidence};
use crate::notify::kinds::{MessageEnvelope, OpenSettings, OutgoingDelivery, OutgoingRequest, definition};

/// The time of all messages.
pub(super) const AT_MS: i64 = 1_700_000_000_000;

/// An incident whose texts contain markup and mentions of the receivers' services.
pub(super) fn incident() -> NotificationMessage {
    let service = |name: &str| ServiceFacts {
        id: Id::random().to_string(),
        name: name.into(),
        impact: Some("major_outage".into()),
        is_recovered: false,
        since: None,
        recovered_at: None,
        evidence: None,
    };
    let facts = IncidentFacts {
        id: "rNSJxMbDTX2uHc08AiCqo".into(),
        title: "<!channel> Payments & *cards* fail @everyone".into(),
        status: IncidentStatus::Investigating,
        severity: Severity::Critical,
        started_at: AT_MS,
        resolved_at: None,
        text: "No answer from <b>db</b> \"a\\b\"\n[click](https://evil.example) _now_ `x` 🚨".into(),
        acknowledged_by: None,
        services: vec![service("API <eu> & *web*"), service("Shop")],
        services_count: 12,
        change: IncidentChange::default(),
    };
    NotificationMessage {
        event: NotificationEvent::IncidentOpened,
        at: AT_MS,
        organisation: "Acme".into(),
        subject: MessageSubject::Incident(facts),
    }
}

/// The reason of [`outage`], as it appears in a message.
pub(super) const REASON: &str = "Shop (https://shop.example/): connect_refused, Connection refused, since 22:12:15 UTC, for 1 min 5 s; \
    seen by Frankfurt, Oslo; not by Paris; depends on Gateway";

/// An incident with known evidence of its cause.
pub(super) fn outage() -> NotificationMessage {
    with(incident(), |facts| {
        facts.title = "Shop is down".into();
        facts.text = "We are not getting the expected response.".into();
        facts.services.truncate(1);
        facts.services_count = 1;
        let service = &mut facts.services[0];
        service.name = "Shop".into();
        service.since = Some(AT_MS - 65_000);
        service.evidence = Some(Box::new(evidence()));
    })
}

fn evidence() -> OutageEvidence {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    OutageEvidence {
        since: AT_MS - 65_000,
        target: Some("https://shop.example/".into()),
        depends_on: names(&["Gateway"]),
        last_failure: Some(LastFailure {
            at: AT_MS - 5_000,
            error_code: "connect_refused".into(),
            error_message: "Connection refused".into(),
            status_code: None,
            failing_locations: names(&["Frankfurt", "Oslo"]),
            other_locations: names(&["Paris"]),
        }),
    }
}

/// An incident with longer texts than any receiver accepts.
pub(super) fn huge() -> NotificationMessage {
    with(incident(), |facts| {
        facts.title = "\"🚨&".repeat(100);
        facts.text = "\u{1}\"<🚨&*".repeat(3_000);
        let long = "\"<*🚨".repeat(100);
        let mut evidence = evidence();
        evidence.target = Some(long.clone());
        evidence.depends_on = vec![long.clone(); 5];
        if let Some(failure) = &mut evidence.last_failure {
            failure.error_message.clone_from(&long);
            failure.failing_locations = vec![long.clone(); 20];
        }
        facts.services[0].evidence = Some(Box::new(evidence));
        facts.services = vec![facts.services[0].clone(); 50];
        facts.change.joined = Some(ServiceGroup { services: facts.services.clone(), count: 70 });
        facts.services.iter_mut().for_each(|service| service.name = "\"<*".repeat(85));
    })
}

/// A message about this event of `incident`.
pub(super) fn event(event: NotificationEvent) -> NotificationMessage {
    let status = match event {
        NotificationEvent::IncidentResolved => IncidentStatus::Resolved,
        _ => IncidentStatus::Investigating,
    };
    NotificationMessage { event, ..with(incident(), |facts| facts.status = status) }
}

/// A notice about a certificate that expires soon, or (`is_over`) that has been renewed.
pub(super) fn notice(is_over: bool) -> NotificationMessage {
    let facts = NoticeFacts {
        id: "certificate-1".into(),
        title: "Certificate".into(),
        text: "It ends.".into(),
        severity: Severity::Minor,
        is_over,
    };
    NotificationMessage { subject: MessageSubject::Notice(facts), ..incident() }
}

/// A test message of a channel.
pub(super) fn test() -> NotificationMessage {
    NotificationMessage::test(SenderIdentity { name: "Acme", language: "en", default_language: "en" }, AT_MS)
}

fn with(mut message: NotificationMessage, change: impl FnOnce(&mut IncidentFacts)) -> NotificationMessage {
    if let MessageSubject::Incident(facts) = &mut message.subject {
        change(facts);
    }
    message
}

/// Returns the request that a kind of channel makes of this message with these settings.
pub(super) fn request(kind: ChannelKind, settings: &Value, message: &NotificationMessage) -> OutgoingRequest {
    let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
    let settings = OpenSettings::new(settings.as_object().unwrap().clone());
    let envelope =
        MessageEnvelope { id: &id, at_seconds: AT_MS / 1_000, message, settings: &settings, recipient: None };
    let OutgoingDelivery::Request(request) = (definition(kind).compose)(&envelope).unwrap() else {
        unreachable!("a mail")
    };
    request
}

pub(super) fn body(kind: ChannelKind, settings: &Value, message: &NotificationMessage) -> Value {
    serde_json::from_slice(&request(kind, settings, message).body).unwrap()
}
