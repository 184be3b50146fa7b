//! `watchkeeper simulate`: replays a service's past with other settings and another policy, shown as two bars in a
//! terminal.
//!
//! It calls the API of a running server (`POST /v1/services/{id}/simulate`) and opens no database.

mod answer;
mod bar;
mod body;
mod picture;
mod rarity;
mod service_lookup;

use std::io::{IsTerminal as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use bytes::Bytes;
use clap::Args;
use console::Term;
use hyper::{Method, StatusCode};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::cli::node_api::{self, NodeRequest, exchange, here};
use crate::cli::running::say;
use crate::cli::simulate::answer::SimulationReply;
use crate::cli::simulate::body::{SettingAssignment, TimeRangeArguments};
use crate::config::Config;
use crate::id::Id;

const ANSWERS_WITHIN: Duration = Duration::from_secs(120);
/// Largest response, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Columns if the width of the terminal is unknown.
const COLUMNS: usize = 80;

const MAKES_ONE: &str =
    "watchkeeper token create --org ID --name what-if --permissions services.simulate makes one";

const LONG_ABOUT: &str = "\
Show what other settings of a service, or another incident policy, would have made of its past. Nothing is stored: the results \
that are stored are decided once more, by the rules of the engine.

  watchkeeper simulate --service Checkout --set retries=3 --set confirmation=all
  watchkeeper simulate --service Checkout --from 2026-11-01 --to 2026-11-08 --policy open_after_seconds=300

--set takes what settings of a service take, over those that it has: retries, confirmation (any, majority, all, a number), \
recovery_checks, flapping_changes, flapping_minutes, interval_seconds, assigned_probes, a shorter timeout_seconds. --policy takes \
what incident policies take: open_after_seconds, resolve_after_seconds, down_severity and so on. Values are JSON (3, null, \
[\"fra\",\"lon\"]); what is not JSON is text. Without both, the present settings are replayed.

The bars show the worst status of each moment:  u up, g degraded, d down, - no data; in a terminal they are green, yellow, red and \
empty. Times are UTC. The last line says how far to trust the replay: for how long a replay by the present settings agrees with \
what was recorded.

It takes a token with the permission services.simulate; the one of the first start in the data folder has it.

Exit codes: 0 it is shown; 1 the server does not answer, or refuses; 2 wrong usage.";

/// Replay the past of a service with other settings or policies
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct SimulateArguments {
    /// Id of the service, or its name if no other has it
    #[arg(long, value_name = "ID|NAME", allow_hyphen_values = true)]
    service: String,
    /// Start of the period, such as 2026-11-01 or 2026-11-01T12:00:00Z [default: a day before its end]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// End of the period [default: now]
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// A changed setting; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<SettingAssignment>,
    /// A changed rule of the incident policy; may be repeated
    #[arg(long = "policy", value_name = "NAME=VALUE")]
    policy: Vec<SettingAssignment>,
    /// Address of a node [default: the node of these settings]
    #[arg(long, value_name = "http://HOST:PORT", value_parser = node_api::address)]
    url: Option<Url>,
    /// API token with the permission services.simulate; - reads it from standard input, @FILE from a file [default: the file token
    /// in the data folder]
    #[arg(long, value_name = "TOKEN", env = "WATCHKEEPER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Print the answer as JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

pub(super) async fn run(arguments: SimulateArguments, config: Config) -> anyhow::Result<ExitCode> {
    let SimulateArguments { service, from, to, settings, policy, url, token, as_json } = arguments;
    let token = node_api::token(token.as_deref(), &config, MAKES_ONE)?;
    let node = match url {
        Some(url) => url,
        None => here(&config)?,
    };
    let body = body::written(&TimeRangeArguments { from, to }, &settings, &policy)?;
    let server = SimulationServer { node, token };
    let service = service_lookup::service(&server, &service).await?;
    let answer = server.simulate(service, &body).await?;
    if as_json {
        say(&answer.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let simulation: SimulationReply = serde_json::from_value(answer)
        .map_err(|error| anyhow!("the server sends an answer that this version cannot read: {error}"))?;
    let is_terminal = stdout().is_terminal();
    let columns = if is_terminal { usize::from(Term::stdout().size().1) } else { COLUMNS };
    say(picture::draw(&simulation, columns, is_terminal)?.trim_end());
    if let Some(interval) = interval_seconds(&server, service, &body).await?
        && let Some(warning) = rarity::warning(&simulation, interval)?
    {
        say(&warning);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the simulated interval: that of the request, or else that of the service. `None` if the token may not read
/// services.
async fn interval_seconds(
    server: &SimulationServer,
    service: Id,
    body: &Value,
) -> anyhow::Result<Option<f64>> {
    if let Some(asked) = body["settings"]["interval_seconds"].as_f64() {
        return Ok(Some(asked));
    }
    let (_, answer) = server.ask(Method::GET, format!("/v1/services/{service}"), Bytes::new()).await?;
    Ok(answer["data"]["settings"]["interval_seconds"].as_f64())
}

/// The address of a node, and the token for requests to it.
struct SimulationServer {
    node: Url,
    token: String,
}

impl SimulationServer {
    /// Requests a simulation of this service.
    async fn simulate(&self, service: Id, body: &Value) -> anyhow::Result<Value> {
        let path = format!("/v1/services/{service}/simulate");
        let at = node_api::authority(&self.node);
        match self.ask(Method::POST, path, body.to_string().into()).await? {
            (StatusCode::OK, answer) => Ok(node_api::data(answer)),
            (StatusCode::NOT_FOUND, _) => bail!("{at}: this token sees no service with the id {service}"),
            (_, answer) => bail!("{at}: {}", refusal(&answer)),
        }
    }

    /// Sends a request, and parses the response as JSON.
    async fn ask(&self, method: Method, path: String, body: Bytes) -> anyhow::Result<(StatusCode, Value)> {
        let question = NodeRequest { method, path, body, max_bytes: MAX_BYTES };
        let at = node_api::authority(&self.node);
        let asked = timeout(ANSWERS_WITHIN, exchange(&self.node, &self.token, question)).await;
        let late = |_| anyhow!("{at}: no answer within {} s", ANSWERS_WITHIN.as_secs());
        let (status, bytes) =
            asked.map_err(late)?.map_err(|error| error.context(format!("{at} does not answer")))?;
        if status == StatusCode::UNAUTHORIZED {
            bail!("{at}: the token is unknown or has expired");
        }
        let strange =
            |error| anyhow!("{at} answers {status}, and not as a server of Watchkeeper does: {error}");
        Ok((status, serde_json::from_slice(&bytes).map_err(strange)?))
    }
}

/// Returns the errors of a refused request, field by field.
fn refusal(answer: &Value) -> String {
    let Some(errors) = answer["errors"].as_object() else {
        return answer["message"].as_str().unwrap_or("refused").to_owned();
    };
    let describe = |(field, texts): (&String, &Value)| {
        let texts = texts.as_array().into_iter().flatten().filter_map(Value::as_str);
        format!("{field}: {}", texts.collect::<Vec<_>>().join(" "))
    };
    errors.iter().map(describe).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_names_its_fields() {
        let fields =
            json!({"message": "x", "errors": {"settings.retries": ["Too many."], "to": ["Too late."]}});
        assert_eq!(refusal(&fields), "settings.retries: Too many.; to: Too late.");
        assert_eq!(refusal(&json!({"message": "Not now."})), "Not now.");
    }
}
