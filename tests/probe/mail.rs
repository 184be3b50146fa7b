//! Mails to a real mail server (aiosmtpd), with STARTTLS and AUTH: what arrives, and what refusals mean.
//!
//! `WATCHKEEPER_TESTS_SMTP_PYTHON` names a Python that has aiosmtpd.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use watchkeeper::clock::Clock;
use watchkeeper::egress::outbound::{Outbound, OutboundParts};
use watchkeeper::egress::{Egress, EgressPolicy};
use watchkeeper::model::notification::ChannelKind;
use watchkeeper::model::notification::delivery::TryOutcome;
use watchkeeper::model::notification::message::{Message, Sender};
use watchkeeper::notify::carrier::{Carried, Carrier};
use watchkeeper::notify::kinds::{Envelope, OpenSettings, definition};

use crate::support::certificates::Authority;

const PYTHON: &str = "/var/tmp/watchkeeper-smtp/bin/python";

struct MailServer {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
    authority: Authority,
}

impl MailServer {
    /// `None`, and a word about it, where aiosmtpd is missing.
    async fn start() -> Option<Self> {
        let python = std::env::var("WATCHKEEPER_TESTS_SMTP_PYTHON").unwrap_or_else(|_| PYTHON.to_owned());
        if !std::path::Path::new(&python).exists() {
            let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_SMTP").is_some();
            assert!(!is_required, "no Python with aiosmtpd: {python}");
            eprintln!("SKIPPED: no Python with aiosmtpd at {python}");
            return None;
        }
        let authority = Authority::found();
        let (chain, key) = authority.issue(&["localhost"], |_| ()).pem();
        let (mut chain_file, mut key_file) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        chain_file.write_all(chain.as_bytes()).unwrap();
        key_file.write_all(key.as_bytes()).unwrap();
        let mut child = Command::new(python)
            .arg("tests/probe/smtp_server.py")
            .args([chain_file.path(), key_file.path()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        Some(Self { _child: child, lines, port, authority })
    }

    async fn mail(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Sends a test message with these settings beside those that are right.
    async fn send(&self, changes: &Value) -> Carried {
        let mut settings = json!({"host": "localhost", "port": self.port, "username": "status",
            "password": "parole", "from": "status@example.org", "to": ["a@example.org", "b@example.org"]});
        for (name, value) in changes.as_object().unwrap() {
            settings[name] = value.clone();
        }
        let mut ca_file = NamedTempFile::new().unwrap();
        ca_file.write_all(self.authority.pem().as_bytes()).unwrap();
        let egress = Egress { policy: EgressPolicy::PrivateAllowed, source: None };
        let dns_servers = &["127.0.0.1:9".parse().unwrap()];
        let parts =
            OutboundParts { egress, dns_servers, ca_file: Some(ca_file.path()), clock: Clock::System };
        let carrier = Carrier { outbound: Outbound::new(parts).unwrap(), clock: Clock::System };
        let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
        let message = Message::test(
            Sender { name: "Ämter & <Co>", language: "en", default_language: "en" },
            1_700_000_000_000,
        );
        let settings = OpenSettings::new(settings.as_object().unwrap().clone());
        let envelope =
            Envelope { id: &id, at_seconds: 0, message: &message, settings: &settings, recipient: None };
        carrier.carry(definition(ChannelKind::Email), &envelope).await
    }
}

#[tokio::test]
async fn a_mail_arrives_encrypted_with_both_parts() {
    let Some(mut server) = MailServer::start().await else { return };
    let carried = server.send(&json!({})).await;
    assert_eq!((carried.outcome, carried.status_code), (TryOutcome::Delivered, Some(250)), "{carried:?}");
    let mail = server.mail().await;
    assert_eq!(mail["to"], json!(["a@example.org", "b@example.org"]));
    assert_eq!((&mail["is_encrypted"], &mail["is_known"]), (&json!(true), &json!(true)));
    let content = mail["content"].as_str().unwrap();
    for part in [
        "Message-ID: <rNSJxMbDTX2uHc08AiCq1@example.org>",
        "Auto-Submitted: auto-generated",
        "text/plain",
        "text/html",
        "Messages arrive here.",
    ] {
        assert!(content.contains(part), "{part}\n{content}");
    }
    assert!(!content.contains("parole"));
}

#[tokio::test]
async fn refusals_have_their_meaning() {
    let Some(server) = MailServer::start().await else { return };
    for (changes, outcome, code) in [
        (json!({"to": ["unknown@example.org"]}), TryOutcome::Refused, Some(550)),
        (json!({"to": ["later@example.org"]}), TryOutcome::Failed, Some(451)),
        (json!({"password": "wrong-one"}), TryOutcome::Refused, Some(535)),
        (json!({"encryption": "none", "username": ""}), TryOutcome::Refused, Some(530)),
        (json!({"encryption": "tls"}), TryOutcome::Failed, None),
        (json!({"port": 9}), TryOutcome::Failed, None),
    ] {
        let carried = server.send(&changes).await;
        assert_eq!((carried.outcome, carried.status_code), (outcome, code), "{changes} {carried:?}");
        assert!(!carried.detail.contains("wrong-one"), "{carried:?}");
    }
}
