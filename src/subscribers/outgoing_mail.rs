//! Mails to subscribers in wire format: headers and both parts.
//!
//! Each mail names two ways to unsubscribe, the first of which a mail program can use with one click (RFC 8058). Its
//! `Message-ID` follows from the id of the delivery, so that a copy that was sent twice is recognised.

use std::time::{Duration, UNIX_EPOCH};

use lettre::address::Envelope as MailEnvelope;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message as Mail};
use secrecy::ExposeSecret as _;

use crate::clock::Timestamp;
use crate::config::MailTransport;
use crate::config::mail::MailConfig;
use crate::id::Id;
use crate::notify::kinds::{MailCredentials, MailEncryption, OutgoingMail};
use crate::subscribers::rendered_news::{MailTexts, UNSUBSCRIBE_LINK};

const SUBJECT_LENGTH: usize = 200;
const SENDER_LENGTH: usize = 100;

/// The mail server and the sender of mails to subscribers.
#[derive(Clone, Debug)]
pub(super) struct MailSender {
    host: String,
    port: u16,
    encryption: MailEncryption,
    credentials: Option<MailCredentials>,
    from: Address,
    complaints: Option<String>,
}

/// The parts of a mail that differ for each receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct MailReceiver<'a> {
    /// Id of the delivery.
    pub(super) delivery: Id,
    pub(super) address: &'a str,
    /// The address that ends the subscription; `None` for a request for confirmation.
    pub(super) unsubscribe: Option<&'a str>,
    /// Time of the attempt.
    pub(super) at: Timestamp,
}

impl MailSender {
    /// The sender of the settings; `None` if mails cannot be sent.
    pub(super) fn of(config: &MailConfig) -> Option<Self> {
        let password = config.password.as_ref().map(|password| password.expose_secret().to_owned());
        Some(Self {
            host: config.smtp_host.clone()?,
            port: config.port,
            encryption: match config.encryption {
                MailTransport::Starttls => MailEncryption::StartTls,
                MailTransport::Tls => MailEncryption::Tls,
                MailTransport::None => MailEncryption::None,
            },
            credentials: config
                .username
                .clone()
                .map(|username| MailCredentials { username, password: password.unwrap_or_default() }),
            from: config.from.as_ref()?.parse().ok()?,
            complaints: config.complaints.clone(),
        })
    }

    /// Returns the mail for a receiver; `None` if its address cannot be used in a mail.
    pub(super) fn mail(&self, texts: &MailTexts, receiver: MailReceiver<'_>) -> Option<OutgoingMail> {
        let to: Address = receiver.address.parse().ok()?;
        let domain = self.from.domain();
        let seconds = u64::try_from(receiver.at.ms() / 1_000).ok()?;
        let mut builder = Mail::builder()
            .from(Mailbox::new(Some(cut(&texts.sender, SENDER_LENGTH)), self.from.clone()))
            .to(Mailbox::new(None, to.clone()))
            .subject(cut(&texts.subject, SUBJECT_LENGTH))
            .message_id(Some(format!("<{}@{domain}>", receiver.delivery)))
            .date(UNIX_EPOCH + Duration::from_secs(seconds))
            .header(AutoSubmitted);
        if let Some(thread) = &texts.thread {
            let thread = format!("<{thread}.thread@{domain}>");
            builder = builder.in_reply_to(thread.clone()).references(thread);
        }
        let link = receiver.unsubscribe.unwrap_or_default();
        if receiver.unsubscribe.is_some() {
            let other = self.complaints.as_ref();
            let other = other.map(|address| format!(", <mailto:{address}?subject=unsubscribe>"));
            let ways = format!("<{link}>{}", other.unwrap_or_default());
            builder = builder.header(ListUnsubscribe(ways)).header(ListUnsubscribePost);
        }
        let filled = |text: &str| text.replace(UNSUBSCRIBE_LINK, link);
        let parts = MultiPart::alternative_plain_html(filled(&texts.text), filled(&texts.html));
        let body = builder.multipart(parts).ok()?.formatted();
        Some(OutgoingMail {
            host: self.host.clone(),
            port: self.port,
            encryption: self.encryption,
            credentials: self.credentials.clone(),
            hello: domain.to_owned(),
            envelope: MailEnvelope::new(Some(self.from.clone()), vec![to]).ok()?,
            body,
        })
    }
}

