//! `watchkeeper serve`: runs until it is told to stop.

use std::process::ExitCode;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::app::first_start::FirstStart;
use crate::clock::Clock;
use crate::config::Config;

/// Run everything: API, engine and checks
///
/// Run everything on embedded defaults. The first start makes an organisation and a token with every permission, prints the
/// token once and keeps it in the data folder.
#[derive(Args)]
pub(super) struct Arguments {
    /// The clock is right, although it is more than a day away from the newest time that this installation has seen: let what
    /// is old enough be deleted at once, not after a day. Holds for this start only
    #[arg(long)]
    trust_clock: bool,
}

impl Arguments {
    /// The settings with what the command's own flags say.
    pub(super) fn settings(&self, config: Config) -> Config {
        Config { trust_clock: self.trust_clock, ..config }
    }
}

pub(super) async fn run(config: Config) -> anyhow::Result<ExitCode> {
    let base_url_is_derived = config.public_api_url.is_none();
    let public_api_url = config.public_api_url.clone();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let app = App::start(config, Clock::System).await?;
    let base_url = match public_api_url {
        Some(url) if !base_url_is_derived => url.trim_end_matches('/').to_owned(),
        _ => format!("http://{}", app.address),
    };
    match &app.first_start {
        Some(made) => print_first_start(&base_url, made),
        None => println!("Watchkeeper answers at {base_url}"),
    }
    tokio::select! {
        _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
        _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
    }
    app.stop().await?;
    println!("Watchkeeper has stopped; everything measured is stored.");
    Ok(ExitCode::SUCCESS)
}

fn print_first_start(base_url: &str, made: &FirstStart) {
    let FirstStart { token, token_file } = made;
    println!(
        "Watchkeeper answers at {base_url}\n\n\
         This first start made the organisation Default and a token with every permission.\n\
         The token is shown once and kept in {}:\n\n  {token}\n\n\
         Watch something, look at it, read its checks:\n\n\
         curl -s {base_url}/v1/services -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' \
         -d '{{\"name\":\"Watchkeeper itself\",\"check_type\":\"http\",\"target\":\"{base_url}/healthz\",\"settings\":{{\"interval_seconds\":10}}}}'\n\
         curl -s {base_url}/v1/services -H 'Authorization: Bearer {token}'\n\
         curl -s {base_url}/v1/services/ID/checks -H 'Authorization: Bearer {token}'\n",
        token_file.display(),
    );
}
