//! `watchkeeper serve`: runs until it is stopped, or cannot continue.
//!
//! A process that cannot continue logs the reason in one line and ends with exit code 70, so that a service manager
//! restarts it.

use std::io::{IsTerminal as _, stdout};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use clap::Args;

use crate::app::App;
use crate::app::first_start::FirstStart;
use crate::app::first_user;
use crate::cli::running::{POLL_EVERY, StopSignals, complain, end_at_once, say};
use crate::clock::Clock;
use crate::config::Config;
use crate::model::token::TokenText;
use crate::supervise::watchdog::Watchdog;
use crate::supervise::{EXIT_CODE, Supervisor};

/// Time limit of an orderly stop when the process cannot continue.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Run everything: API, engine and checks
///
/// Run everything on embedded defaults. The first start creates an organisation and a token with every permission of the
/// API, prints the token once and stores it in the data folder.
#[derive(Args)]
pub(super) struct ServeArguments {
    /// The clock is right, although it is more than a day away from the newest time that this installation has seen: delete
    /// old data at once, not after a day. Applies to this start only
    #[arg(long)]
    trust_clock: bool,

    /// The nodes that shared the services of these databases are stopped for good: check all services in this process,
    /// which has no nats_url. Needed once
    #[arg(long)]
    alone: bool,

    /// The history database is lost, and there is no backup: create an empty one, without the earlier results
    #[arg(long)]
    new_history: bool,
}

impl ServeArguments {
    /// The settings, with the command's own flags applied.
    pub(super) fn settings(&self, config: Config) -> Config {
        let Self { trust_clock, alone, new_history } = *self;
        Config { trust_clock, alone, new_history, ..config }
    }
}

pub(super) async fn run(config: Config) -> anyhow::Result<ExitCode> {
    let settings = config.clone();
    let mut signals = StopSignals::new()?;
    let supervisor = Supervisor::default();
    let _watchdog = Watchdog::start(supervisor.clone(), POLL_EVERY, end_at_once)?;
    let app = tokio::select! {
        app = App::start(config, Clock::System, supervisor.clone()) => app?,
        name = signals.next() => {
            tracing::info!(signal = name, "stopping during the start");
            say("Watchkeeper has stopped before it was started.");
            return Ok(ExitCode::SUCCESS);
        }
        reason = supervisor.failed() => {
            complain(&reason);
            return Ok(ExitCode::from(EXIT_CODE));
        }
    };
    let first_user = app.make_first_user_link(&Clock::System).await?;
    greet(&Config { listen: app.listen, ..settings }, &app, first_user.as_ref());
    #[cfg(debug_assertions)]
    supervisor.inject_from_environment();
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "stopping"),
        reason = supervisor.failed() => return Ok(end(app, &reason).await),
    }
    let removed = app.removed_file();
    app.stop().await?;
    if let Some(problem) = removed {
        complain(&problem);
        return Ok(ExitCode::from(EXIT_CODE));
    }
    say("Watchkeeper has stopped; all results are stored.");
    Ok(ExitCode::SUCCESS)
}

/// Ends a process that cannot continue: the parts that still work store their data, within the time limit.
async fn end(app: App, reason: &str) -> ExitCode {
    complain(reason);
    match tokio::time::timeout(END_LIMIT, app.stop()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "shutdown failed"),
        Err(_) => tracing::warn!(
            limit_seconds = END_LIMIT.as_secs(),
            "shutdown not finished within the time limit; ending the process"
        ),
    }
    ExitCode::from(EXIT_CODE)
}

fn greet(config: &Config, app: &App, first_user: Option<&TokenText>) {
    let base_url = config.base_url();
    match &app.first_start {
        Some(made) => say(&first_start(&base_url, made, config.rate_limit_per_minute)),
        None => say(&format!("Watchkeeper answers at {base_url}")),
    }
    if let Some(secret) = first_user {
        let address = first_user::address(&base_url, secret);
        say(&format!(
            "Create the first user of the console (this link works once, for 15 minutes):\n\n  {address}\n"
        ));
        open_in_browser(&address);
    }
    if let Some(hint) = address_hint(config) {
        say(&hint);
    }
}

