//! `email`: a mail through your own SMTP server, in plain text and in HTML.
//!
//! `Message-ID` is derived from the delivery's id, so that mail systems recognise a repeated mail. All mails about one subject
//! refer to the same id, so that mail programs show them as one thread. `Auto-Submitted` prevents automatic replies.

use std::fmt;

use askama::Template;
use lettre::address::Envelope as MailEnvelope;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message as Mail};
use std::time::{Duration, UNIX_EPOCH};

use super::answer::meaning_of_status;
use super::definition::{ChannelDefinition, DigestPolicy};
use super::field::{ChannelField, FieldShape, any_line};
use super::outgoing::{
    MailCredentials, MailEncryption, MessageEnvelope, OutgoingDelivery, OutgoingMail, UnusableSetting,
};
use super::summary::{SummaryFact, cut, facts, one_line, plain_without_reasons, reasons};
use crate::model::notification::message::{IncidentFacts, NotificationMessage, ServiceFacts};
use crate::model::notification::{ChannelKind, NotificationEvent};
use crate::model::outage_evidence::{LastFailure, duration, moment, seconds_between};

const SUBJECT_LENGTH: usize = 200;
/// Maximum number of services whose failure reason is in a mail.
const SERVICES_MAX: usize = 20;
/// Maximum number of characters of a cell in the table of services.
const CELL_LENGTH: usize = 300;
const ADDRESS_FORM: &str = "an e-mail address";

pub(super) static DEFINITION: ChannelDefinition = ChannelDefinition {
    kind: ChannelKind::Email,
    label: "E-mail",
    description: "Sends mails through your own SMTP server or that of a provider.",
    digests: DigestPolicy::Usual,
    fields: &[
        ChannelField {
            name: "host",
            label: "Server",
            help: "The host name of the SMTP server.",
            shape: FieldShape::Text {
                max_length: 253,
                passes: is_host,
                form: "a host name or an IP address",
            },
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "port",
            label: "Port",
            help: "Usually 587 with STARTTLS and 465 with TLS.",
            shape: FieldShape::Number { min: 1, max: 65_535, default: 587 },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "encryption",
            label: "Encryption",
            help: "starttls begins in clear and insists on encryption; tls is encrypted from the first byte; none is for servers \
                of your own network.",
            shape: FieldShape::Select { options: &["starttls", "tls", "none"], default: "starttls" },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "username",
            label: "User",
            help: "If the server requires a login.",
            shape: FieldShape::Text { max_length: 255, passes: any_line, form: "one line" },
            is_required: false,
            is_secret: false,
        },
        ChannelField {
            name: "password",
            label: "Password",
            help: "Password of the user.",
            shape: FieldShape::Text { max_length: 255, passes: any_line, form: "one line" },
            is_required: false,
            is_secret: true,
        },
        ChannelField {
            name: "from",
            label: "From",
            help: "The sender address of the mails.",
            shape: FieldShape::Text { max_length: 254, passes: is_address, form: ADDRESS_FORM },
            is_required: true,
            is_secret: false,
        },
        ChannelField {
            name: "to",
            label: "To",
            help: "The recipients, at most 20; each mail shows all of them.",
            shape: FieldShape::List {
                max_items: 20,
                max_length: 254,
                passes: is_address,
                form: ADDRESS_FORM,
            },
            is_required: true,
            is_secret: false,
        },
    ],
    compose,
    judge: meaning_of_status,
};

fn is_host(text: &str) -> bool {
    url::Host::parse(text).is_ok() || text.parse::<std::net::IpAddr>().is_ok()
}

fn is_address(text: &str) -> bool {
    text.is_ascii() && text.parse::<Address>().is_ok()
}

