//! The services of an organisation for the picture: how many are in which state, and what is wrong since when and why.

use std::fmt::Write as _;

use bytes::Bytes;
use chrono::DateTime;
use hyper::{Method, StatusCode};
use serde_json::Value;
use url::Url;

use crate::cli::node_api::{self, NodeRequest, exchange};
use crate::cli::picture::paint;
use crate::cli::printable::printable;
use crate::clock::Clock;
use crate::model::outage_evidence::{duration, moment, seconds_between};

/// Number of wrong services of each status that are listed.
const LISTED: u64 = 20;
/// Number of wrong services whose last change and check are read; a token may make 120 requests a minute.
const EXPLAINED: usize = 5;
/// Largest response, in bytes.
const MAX_BYTES: usize = 1 << 20;
const RED: &str = "31";
const YELLOW: &str = "33";
const GREEN: &str = "32";

/// The services that a token shows.
#[derive(Clone, Debug, Default)]
pub(super) struct ServicesReport {
    total: u64,
    down: u64,
    degraded: u64,
    wrong: Vec<WrongService>,
}

/// A service that is down or degraded.
#[derive(Clone, Debug)]
struct WrongService {
    name: String,
    status: &'static str,
    /// Time of the last change in Unix milliseconds, if it was read.
    since_ms: Option<i64>,
    reason: String,
}

/// Reads the services; `None` if the token does not show them, or the node does not answer.
pub(super) async fn ask(url: &Url, token: &str) -> Option<ServicesReport> {
    let node = ServicesReader { url, token };
    let mut report =
        ServicesReport { total: total(&node.get("/v1/services?per_page=1").await?), ..Default::default() };
    for status in ["down", "degraded"] {
        let page = node.get(&format!("/v1/services?status={status}&per_page={LISTED}")).await?;
        let count = total(&page);
        if status == "down" {
            report.down = count;
        } else {
            report.degraded = count;
        }
        for service in page["data"].as_array().into_iter().flatten() {
            let is_explained = report.wrong.len() < EXPLAINED;
            report.wrong.push(node.wrong(service, status, is_explained).await);
        }
    }
    Some(report)
}

/// Returns the first entry of a list; null if there is none.
fn first(page: Value) -> Value {
    node_api::data(page).get_mut(0).map(Value::take).unwrap_or_default()
}

fn total(page: &Value) -> u64 {
    page["meta"]["total"].as_u64().unwrap_or_default()
}

/// Reads services from a node.
struct ServicesReader<'a> {
    url: &'a Url,
    token: &'a str,
}

impl ServicesReader<'_> {
    async fn get(&self, path: &str) -> Option<Value> {
        let question = NodeRequest {
            method: Method::GET,
            path: path.to_owned(),
            body: Bytes::new(),
            max_bytes: MAX_BYTES,
        };
        let (status, body) = exchange(self.url, self.token, question).await.ok()?;
        (status == StatusCode::OK).then(|| serde_json::from_slice(&body).ok()).flatten()
    }

    /// Returns the first entry of a list; null if there is none.
    async fn newest(&self, path: &str) -> Value {
        first(self.get(path).await.unwrap_or_default())
    }

    async fn wrong(&self, service: &Value, status: &'static str, is_explained: bool) -> WrongService {
        let id = service["id"].as_str().unwrap_or_default();
        let (mut change, mut check) = (Value::Null, Value::Null);
        if is_explained {
            change = self.newest(&format!("/v1/services/{id}/status-changes?per_page=1")).await;
            check = self.newest(&format!("/v1/services/{id}/checks?status={status}&per_page=1")).await;
        }
        let at = change["at"].as_str().and_then(|at| DateTime::parse_from_rfc3339(at).ok());
        WrongService {
            name: service["name"].as_str().unwrap_or_default().to_owned(),
            status,
            since_ms: at.map(|at| at.timestamp_millis()),
            reason: check["error_message"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

impl ServicesReport {
    /// Draws the services; with ANSI colours if `colours` is true.
    pub(super) fn draw(&self, colours: bool) -> String {
        let now_ms = Clock::System.now().ms();
        let tone = match (self.down, self.degraded) {
            (0, 0) => GREEN,
            (0, _) => YELLOW,
            _ => RED,
        };
        let all = format!("{} {}", self.total, if self.total == 1 { "service" } else { "services" });
        let sentence = match (self.total, self.down, self.degraded) {
            (0, ..) => "nothing is monitored yet".to_owned(),
            (_, 0, 0) => format!("{all}, none down or degraded"),
            (_, down, degraded) => format!("{all}: {down} down, {degraded} degraded"),
        };
        let mut text = format!("{}\n", paint(&sentence, tone, colours));
        for service in &self.wrong {
            let tone = if service.status == "down" { RED } else { YELLOW };
            let status = paint(service.status, tone, colours);
            let since = service.since_ms.map(|ms| {
                let lasts = duration(seconds_between(ms, now_ms));
                format!(" since {} ({lasts})", moment(ms, now_ms))
            });
            let reason = if service.reason.is_empty() { "" } else { ": " };
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "  {status}  {}{}{reason}{}",
                printable(&service.name),
                since.unwrap_or_default(),
                printable(&service.reason)
            );
        }
        let more = (self.down + self.degraded).saturating_sub(self.wrong.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A service that is down by an override has no status change and no check.
    #[test]
    fn a_list_without_entries_has_no_first_entry() {
        for page in [json!({"data": []}), json!({"error": {}}), json!([]), Value::Null] {
            assert_eq!(first(page), Value::Null);
        }
        assert_eq!(first(json!({"data": [1, 2]})), 1);
    }

    #[test]
    fn wrong_services_come_with_their_reasons() {
        let since_ms = Some(Clock::System.now().ms() - 405_500);
        let wrong = WrongService { name: "Shop".into(), status: "down", since_ms, reason: "refused".into() };
        let report = ServicesReport { total: 3, down: 2, degraded: 0, wrong: vec![wrong] };
        let drawn = report.draw(false);
        assert!(drawn.starts_with("3 services: 2 down, 0 degraded\n  down  Shop since "), "{drawn}");
        assert!(drawn.contains("(6 min 45 s): refused\n  and 1 more\n"), "{drawn}");
        assert!(ServicesReport::default().draw(false).starts_with("nothing is monitored yet"));
    }
}
