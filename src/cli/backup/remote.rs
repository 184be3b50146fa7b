//! `watchkeeper backup --url`: requests a backup into the server's own folder, and waits until it is complete.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use indicatif::{HumanBytes, ProgressBar};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use url::Url;

use crate::cli::node_api::{self, NodeRequest, authority};
use crate::cli::printable::printable;
use crate::cli::running::say;

const PATH: &str = "/v1/engine/backups";
/// Hint about how to create the token.
pub(super) const MAKES_TOKEN: &str =
    "watchkeeper token create --org ID --name backup --permissions engine.backup makes one";
/// Polling interval. A token may make 120 requests a minute.
const ASK_EVERY: Duration = Duration::from_secs(1);
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Failed requests in a row before giving up: the server may be restarted meanwhile.
const FAILURES_MAX: u32 = 30;
/// Largest response, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A backup in a response of the server.
#[derive(Debug, Deserialize)]
struct RemoteBackup {
    name: Option<String>,
    state: String,
    total_bytes: Option<u64>,
    copied_bytes: u64,
    problem: Option<String>,
}

/// A server and the token for it.
pub(super) struct RemoteServer<'a> {
    pub(super) url: &'a Url,
    /// A token with the permission engine.backup.
    pub(super) token: &'a str,
}

impl RemoteServer<'_> {
    /// Requests a backup, shows its progress, and prints the outcome.
    ///
    /// # Errors
    ///
    /// When the server refuses or does not answer, or the backup fails; the message is one line.
    pub(super) async fn back_up(&self, progress: ProgressBar, as_json: bool) -> anyhow::Result<ExitCode> {
        let asked: RemoteBackup = serde_json::from_value(self.ask(Method::POST).await?)?;
        let name = asked.name.context("the server does not say which backup it makes")?;
        let waited = self.wait_for(&name, &progress).await;
        progress.finish_and_clear();
        let bytes = waited?;
        if as_json {
            say(&json!({"server": self.url.as_str(), "name": name, "bytes": bytes}).to_string());
            return Ok(ExitCode::SUCCESS);
        }
        let size = bytes.map_or_else(String::new, |bytes| format!(", {}", HumanBytes(bytes)));
        say(&format!(
            "{} has created the backup {} in its backup.folder{size}. The secret key is not in it: keep it elsewhere.",
            authority(self.url),
            printable(&name),
        ));
        Ok(ExitCode::SUCCESS)
    }

    /// Waits until the backup is complete; returns its bytes.
    async fn wait_for(&self, name: &str, progress: &ProgressBar) -> anyhow::Result<Option<u64>> {
        progress.set_message(printable(name).into_owned());
        let mut failures = 0;
        loop {
            sleep(ASK_EVERY).await;
            let listed: Vec<RemoteBackup> = match self.ask(Method::GET).await {
                Ok(listed) => serde_json::from_value(listed)?,
                Err(_) if failures < FAILURES_MAX => {
                    failures += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            failures = 0;
            let mut of_this_name = listed.into_iter().filter(|listed| listed.name.as_deref() == Some(name));
            let Some(found) = of_this_name.next() else {
                bail!("the backup {} is gone; the server may have been restarted", printable(name));
            };
            if let Some(total) = found.total_bytes {
                progress.set_length(total);
            }
            progress.set_position(found.copied_bytes);
            match found.state.as_str() {
                "running" => {}
                "complete" => return Ok(found.total_bytes),
                _ => bail!(
                    "the server could not make the backup: {}",
                    printable(&found.problem.unwrap_or_default())
                ),
            }
        }
    }

    /// Sends a request; returns `data` of the response.
    async fn ask(&self, method: Method) -> anyhow::Result<Value> {
        let question = NodeRequest { method, path: PATH.into(), body: Bytes::new(), max_bytes: MAX_BYTES };
        let host = authority(self.url);
        let asked = timeout(ANSWER_LIMIT, node_api::exchange(self.url, self.token, question)).await;
        let (status, body) = asked
            .with_context(|| format!("{host} does not answer within {} s", ANSWER_LIMIT.as_secs()))?
            .with_context(|| format!("{host} does not answer"))?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        match status {
            StatusCode::OK | StatusCode::ACCEPTED => Ok(node_api::data(answer)),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
                bail!("{host}: {} {MAKES_TOKEN}", message(&answer, status))
            }
            StatusCode::NOT_FOUND => {
                bail!("{host} is an older version, which makes no backups on request, or no Watchkeeper")
            }
            _ => bail!("{host}: {}", message(&answer, status)),
        }
    }
}

fn message(answer: &Value, status: StatusCode) -> String {
    let message = answer["message"].as_str().map(printable);
    message.map_or_else(|| format!("it answers {status}."), |message| message.into_owned())
}