/// Opens an address in the browser of a person who looks at this terminal. Without a desktop nothing happens.
fn open_in_browser(address: &str) {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_desktop && stdout().is_terminal() {
        let started =
            Command::new("xdg-open").arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if let Err(error) = started {
            tracing::debug!(%error, "no browser was opened");
        }
    }
}

/// Returns a hint to set `public_api_url` if the server listens on all addresses and its links lead to this machine only.
fn address_hint(config: &Config) -> Option<String> {
    let is_for_others = config.listen.is_everywhere() && config.public_api_url.is_none();
    is_for_others.then(|| {
        format!(
            "It listens on {}, but links begin with {}, which only this machine reaches: set public_api_url to the address \
             that clients use.",
            config.listen,
            config.base_url()
        )
    })
}

fn first_start(base_url: &str, made: &FirstStart, rate_limit: u32) -> String {
    let FirstStart { token, token_file } = made;
    let file = token_file.display();
    // The examples keep the token out of the history of a shell.
    let header = format!("-H \"Authorization: Bearer $(cat {file})\"");
    format!(
        "Watchkeeper answers at {base_url}\n\n\
         This first start created the organisation Default and a token with every permission of the API.\n\
         The token is shown once and kept in {file}:\n\n  {token}\n\n\
         Watch something, look at it, read its checks:\n\n\
         curl -s {base_url}/v1/services {header} -H 'Content-Type: application/json' \
         -d '{{\"name\":\"Watchkeeper itself\",\"check_type\":\"http\",\"target\":\"{base_url}/healthz\",\"settings\":{{\"interval_seconds\":10}}}}'\n\
         curl -s {base_url}/v1/services {header}\n\
         curl -s {base_url}/v1/services/ID/checks {header}\n\n\
         Everything that can be asked: {base_url}/docs\n\
         A token may ask {rate_limit} times a minute; to set up much at once, start with a higher --rate-limit-per-minute.\n"
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: `listen`, `public_api_url`, whether there is a hint.
    #[rstest]
    #[case("*:8080", None, true)]
    #[case("0.0.0.0:8080", None, true)]
    #[case("[::]:8080", None, true)]
    #[case("127.0.0.1:8080", None, false)]
    #[case("192.0.2.1:8080", None, false)]
    #[case("*:8080", Some("https://api.example.com"), false)]
    fn other_machines_need_a_configured_address(
        #[case] listen: &str,
        #[case] public_api_url: Option<&str>,
        #[case] is_hinted: bool,
    ) {
        let (listen, public_api_url) = (listen.parse().unwrap(), public_api_url.map(str::to_owned));
        let hint = address_hint(&Config { listen, public_api_url, ..Config::default() });
        assert_eq!(hint.is_some(), is_hinted, "{hint:?}");
        assert!(hint.is_none_or(|hint| hint.contains("set public_api_url") && hint.contains(":8080")));
    }

    /// The token is not in the history of a shell; the links to the documentation and the first limit are shown.
    #[test]
    fn the_first_start_prints_the_next_commands() {
        let made = FirstStart { token: "wk_secret".into(), token_file: "./data/token".into() };
        let text = first_start("http://127.0.0.1:8080", &made, 120);
        let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("curl ")).collect();
        assert_eq!(commands.len(), 3, "{text}");
        for command in commands {
            assert!(!command.contains("wk_secret") && command.contains("$(cat ./data/token)"), "{command}");
        }
        assert!(text.contains("wk_secret") && text.contains("http://127.0.0.1:8080/docs"), "{text}");
        assert!(text.contains("120 times a minute") && text.contains("--rate-limit-per-minute"), "{text}");
    }
}
