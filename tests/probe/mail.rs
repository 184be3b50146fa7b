//! Mails to a real mail server (aiosmtpd): encrypted, in clear, to servers that cannot be trusted, and what refusals mean.
//!
//! `WATCHKEEPER_TESTS_SMTP_PYTHON` names a Python that has aiosmtpd.

use std::io::Write;
use std::process::Stdio;

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use watchkeeper::clock::Clock;
use watchkeeper::config::limits::MailLimits;
use watchkeeper::egress::outbound::{OutboundClient, OutboundParts};
use watchkeeper::egress::{EgressGate, EgressPolicy};
use watchkeeper::model::notification::ChannelKind;
use watchkeeper::model::notification::delivery::DeliveryOutcome;
use watchkeeper::model::notification::delivery::DeliveryOutcome::{Delivered, Failed, Refused};
use watchkeeper::model::notification::message::{NotificationMessage, SenderIdentity};
use watchkeeper::notify::carrier::{MessageSender, SendReport};
use watchkeeper::notify::composer::MessageComposer;
use watchkeeper::notify::kinds::{MessageEnvelope, OpenSettings, definition};

use crate::support::certificates::Authority;

const PYTHON: &str = "/var/tmp/watchkeeper-smtp/bin/python";

struct MailServer {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
    authority: Authority,
}

impl MailServer {
    /// A server with this mode and a certificate for this name; `None`, and a printed line, where aiosmtpd is missing.
    async fn start(mode: &str, name: &str) -> Option<Self> {
        let python = std::env::var("WATCHKEEPER_TESTS_SMTP_PYTHON").unwrap_or_else(|_| PYTHON.to_owned());
        if !std::path::Path::new(&python).exists() {
            let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_SMTP").is_some();
            assert!(!is_required, "no Python with aiosmtpd: {python}");
            eprintln!("SKIPPED: no Python with aiosmtpd at {python}");
            return None;
        }
        let authority = Authority::found();
        let (chain, key) = authority.issue(&[name], |_| ()).pem();
        let (mut chain_file, mut key_file) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        chain_file.write_all(chain.as_bytes()).unwrap();
        key_file.write_all(key.as_bytes()).unwrap();
        let mut command = Command::new(python);
        command.args(["tests/probe/smtp_server.py", mode]);
        if mode != "plain" {
            command.args([chain_file.path(), key_file.path()]);
        }
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        Some(Self { _child: child, lines, port, authority })
    }