fn compose(envelope: &MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting> {
    let settings = envelope.settings;
    let from: Address = settings.text("from").parse().map_err(|_| UnusableSetting("from"))?;
    let to = recipients(envelope)?;
    let body = mail(envelope, &from, &to).ok_or(UnusableSetting("from"))?;
    let port = settings.value("port").and_then(serde_json::Value::as_i64).unwrap_or(587);
    let credentials = (!settings.text("username").is_empty()).then(|| MailCredentials {
        username: settings.text("username").to_owned(),
        password: settings.text("password").to_owned(),
    });
    Ok(OutgoingDelivery::Mail(OutgoingMail {
        host: settings.text("host").to_owned(),
        port: u16::try_from(port).map_err(|_| UnusableSetting("port"))?,
        encryption: match settings.text("encryption") {
            "tls" => MailEncryption::Tls,
            "none" => MailEncryption::None,
            _ => MailEncryption::StartTls,
        },
        credentials,
        hello: from.domain().to_owned(),
        envelope: MailEnvelope::new(Some(from), to).map_err(|_| UnusableSetting("to"))?,
        body,
    }))
}

/// Returns the address of the contact that receives the message, or the addresses in the settings.
fn recipients(envelope: &MessageEnvelope<'_>) -> Result<Vec<Address>, UnusableSetting> {
    if let Some(own) = envelope.recipient {
        return Ok(vec![own.parse().map_err(|_| UnusableSetting("to"))?]);
    }
    let entries = envelope.settings.value("to").and_then(|value| value.as_array());
    let parsed = entries
        .map(|entries| entries.iter().filter_map(|entry| entry.as_str()?.parse().ok()).collect::<Vec<_>>());
    Ok(parsed.unwrap_or_default())
}

fn mail(envelope: &MessageEnvelope<'_>, from: &Address, to: &[Address]) -> Option<Vec<u8>> {
    let message = envelope.message;
    let name = cut(&one_line(&message.organisation), 100);
    let mut builder = Mail::builder()
        .from(Mailbox::new(Some(name), from.clone()))
        .subject(cut(&one_line(&message.headline()), SUBJECT_LENGTH))
        .message_id(Some(format!("<{}@{}>", envelope.id, from.domain())))
        .date(UNIX_EPOCH + Duration::from_secs(u64::try_from(envelope.at_seconds).ok()?))
        .header(AutoSubmitted);
    if message.event != NotificationEvent::ChannelTest {
        // No mail has this id; mail programs still group the mails that refer to it.
        let thread = format!("<{}.thread@{}>", message.subject_id(), from.domain());
        builder = builder.in_reply_to(thread.clone()).references(thread);
    }
    for address in to {
        builder = builder.to(Mailbox::new(None, address.clone()));
    }
    let parts = MultiPart::alternative_plain_html(text(message), html(message)?);
    Some(builder.multipart(parts).ok()?.formatted())
}

fn text(message: &NotificationMessage) -> String {
    let reasons: Vec<String> = reasons(message).take(SERVICES_MAX).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!("\n\n{}", reasons.join("\n")) };
    let rest = plain_without_reasons(message);
    format!("{}{reasons}\n\n{rest}\n\n-- \n{}, by Watchkeeper\n", message.headline(), message.organisation)
}

/// The mail as HTML; every text is escaped.
#[derive(Template)]
#[template(path = "email.html")]
struct HtmlMail<'a> {
    headline: String,
    lines: Vec<&'a str>,
    services: Vec<[String; 7]>,
    facts: Vec<SummaryFact>,
    colour: String,
    organisation: &'a str,
}

/// Returns the cells of a service in the table of reasons, for a message of time `at` (milliseconds). `None` without a
/// known reason.
fn cells(service: &ServiceFacts, at: i64) -> Option<[String; 7]> {
    let evidence = service.evidence.as_deref()?;
    let failure = evidence.last_failure.as_ref();
    let list = |names: Option<&[String]>| cut(&names.unwrap_or_default().join(", "), CELL_LENGTH);
    let lasts = duration(seconds_between(evidence.since, service.recovered_at.unwrap_or(at)));
    Some([
        service.name.clone(),
        cut(evidence.target.as_deref().unwrap_or_default(), CELL_LENGTH),
        failure.map(LastFailure::error).unwrap_or_default(),
        format!("{} ({lasts})", moment(evidence.since, at)),
        list(failure.map(|failure| failure.failing_locations.as_slice())),
        list(failure.map(|failure| failure.other_locations.as_slice())),
        list(Some(&evidence.depends_on)),
    ])
}

