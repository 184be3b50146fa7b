//! Checks over the HTTP client for messages: the clock of this machine against that of the public address of the API, and
//! the mail servers of channels. No mail is sent, and no login is attempted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::Method;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

use crate::app::{self, database_files};
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::doctor::finding::DoctorFinding;
use crate::egress::outbound::{ExchangeFailure, OutboundClient, OutboundRequest, OutboundUrl};
use crate::store::file_copy::DatabaseFile;

/// Time limit of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Tolerated difference of clocks in milliseconds; a `Date` header has whole seconds.
const APART_MS: i64 = 3_000;
/// Maximum number of mail servers that are checked.
const MAIL_SERVERS: usize = 10;

/// Compares the clock of this machine with that of `public_api_url`, which may be the clock of a proxy on another machine;
/// no findings if no address is set.
pub(super) async fn check_clock(config: Arc<Config>) -> Vec<DoctorFinding> {
    let address = format!("{}/healthz", config.base_url());
    let (Some(_), Ok(url)) = (&config.public_api_url, OutboundUrl::parse(&address)) else {
        return Vec::new();
    };
    let Ok(outbound) = app::outbound(&config, &Clock::System) else { return Vec::new() };
    let request = OutboundRequest {
        method: Method::GET,
        url,
        headers: Vec::new(),
        body: Bytes::new(),
        deadline: ANSWER_WITHIN,
    };
    // Another check explains why there is no answer.
    let Ok(answer) = outbound.send(request).await else { return Vec::new() };
    answer.date.map(|date| judge_clock(&config.base_url(), date, Clock::System.now())).into_iter().collect()
}

fn judge_clock(base: &str, there: Timestamp, here: Timestamp) -> DoctorFinding {
    let apart_ms = there.ms_since(here);
    if (-APART_MS..=APART_MS).contains(&apart_ms) {
        return DoctorFinding::fine("clock", format!("it agrees with that of {base}"));
    }
    let (seconds, side) = (apart_ms.abs() / 1_000, if apart_ms > 0 { "behind" } else { "ahead of" });
    DoctorFinding::warning(
        "clock",
        format!("the clock of this machine is {seconds} s {side} that of {base}"),
        "let both machines set their clocks by NTP",
    )
}

/// A mail server, from the settings of a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MailServer {
    host: String,
    port: u16,
    is_encrypted: bool,
}

impl MailServer {
    /// Returns the mail server in the stored settings of a channel; `None` if they name none.
    fn read(settings: &str) -> Option<Self> {
        let settings: Value = serde_json::from_str(settings).ok()?;
        let port = settings["port"].as_u64().unwrap_or(587);
        Some(Self {
            host: settings["host"].as_str().filter(|host| !host.is_empty())?.to_owned(),
            port: u16::try_from(port).ok()?,
            is_encrypted: settings["encryption"] == "tls",
        })
    }

    /// Connects and returns the greeting, or the reason why there is none.
    async fn greet(&self, outbound: &OutboundClient) -> Result<String, String> {
        let answer = timeout(ANSWER_WITHIN, self.first_line(outbound)).await;
        answer.map_err(|_| format!("no greeting within {} s", ANSWER_WITHIN.as_secs()))?
    }

    async fn first_line(&self, outbound: &OutboundClient) -> Result<String, String> {
        let text = |failed: ExchangeFailure| failed.to_string();
        let stream = outbound.reach(&self.host, self.port).await.map_err(text)?;
        if self.is_encrypted {
            read_line(outbound.secure(stream, &self.host).await.map_err(text)?).await
        } else {
            read_line(stream).await
        }
    }
}

