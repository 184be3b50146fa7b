//! `webhook`: a signed request to the user's own program, as in Standard Webhooks
//! (<https://www.standardwebhooks.com>): `webhook-id`, `webhook-timestamp`, `webhook-signature`.
//!
//! The signed text is `{id}.{timestamp}.{body}`, with HMAC-SHA256. While a secret is being replaced, the message is signed
//! with the old and the new one, so that the receiver can switch at any time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape};
use super::outgoing::{MessageEnvelope, OutgoingDelivery, OutgoingRequest, UnusableSetting};
use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::ChannelKind;
use crate::model::notification::change::ServiceGroup;
use crate::model::notification::digest::DigestEntry;
use crate::model::notification::message::{IncidentFacts, MessageSubject, NotificationMessage, ServiceFacts};
use crate::model::outage_evidence::LastFailure;

/// The setting with the secret.
pub(super) const SECRET: &str = "secret";
/// The setting with the previous secret.
pub(super) const PREVIOUS_SECRET: &str = "previous_secret";
const PREFIX: &str = "whsec_";
/// Length of a secret in bytes, as in the standard.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Webhook,
    label: "Webhook",
    description: "Sends JSON to your own program, signed as Standard Webhooks describes, so that it can verify the sender.",
    digests: DigestPolicy::IfWanted,
    fields: &[
        ChannelField {
            name: "url",
            label: "Address",
            help: "Where the messages go.",
            shape: FieldShape::Url,
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: SECRET,
            label: "Signing secret",
            help: "whsec_ and 24 to 64 random bytes in base64. The receiver checks the signature with it.",
            shape: FieldShape::Text { max_length: 100, passes: is_secret, form: FORM },
            is_required: true,
            is_secret: true,
        },
        ChannelField {
            name: PREVIOUS_SECRET,
            label: "Previous signing secret",
            help: "While the receiver still knows only this one, messages carry both signatures. Remove it afterwards.",
            shape: FieldShape::Text { max_length: 100, passes: is_secret, form: FORM },
            is_required: false,
            is_secret: true,
        },
    ],
    compose,
    judge: meaning_of_status,
};

const FORM: &str = "whsec_ and 24 to 64 random bytes in base64";

fn is_secret(text: &str) -> bool {
    key_of(text).is_some()
}

fn key_of(secret: &str) -> Option<Vec<u8>> {
    let key = BASE64.decode(secret.strip_prefix(PREFIX)?).ok()?;
    SECRET_BYTES.contains(&key.len()).then_some(key)
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let MessageEnvelope { id, at_seconds, message, settings, .. } = *envelope;
    let request = OutgoingRequest::json(settings.text("url"), &payload(message));
    let mut signatures = vec![signature(settings.text(SECRET), envelope, &request.body)?];
    if !settings.text(PREVIOUS_SECRET).is_empty() {
        signatures.push(signature(settings.text(PREVIOUS_SECRET), envelope, &request.body)?);
    }
    let signed = request.with("webhook-id", id.as_str()).with("webhook-timestamp", at_seconds.to_string());
    Ok(OutgoingDelivery::Request(signed.with("webhook-signature", signatures.join(" "))))
}

fn signature(secret: &str, envelope: &MessageEnvelope<'_>, body: &[u8]) -> Result<String, UnusableSetting> {
    let key = key_of(secret).ok_or(UnusableSetting(SECRET))?;
    let mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| UnusableSetting(SECRET))?;
    let head = format!("{}.{}.", envelope.id, envelope.at_seconds);
    let signature = mac.chain_update(head).chain_update(body).finalize().into_bytes();
    Ok(format!("v1,{}", BASE64.encode(signature)))
}

/// Returns the body of the request: `type`, `timestamp` and `data`, as the standard recommends.
pub(super) fn payload(message: &NotificationMessage) -> Value {
    if let MessageSubject::News(news) = &message.subject {
        let timestamp = Timestamp::from_ms(message.at).to_string();
        return json!({"type": news.kind, "timestamp": timestamp, "data": news.data});
    }
    let data = json!({
        "organisation": message.organisation,
        "incident": message.incident().map(incident),
        "notice": notice(message),
        "digest": digest(message),
    });
    json!({"type": message.event.as_str(), "timestamp": Timestamp::from_ms(message.at).to_string(), "data": data})
}

fn notice(message: &NotificationMessage) -> Option<Value> {
    let MessageSubject::Notice(facts) = &message.subject else { return None };
    Some(json!({
        "id": facts.id,
        "title": facts.title,
        "message": facts.text,
        "severity": facts.severity.as_str(),
        "is_over": facts.is_over,
    }))
}