    async fn mail(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Sends a test message with these settings beside those that are right.
    async fn send(&self, changes: &Value) -> SendReport {
        self.send_trusting(&self.authority, changes).await
    }

    /// The same, by a client that trusts this authority.
    async fn send_trusting(&self, authority: &Authority, changes: &Value) -> SendReport {
        let mut settings = json!({"host": "localhost", "port": self.port, "username": "status",
            "password": "parole", "from": "status@example.org", "to": ["a@example.org", "b@example.org"]});
        for (name, value) in changes.as_object().unwrap() {
            settings[name] = value.clone();
        }
        let mut ca_file = NamedTempFile::new().unwrap();
        ca_file.write_all(authority.pem().as_bytes()).unwrap();
        let egress = EgressGate { policy: EgressPolicy::PrivateAllowed, source: None };
        let dns_servers = &["127.0.0.1:9".parse().unwrap()];
        let parts =
            OutboundParts { egress, dns_servers, ca_file: Some(ca_file.path()), clock: Clock::System };
        let carrier = MessageSender {
            outbound: OutboundClient::new(parts).unwrap(),
            clock: Clock::System,
            composer: MessageComposer::default(),
            mail: MailLimits::default(),
        };
        let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
        let message = NotificationMessage::test(
            SenderIdentity { name: "Ämter & <Co>", language: "en", default_language: "en" },
            1_700_000_000_000,
        );
        let settings = OpenSettings::new(settings.as_object().unwrap().clone());
        let envelope = MessageEnvelope {
            id: &id,
            at_seconds: 0,
            message: &message,
            settings: &settings,
            recipient: None,
        };
        carrier.carry(definition(ChannelKind::Email), &envelope).await
    }
}

/// Encrypted from the first byte, or from the third line on.
#[rstest]
#[case::starttls("starttls")]
#[case::tls("tls")]
#[tokio::test]
async fn a_mail_arrives_encrypted(#[case] encryption: &str) {
    let Some(mut server) = MailServer::start(encryption, "localhost").await else { return };
    let carried = server.send(&json!({"encryption": encryption})).await;
    assert_eq!(
        (carried.outcome, carried.status_code),
        (DeliveryOutcome::Delivered, Some(250)),
        "{carried:?}"
    );
    let mail = server.mail().await;
    assert_eq!(mail["to"], json!(["a@example.org", "b@example.org"]));
    assert_eq!((&mail["is_encrypted"], &mail["is_known"]), (&json!(true), &json!(true)));
    assert_eq!(mail["headers"]["Message-ID"], "<rNSJxMbDTX2uHc08AiCq1@example.org>");
    assert_eq!(mail["headers"]["From"], "\"Ämter & <Co>\" <status@example.org>");
    assert!(mail["text"].as_str().unwrap().contains("Messages arrive here."), "{mail}");
    assert!(!mail["content"].as_str().unwrap().contains("parole"));
}

#[tokio::test]
async fn a_mail_is_unencrypted_when_configured() {
    let Some(mut server) = MailServer::start("plain", "localhost").await else { return };
    let carried = server.send(&json!({"encryption": "none", "username": ""})).await;
    assert_eq!(carried.outcome, DeliveryOutcome::Delivered, "{carried:?}");
    assert_eq!(server.mail().await["is_encrypted"], json!(false));
}

/// Mode of a server, changed settings, outcome, code and text.
#[rstest]
#[case::unknown("starttls", json!({"to": ["unknown@example.org"]}), Refused, Some(550), "No such user")]
#[case::one_is_known("starttls", json!({"to": ["a@example.org", "unknown@example.org"]}), Delivered, Some(250), "Not to unknown@example.org: permanent error (550): 5.1.1 No such user; Taken")]
#[case::one_is_greylisted("starttls", json!({"to": ["unknown@example.org", "grey@example.org"]}), Failed, Some(451), "Greylisted")]
#[case::one_is_taken("starttls", json!({"to": ["a@example.org", "grey@example.org"]}), Delivered, Some(250), "Not to grey@example.org")]
#[case::greylisted("starttls", json!({"to": ["grey@example.org"]}), Failed, Some(451), "Greylisted")]
#[case::wrong_password("starttls", json!({"password": "wrong-one"}), Failed, Some(535), "Authentication credentials invalid")]
#[case::wrong_password("tls", json!({"encryption": "tls", "password": "wrong-one"}), Failed, Some(535), "Authentication credentials invalid")]
#[case::in_clear("starttls", json!({"encryption": "none", "username": ""}), Failed, Some(530), "STARTTLS")]
#[case::no_password("tls", json!({"encryption": "tls", "username": ""}), Failed, Some(530), "Authentication required")]
#[case::no_starttls("plain", json!({}), Failed, None, "The server does not offer STARTTLS")]
#[case::no_tls("plain", json!({"encryption": "tls"}), Failed, None, "The TLS handshake failed")]
#[case::tls_from_the_first_byte("starttls", json!({"encryption": "tls"}), Failed, None, "The TLS handshake failed")]
#[case::no_listener("plain", json!({"port": 9}), Failed, None, "Connection refused")]
#[tokio::test]
async fn refusals_are_classified(
    #[case] mode: &str,
    #[case] changes: Value,
    #[case] outcome: DeliveryOutcome,
    #[case] code: Option<u16>,
    #[case] text: &str,
) {
    let Some(server) = MailServer::start(mode, "localhost").await else { return };
    let carried = server.send(&changes).await;
    assert_eq!((carried.outcome, carried.status_code), (outcome, code), "{carried:?}");
    assert!(carried.detail.contains(text) && !carried.detail.contains("wrong-one"), "{carried:?}");
}

/// Neither password nor mail is sent to a server with a wrong certificate.
#[rstest]
#[case::of_another_name("starttls", "mail.example.org", true, "The certificate is for another name")]
#[case::of_another_name("tls", "mail.example.org", true, "The certificate is for another name")]
#[case::of_a_stranger(
    "starttls",
    "localhost",
    false,
    "The certificate was not issued by a trusted authority"
)]
#[case::of_a_stranger("tls", "localhost", false, "The certificate was not issued by a trusted authority")]
#[tokio::test]
async fn an_untrusted_server_gets_nothing(
    #[case] mode: &str,
    #[case] name: &str,
    #[case] is_known: bool,
    #[case] text: &str,
) {
    let Some(server) = MailServer::start(mode, name).await else { return };
    let stranger = Authority::found();
    let authority = if is_known { &server.authority } else { &stranger };
    let carried = server.send_trusting(authority, &json!({"encryption": mode})).await;
    assert_eq!((carried.outcome, carried.status_code), (DeliveryOutcome::Failed, None), "{carried:?}");
    assert_eq!(carried.detail, text);
}