/// Replaces white space by single spaces, and truncates a longer text.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

macro_rules! header {
    ($(#[$about:meta])* $name:ident $(($field:ty))?, $text:literal, $value:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        struct $name $(($field))?;

        impl Header for $name {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($text)
            }

            fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Err("this header is only written".into())
            }

            fn display(&self) -> HeaderValue {
                let value: fn(&Self) -> String = $value;
                let value = value(self);
                // A link must not be folded, so the value is written as it is. It holds no line break: tokens and
                // addresses have none.
                HeaderValue::dangerous_new_pre_encoded(Self::name(), value.clone(), value)
            }
        }
    };
}

header!(
    /// The header of RFC 3834 that marks a generated mail, so that it is not answered automatically.
    AutoSubmitted,
    "Auto-Submitted",
    |_| "auto-generated".to_owned()
);
header!(
    /// The ways to end the subscription (RFC 2369).
    ListUnsubscribe(String),
    "List-Unsubscribe",
    |header| header.0.clone()
);
header!(
    /// The first way takes one click (RFC 8058).
    ListUnsubscribePost,
    "List-Unsubscribe-Post",
    |_| "List-Unsubscribe=One-Click".to_owned()
);

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> MailTexts {
        MailTexts {
            sender: "Shop\n<b>".into(),
            subject: format!("Resolved: {}", "ü".repeat(300)),
            thread: Some("incident".into()),
            text: format!("Text\n\n-- \n{UNSUBSCRIBE_LINK}\n"),
            html: format!("<a href=\"{UNSUBSCRIBE_LINK}\">x</a>"),
        }
    }

    fn sender() -> MailSender {
        let config = MailConfig {
            smtp_host: Some("mail.example.org".into()),
            from: Some("status@example.org".into()),
            complaints: Some("abuse@example.org".into()),
            ..MailConfig::default()
        };
        MailSender::of(&config).unwrap()
    }

    fn wire(unsubscribe: Option<&str>) -> String {
        let receiver = MailReceiver {
            delivery: "rNSJxMbDTX2uHc08AiCq1".parse().unwrap(),
            address: "anna@example.com",
            unsubscribe,
            at: Timestamp::from_ms(1_700_000_000_000),
        };
        String::from_utf8(sender().mail(&texts(), receiver).unwrap().body).unwrap()
    }

    #[test]
    fn a_mail_can_be_ended_with_one_click() {
        let link = format!("https://shop.status.example.org/u/{}", "a".repeat(43));
        let text = wire(Some(&link));
        for line in [
            &format!("List-Unsubscribe: <{link}>, <mailto:abuse@example.org?subject=unsubscribe>\r\n"),
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
            "Message-ID: <rNSJxMbDTX2uHc08AiCq1@example.org>\r\n",
            "In-Reply-To: <incident.thread@example.org>\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "To: anna@example.com\r\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains("unsubscribe.invalid"), "{text}");
    }

    #[test]
    fn a_request_for_confirmation_cannot_be_unsubscribed() {
        assert!(!wire(None).contains("List-Unsubscribe"));
    }

    #[test]
    fn debug_output_hides_the_password() {
        let config = MailConfig {
            username: Some("status".into()),
            password: Some("hunter2".into()),
            smtp_host: Some("mail.example.org".into()),
            from: Some("status@example.org".into()),
            ..MailConfig::default()
        };
        assert!(!format!("{:?}", MailSender::of(&config)).contains("hunter2"));
    }
}
