//! A real mail server (aiosmtpd) on loopback that takes mails in clear, and says what it took.
//!
//! `WATCHKEEPER_TESTS_SMTP_PYTHON` names a Python that has aiosmtpd.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::smtp_sink::mail_variables;

const PYTHON: &str = "/var/tmp/watchkeeper-smtp/bin/python";
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/probe/smtp_server.py");

/// The server; it ends when it is dropped.
pub(crate) struct MailServer {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl MailServer {
    /// `None`, and a word about it, where aiosmtpd is missing.
    pub(crate) fn start() -> Option<Self> {
        let python = std::env::var("WATCHKEEPER_TESTS_SMTP_PYTHON").unwrap_or_else(|_| PYTHON.to_owned());
        if !std::path::Path::new(&python).exists() {
            let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_SMTP").is_some();
            assert!(!is_required, "no Python with aiosmtpd: {python}");
            eprintln!("SKIPPED: no Python with aiosmtpd at {python}");
            return None;
        }
        let mut child = Command::new(python).args([PROGRAM, "plain"]).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, output, port: 0 };
        server.port = server.line().trim().parse().unwrap();
        Some(server)
    }

    /// The settings of a channel that sends to these addresses by it.
    pub(crate) fn settings(&self, to: &[&str]) -> Value {
        json!({"host": "127.0.0.1", "port": self.port, "encryption": "none", "from": "status@example.org", "to": to})
    }

    /// The variables of a server that sends mails to subscribers by it.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        mail_variables(self.port)
    }

    /// The next mail; it waits for one.
    pub(crate) fn mail(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
