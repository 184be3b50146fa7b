//! `watchkeeper probe`: runs this machine as a remote location until it is stopped.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use crate::agent::identity::LocationIdentity;
use crate::agent::{Agent, AgentParts};
use crate::app::first_start;
use crate::app::locations::LocalLocation;
use crate::bus::messages::enrolment::JoinToken;
use crate::cli::running::{POLL_EVERY, StopSignals, complain, end_at_once, say};
use crate::cli::secret;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::probe::prober::Prober;
use crate::supervise::watchdog::Watchdog;
use crate::supervise::{EXIT_CODE, Supervisor};

const LONG_ABOUT: &str = "\
Check services from this machine, as a remote location.

  watchkeeper probe --data-dir /var/lib/watchkeeper --join wkjoin1.…

The first start makes this machine the location that the join token is for (watchkeeper location create prints one; it can be \
used once, for an hour). The keys are made here and stay here. Later starts need no token.

It only connects outbound, to the NATS servers. It receives the definitions of its own services only; secrets are sealed to its \
key. Without a connection it continues: results wait in the data folder, and are sent later with their original times.

Keep its clock right (NTP): one that is off by more than 2 seconds is corrected for; the engine's log, its metrics and GET /v1/probes say so.

Exit codes: 0 stopped by a signal, all results are sent or stored; 1 something cannot be used; 2 wrong usage; 70 it could not \
continue and must be started again.";

/// Check services from this machine, as a remote location
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct ProbeArguments {
    /// Join token for the first start; - reads it from standard input, @FILE from a file
    #[arg(long, value_name = "TOKEN", env = "WATCHKEEPER_JOIN", hide_env_values = true)]
    join: Option<String>,
}

pub(super) async fn run(arguments: ProbeArguments, config: Config) -> anyhow::Result<ExitCode> {
    first_start::make_data_dir(&config.data_dir)?;
    let lock = first_start::lock(&config.data_dir)?;
    let identity = identity(arguments.join, &config).await?;
    let mut signals = StopSignals::new()?;
    let supervisor = Supervisor::default();
    let _watchdog = Watchdog::start(supervisor.clone(), POLL_EVERY, end_at_once)?;
    let (code, url) = (identity.code.clone(), identity.servers.url.clone());
    let location = LocalLocation::named(code.as_str(), &config, &Clock::System)?;
    let parts = AgentParts {
        config: &config,
        clock: Clock::System,
        supervisor: &supervisor,
        identity,
        prober: Arc::clone(&location.prober) as Arc<dyn Prober>,
    };
    let agent = Agent::start(parts).await?;
    let references = location.ask_references(&supervisor);
    say(&format!("Location {code} checks from here; it reaches its nodes through {url}"));
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "stopping"),
        reason = supervisor.failed() => {
            complain(&reason);
            // The parts that still work store their data.
            let _ = agent.stop().await;
            return Ok(ExitCode::from(EXIT_CODE));
        }
    }
    references.abort();
    agent.stop().await?;
    drop(lock);
    say(&format!("Location {code} has stopped; all results are sent or stored."));
    Ok(ExitCode::SUCCESS)
}

/// Loads the identity of this machine as a location; at the first start, enrols the machine with the join token.
async fn identity(join: Option<String>, config: &Config) -> anyhow::Result<LocationIdentity> {
    match (LocationIdentity::load(&config.data_dir)?, join) {
        (Some(identity), None) => Ok(identity),
        (Some(identity), Some(_)) => {
            tracing::info!(
                location = %identity.code,
                "join token ignored: this machine is already a location"
            );
            Ok(identity)
        }
        (None, None) => {
            let problem = format!(
                "{} contains no location yet; start once with --join TOKEN, which watchkeeper location create prints",
                config.data_dir.display()
            );
            Err(ConfigError(problem).into())
        }
        (None, Some(join)) => {
            let token =
                JoinToken::parse(&secret::read(&join)?).map_err(|error| ConfigError(error.to_string()))?;
            let identity = LocationIdentity::enrol(&config.data_dir, &token, &config.limits.bus).await?;
            say(&format!("This machine is location {} ({}) from now on.", identity.code, identity.name));
            Ok(identity)
        }
    }
}
