//! `watchkeeper status`: shows the services, and engine nodes and their queues, in a terminal, once or repeatedly.
//!
//! It calls the API of the nodes. Only for a token of its own it opens the database of this machine's installation.

mod answer;
mod local_token;
mod node;
mod picture;
mod screen;
mod services;

use std::io::{IsTerminal as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use crate::cli::node_api::{self, authority, here};
use crate::cli::running::{StopSignals, say};
use crate::cli::status::local_token::LocalToken;
use crate::cli::status::node::{NodeFailure, NodeReport};
use crate::cli::status::screen::TerminalScreen;
use crate::clock::Clock;
use crate::config::Config;

/// Polling interval. A token may make 120 requests a minute.
const EVERY: Duration = Duration::from_secs(1);
/// Number of rounds from one request for the services to the next.
const SERVICES_EVERY: u64 = 15;

const MAKES_ONE: &str =
    "watchkeeper token create --org ID --name operator --permissions engine.view makes one";

const LONG_ABOUT: &str = "\
Show what is wrong, since when and why, and below it how engine nodes are doing: who watches which of the 64 partitions of the \
services, what waits, and which locations are heard. Once a second, until Ctrl-C.

  watchkeeper status --url http://node-a:8080 --url http://node-b:8080 --token @operator.token

Without --url and --token the node of these settings is asked, with a token that exists while the command runs. Other nodes take a \
token with the permissions engine.view, which is for operators and no part of all, and services.view:

  watchkeeper org list
  watchkeeper token create --org ID --name operator --permissions engine.view,services.view > operator.token

In the line of partitions a letter is a node, × a node that does not live, · nobody. Taken, of dead (nodes), released, lost and \
fenced count since the start of the node: fenced are results and status changes that came too late, when another node had the \
partition.

Exit codes: 0 every node has answered, or Ctrl-C; 1 a node has not answered (--once, --json), or the token is refused; 2 wrong \
usage.";

/// Show what is wrong, and the state of engine nodes, live in a terminal
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct StatusArguments {
    /// Address of a node; may be repeated [default: the node of these settings]
    #[arg(long = "url", value_name = "http://HOST:PORT", value_parser = node_api::address)]
    nodes: Vec<Url>,
    /// API token with the permission engine.view; - reads it from standard input, @FILE from a file [default: the file token in
    /// the data folder]
    #[arg(long, value_name = "TOKEN", env = "WATCHKEEPER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Draw one picture, without colours, and end
    #[arg(long = "once")]
    is_once: bool,
    /// Print the answers of all nodes as JSON for machines, and exit
    #[arg(long = "json")]
    as_json: bool,
}

pub(super) async fn run(arguments: StatusArguments, config: Config) -> anyhow::Result<ExitCode> {
    let is_here = arguments.token.is_none() && arguments.nodes.is_empty();
    let own = if is_here { LocalToken::make(&config).await } else { None };
    let outcome = match &own {
        Some(own) => show(&arguments, &config, &own.text).await,
        None => match node_api::token(arguments.token.as_deref(), &config, MAKES_ONE) {
            Ok(token) => show(&arguments, &config, &token).await,
            Err(error) => Err(error),
        },
    };
    if let Some(own) = own {
        own.delete().await?;
    }
    outcome
}

async fn show(arguments: &StatusArguments, config: &Config, token: &str) -> anyhow::Result<ExitCode> {
    let nodes = if arguments.nodes.is_empty() { vec![here(config)?] } else { arguments.nodes.clone() };
    if !arguments.is_once && !arguments.as_json {
        return watch(&nodes, token).await;
    }
    let seen = fetch_reports(&nodes, token).await?;
    if arguments.as_json {
        say(&Value::from_iter(seen.iter().map(to_json)).to_string());
    } else {
        let services = drawn_services(&nodes, token, false).await;
        say(format!("{services}{}", picture::draw(&seen, &now(), false)).trim_end());
    }
    let is_whole = seen.iter().all(|seen| seen.answer.is_ok());
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the picture of the services; empty if the token does not show them.
async fn drawn_services(nodes: &[Url], token: &str, colours: bool) -> String {
    let Some(first) = nodes.first() else { return String::new() };
    services::ask(first, token).await.map(|report| report.draw(colours)).unwrap_or_default()
}

/// Redraws until it is stopped or the output is closed.
async fn watch(nodes: &[Url], token: &str) -> anyhow::Result<ExitCode> {
    let mut signals = StopSignals::new()?;
    let colours = stdout().is_terminal();
    let screen = TerminalScreen::open();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut services = String::new();
    for round in 0_u64.. {
        let fetching = async {
            ticks.tick().await;
            if round % SERVICES_EVERY == 0 {
                services = drawn_services(nodes, token, colours).await;
            }
            fetch_reports(nodes, token).await
        };
        let seen = tokio::select! {
            seen = fetching => seen?,
            _ = signals.next() => break,
        };
        if !screen.show(&format!("{services}{}", picture::draw(&seen, &now(), colours))) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Requests the status of all nodes concurrently. Fails if a token is refused, because later requests would be refused as
/// well.
async fn fetch_reports(nodes: &[Url], token: &str) -> anyhow::Result<Vec<NodeReport>> {
    let seen = join_all(nodes.iter().map(|url| node::ask(url, token))).await;
    for NodeReport { url, answer } in &seen {
        if let Err(NodeFailure::Refused(why)) = answer {
            bail!("{}: {why}", authority(url));
        }
    }
    Ok(seen)
}

fn now() -> String {
    Clock::System.now().to_string().get(..19).unwrap_or_default().replace('T', " ")
}

fn to_json(seen: &NodeReport) -> Value {
    match &seen.answer {
        Ok(answer) => json!({"url": seen.url.as_str(), "engine": answer.raw}),
        Err(problem) => json!({"url": seen.url.as_str(), "problem": problem.to_string()}),
    }
}
