//! `watchkeeper notifications`: ends the hold on messages after a restore.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;

use crate::app::require_installation;
use crate::cli::running::say;
use crate::config::Config;
use crate::notify::message_hold::MessageHold;

#[derive(Subcommand)]
pub(super) enum NotificationsCommand {
    /// Resume sending messages after a restore
    ///
    /// An installation that was restored from a backup sends no messages and no watchdog pings until you run this command: the
    /// original may still run. Waiting messages are then sent within a second, by a running server or after its start.
    Release,
}

/// Ends the hold on messages, and prints whether there was one.
///
/// # Errors
/// When there is no installation, or the file of the hold cannot be removed.
pub(super) fn run(command: &NotificationsCommand, config: &Config) -> anyhow::Result<ExitCode> {
    let NotificationsCommand::Release = command;
    require_installation(config)?;
    let hold = MessageHold::of(&config.data_dir);
    let ended = hold.end().with_context(|| format!("cannot remove {}", hold.file().display()))?;
    say(if ended { "Messages are sent again." } else { "No messages were held." });
    Ok(ExitCode::SUCCESS)
}