fn digest(message: &NotificationMessage) -> Option<Value> {
    let MessageSubject::Digest(facts) = &message.subject else { return None };
    let entry = |entry: &DigestEntry| {
        json!({"id": entry.id, "type": entry.event.as_str(), "about": entry.subject,
            "headline": entry.headline})
    };
    let entries: Vec<Value> = facts.entries.iter().map(entry).collect();
    Some(json!({"count": facts.count, "messages": entries}))
}

fn incident(facts: &IncidentFacts) -> Value {
    let time = |ms: i64| Timestamp::from_ms(ms).to_string();
    let change = &facts.change;
    json!({
        "id": facts.id,
        "title": facts.title,
        "status": facts.status.as_str(),
        "severity": facts.severity.as_str(),
        "previous_severity": change.previous_severity.map(Severity::as_str),
        "started_at": time(facts.started_at),
        "resolved_at": facts.resolved_at.map(time),
        "duration_seconds": facts.duration_seconds(),
        "message": facts.text,
        "acknowledged_by": facts.acknowledged_by,
        "services": services(&facts.services),
        "services_count": facts.services_count,
        "joined": change.joined.as_ref().map(group),
        "recovered": change.recovered.as_ref().map(group),
    })
}

fn group(group: &ServiceGroup) -> Value {
    json!({"services": services(&group.services), "count": group.count})
}

pub(super) fn services(services: &[ServiceFacts]) -> Vec<Value> {
    services.iter().map(service).collect()
}

/// Returns a service with the known facts about its failure.
fn service(facts: &ServiceFacts) -> Value {
    let time = |ms: i64| Timestamp::from_ms(ms).to_string();
    let evidence = facts.evidence.as_deref();
    json!({
        "id": facts.id,
        "name": facts.name,
        "impact": facts.impact,
        "is_recovered": facts.is_recovered,
        "since": facts.since.map(time),
        "recovered_at": facts.recovered_at.map(time),
        "duration_seconds": facts.duration_seconds(),
        "target": evidence.and_then(|known| known.target.as_deref()),
        "depends_on": evidence.map_or(&[] as &[String], |known| known.depends_on.as_slice()),
        "last_failure": evidence.and_then(|known| known.last_failure.as_ref()).map(last_failure),
    })
}

fn last_failure(failure: &LastFailure) -> Value {
    json!({
        "at": Timestamp::from_ms(failure.at).to_string(),
        "error_code": failure.error_code,
        "error_message": failure.error_message,
        "status_code": failure.status_code,
        "failing_locations": failure.failing_locations,
        "other_locations": failure.other_locations,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Map;

    use super::*;
    use crate::model::notification::message::SenderIdentity;
    use crate::notify::kinds::settings::OpenSettings;

    /// Uses the secret and signature scheme of the Standard Webhooks specification. The expected values for our id and
    /// body were computed with Python's hmac.
    #[test]
    fn a_message_is_signed_with_both_secrets() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let settings: Map<String, Value> = [
            ("url", "https://hooks.example.com/in"),
            (SECRET, secret),
            (PREVIOUS_SECRET, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), Value::from(text)))
        .collect();
        let message = NotificationMessage::test(
            SenderIdentity { name: "Acme", language: "en", default_language: "en" },
            1_700_000_000_000,
        );
        let id = "rNSJxMbDTX2uHc08AiCqo".parse().unwrap();
        let settings = OpenSettings::new(settings);
        let envelope = MessageEnvelope {
            id: &id,
            at_seconds: 1_700_000_001,
            message: &message,
            settings: &settings,
            recipient: None,
        };
        let OutgoingDelivery::Request(request) = compose(&envelope).unwrap() else { unreachable!("a mail") };
        let header = |name: &str| {
            request.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(header("webhook-id"), Some("rNSJxMbDTX2uHc08AiCqo"));
        assert_eq!(header("webhook-timestamp"), Some("1700000001"));
        let body = r#"{"type":"channel.test","timestamp":"2023-11-14T22:13:20.000Z","data":{"organisation":"Acme","incident":null,"notice":null,"digest":null}}"#;
        assert_eq!(std::str::from_utf8(&request.body).unwrap(), body);
        assert_eq!(
            header("webhook-signature"),
            Some(
                "v1,qNh8aWQibkI681itIHc2AIbpEIEXr2N7BVRh/0JTZS4= v1,L0kFEGhCasTrgQAPzsAj4o4gGg7Ctq6Uzlzfe+GZlps="
            )
        );
    }

    #[rstest]
    #[case("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true)]
    #[case("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false)]
    #[case("whsec_short", false)]
    #[case("whsec_AAECAwQFBgcICQoLDA0ODw==", false)]
    #[case("whsec_", false)]
    fn a_secret_has_the_form_of_the_standard(#[case] text: &str, #[case] is_one: bool) {
        assert_eq!(is_secret(text), is_one);
    }
}