/// Reads one line, at most 512 bytes, which RFC 5321 (4.5.3.1.5) allows.
async fn read_line(stream: impl AsyncRead + Unpin) -> Result<String, String> {
    let mut line = Vec::new();
    let mut stream = stream.take(512);
    while !line.ends_with(b"\n") && stream.read_buf(&mut line).await.map_err(|error| error.to_string())? > 0 {
    }
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

/// Checks the mail servers of the channels that are switched on; no findings if there are none.
pub(super) async fn check_mail_servers(config: Arc<Config>) -> Vec<DoctorFinding> {
    let Ok(main) = database_files::main_file(&config) else {
        let observation = "channels are stored in PostgreSQL; their mail servers are not checked";
        return vec![DoctorFinding::unknown(
            "mail server",
            observation,
            "send a test: POST /v1/notification-channels/ID/test",
        )];
    };
    let stored = async { DatabaseFile::open_to_read(&main).await?.mail_settings().await };
    // The check of the main database reports the reason.
    let Ok(stored) = stored.await else { return Vec::new() };
    let servers: BTreeSet<MailServer> = stored.iter().filter_map(|text| MailServer::read(text)).collect();
    let outbound = match app::outbound(&config, &Clock::System) {
        Ok(outbound) => outbound,
        Err(error) => {
            return vec![DoctorFinding::problem(
                "mail server",
                error.to_string(),
                "check probe.ca_file and the name servers",
            )];
        }
    };
    let asked = servers.iter().take(MAIL_SERVERS);
    join_all(asked.map(async |server| judge_greeting(server, server.greet(&outbound).await))).await
}

fn judge_greeting(server: &MailServer, greeting: Result<String, String>) -> DoctorFinding {
    let check = "mail server";
    let MailServer { host, port, .. } = server;
    let advice = "check host, port and encryption of the channel, and the network; then send a test to it";
    match greeting {
        Ok(greeting) if greeting.starts_with("220") => {
            DoctorFinding::fine(check, format!("{host}:{port} answers"))
        }
        Ok(greeting) if greeting.is_empty() => {
            DoctorFinding::problem(check, format!("{host}:{port} hangs up without a greeting"), advice)
        }
        Ok(greeting) => DoctorFinding::problem(
            check,
            format!("{host}:{port} refuses, or is not a mail server: {greeting}"),
            advice,
        ),
        Err(problem) => {
            DoctorFinding::problem(check, format!("{host}:{port} cannot be reached: {problem}"), advice)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;

    #[rstest]
    #[case(0, FindingVerdict::Fine, "agrees")]
    #[case(3_000, FindingVerdict::Fine, "agrees")]
    #[case(-3_001, FindingVerdict::Warning, "3 s ahead of")]
    #[case(90_000, FindingVerdict::Warning, "90 s behind")]
    fn clocks_that_are_apart_are_a_warning(
        #[case] apart_ms: i64,
        #[case] verdict: FindingVerdict,
        #[case] observation: &str,
    ) {
        let here = Timestamp::from_ms(1_000_000);
        let found = judge_clock("https://api.example.com", Timestamp::from_ms(1_000_000 + apart_ms), here);
        assert_eq!(found.verdict, verdict);
        assert!(found.observation.contains(observation), "{found:?}");
    }

    #[rstest]
    #[case(r#"{"host": "mail.example.net"}"#, Some(("mail.example.net", 587, false)))]
    #[case(r#"{"host": "m", "port": 465, "encryption": "tls"}"#, Some(("m", 465, true)))]
    #[case(r#"{"host": ""}"#, None)]
    #[case(r#"{"host": "m", "port": 70000}"#, None)]
    #[case("no json", None)]
    fn the_server_of_a_channel_is_found(#[case] settings: &str, #[case] expected: Option<(&str, u16, bool)>) {
        let expected = expected.map(|(host, port, is_encrypted)| MailServer {
            host: host.to_owned(),
            port,
            is_encrypted,
        });
        assert_eq!(MailServer::read(settings), expected);
    }

    #[rstest]
    #[case(Ok("220 mail.example.net ESMTP".to_owned()), FindingVerdict::Fine)]
    #[case(Ok("554 go away".to_owned()), FindingVerdict::Problem)]
    #[case(Ok(String::new()), FindingVerdict::Problem)]
    #[case(Err("refused".to_owned()), FindingVerdict::Problem)]
    fn a_greeting_decides_the_finding(
        #[case] greeting: Result<String, String>,
        #[case] verdict: FindingVerdict,
    ) {
        let server = MailServer { host: "m".to_owned(), port: 25, is_encrypted: false };
        assert_eq!(judge_greeting(&server, greeting).verdict, verdict);
    }
}