fn html(message: &NotificationMessage) -> Option<String> {
    let reported = message.incident().map_or(&[] as &[ServiceFacts], IncidentFacts::reported_services);
    let rows = reported.iter().filter_map(|service| cells(service, message.at));
    let page = HtmlMail {
        headline: message.headline(),
        lines: message.text().lines().collect(),
        services: rows.take(SERVICES_MAX).collect(),
        facts: facts(message).into_iter().filter(|fact| !fact.is_reason()).collect(),
        colour: format!("#{:06x}", super::summary::colour(message)),
        organisation: &message.organisation,
    };
    page.render().ok()
}

/// The header of RFC 3834 that marks a generated mail, so that it is not answered automatically.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

impl fmt::Debug for AutoSubmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AutoSubmitted")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::notify::kinds::OpenSettings;
    use crate::notify::kinds::fixture::{AT_MS, REASON, incident, outage};

    #[test]
    fn both_parts_contain_the_reason() {
        assert!(text(&outage()).starts_with(&format!("Shop is down\n\n{REASON}\n\nWe are not")));
        let html = html(&outage()).unwrap();
        for cell in [
            "https://shop.example/",
            "connect_refused, Connection refused",
            "Frankfurt, Oslo",
            "Paris",
            "Gateway",
        ] {
            assert!(html.contains(&format!(">{cell}</td>")), "{cell}: {html}");
        }
        assert!(!html.contains("<th>Reason"), "the table says it");
    }

    fn outgoing(recipient: Option<&str>) -> OutgoingMail {
        let settings = json!({"host": "mail.example.org", "port": 465, "encryption": "tls", "username": "u",
            "password": "secret", "from": "status@example.org", "to": ["a@example.org", "b@example.org"]});
        let settings = OpenSettings::new(settings.as_object().unwrap().clone());
        let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
        let message = incident();
        let envelope = MessageEnvelope {
            id: &id,
            // An hour after the event: the mail is dated when it is sent.
            at_seconds: AT_MS / 1_000 + 3_600,
            message: &message,
            settings: &settings,
            recipient,
        };
        let OutgoingDelivery::Mail(mail) = compose(&envelope).unwrap() else { unreachable!() };
        mail
    }

    #[test]
    fn a_mail_has_both_parts_and_the_id_of_its_delivery() {
        let mail = outgoing(None);
        assert_eq!(
            (mail.host.as_str(), mail.port, mail.encryption),
            ("mail.example.org", 465, MailEncryption::Tls)
        );
        assert_eq!(mail.envelope.to().len(), 2);
        let text = String::from_utf8(mail.body).unwrap();
        let thread = format!("<{}.thread@example.org>", incident().subject_id());
        for line in [
            "Message-ID: <rNSJxMbDTX2uHc08AiCq1@example.org>\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Subject: <!channel> Payments & *cards* fail @everyone\r\n",
            "Date: Tue, 14 Nov 2023 23:13:20 +0000\r\n",
            &format!("In-Reply-To: {thread}\r\n"),
            &format!("References: {thread}\r\n"),
            "From: Acme <status@example.org>\r\n",
            "To: a@example.org, b@example.org\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
            "Content-Type: text/html; charset=utf-8\r\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!html(&incident()).unwrap().contains("<b>db"));
    }

    #[test]
    fn each_contact_gets_its_own_mail() {
        let mail = outgoing(Some("anna@example.com"));
        assert_eq!(mail.envelope.to(), ["anna@example.com".parse().unwrap()]);
        let text = String::from_utf8(mail.body).unwrap();
        assert!(text.contains("To: anna@example.com\r\n") && !text.contains("a@example.org"), "{text}");
    }

    #[test]
    fn debug_output_hides_the_mail() {
        assert!(!format!("{:?}", outgoing(None)).contains("secret"));
    }
}
