//! `watchkeeper backup`, `verify` and `restore`: flags and output; the work is done in `crate::backup`.

mod remote;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use url::Url;

use crate::app::backups;
use crate::backup::{self, BackupManifest};
use crate::cli::backup::remote::RemoteServer;
use crate::cli::node_api;
use crate::cli::running::say;
use crate::clock::Clock;
use crate::config::Config;

const BACKUP_ABOUT: &str = "\
Back up an embedded installation: both databases, the history's segments, and results that wait in the spool.

The server may run meanwhile, and goes on; it is found by the data folder. What was acknowledged before the command began is \
in the backup. The target is a folder that is not there yet, or a file whose name ends in .tar or .tar.zst.

The secret key is not in it: without that key nobody can read channels, headers and other secrets in the backup, and neither can \
you. Keep secret.key of the data folder (or WATCHKEEPER_SECRET_KEY) elsewhere, or put it in with --with-key and guard the backup \
as you guard the key.

With --url a server elsewhere makes the backup, in the folder that its setting backup.folder names, and without the key; the \
command waits until it is complete. The token needs the permission engine.backup, which is no part of all:

  watchkeeper token create --org ID --name backup --permissions engine.backup > backup.token
  watchkeeper backup --url http://node-a:8080 --token @backup.token

PostgreSQL has tools of its own: pg_dump, that of the main database before that of the history.

  watchkeeper backup --to /backups/watchkeeper-monday.tar.zst
  watchkeeper verify /backups/watchkeeper-monday.tar.zst
  watchkeeper restore /backups/watchkeeper-monday.tar.zst --data-dir ./restored

Exit codes: 0 the backup is whole, 1 it could not be made, 2 wrong usage.";

/// Back up an embedded installation, with or without a running server
#[derive(Args)]
#[command(long_about = BACKUP_ABOUT)]
pub(super) struct BackupArguments {
    /// New folder, or new file that ends in .tar or .tar.zst
    #[arg(long, value_name = "PATH", required_unless_present = "url", conflicts_with = "url", value_parser = target_parser())]
    to: Option<PathBuf>,
    /// Put the secret key into the backup
    #[arg(long, conflicts_with = "url")]
    with_key: bool,
    /// Address of a server that creates the backup in its own backup.folder
    #[arg(long, value_name = "http://HOST:PORT", value_parser = node_api::address)]
    url: Option<Url>,
    /// API token with the permission engine.backup; - reads it from standard input, @FILE from a file [default: the file token in
    /// the data folder]
    #[arg(long, value_name = "TOKEN", env = "WATCHKEEPER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// Verify a backup: checksums, databases, numbers of rows
///
/// Verify a backup: checksums, databases, numbers of rows. A file is unpacked into the folder for temporary files, which the variable
/// TMPDIR names (/tmp without it); nothing is written beside the backup.
#[derive(Args)]
pub(super) struct VerifyArguments {
    /// Folder or file of the backup
    #[arg(value_name = "PATH")]
    backup: PathBuf,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// Restore a backup into a new data folder
///
/// Checks the backup and copies it into the folder that --data-dir names, which must be empty or missing. The restored
/// installation sends no messages until you run 'watchkeeper notifications release': the original may still run, and waiting
/// messages may have been sent long ago.
#[derive(Args)]
pub(super) struct RestoreArguments {
    /// Folder or file of the backup
    #[arg(value_name = "PATH")]
    backup: PathBuf,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// Parses the target of a backup; refuses names of archive formats that are not supported.
fn target_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| backup::require_target_name(&path).map(|()| path))
}

/// Makes a backup and prints its contents.
///
/// # Errors
///
/// When something cannot be read or written; the message is one line.
pub(super) async fn back_up(arguments: &BackupArguments, config: &Config) -> anyhow::Result<ExitCode> {
    if let Some(url) = &arguments.url {
        let token = node_api::token(arguments.token.as_deref(), config, remote::MAKES_TOKEN)?;
        let server = RemoteServer { url, token: &token };
        return server.back_up(bar(Some(0), arguments.as_json), arguments.as_json).await;
    }
    let target = arguments.to.as_deref().context("--to is missing")?;
    let order = backups::order(config, &Clock::System, arguments.with_key)?;
    let bar = bar(Some(order.bytes()), arguments.as_json);
    let made = backup::make(&order, target, &mut |file, bytes| step(&bar, file, bytes)).await;
    bar.finish_and_clear();
    let manifest = made?;
    if arguments.as_json {
        say(&summary(&manifest).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("Backed up to {}: {}.", target.display(), contents(&manifest)));
    if manifest.has_key {
        say("The secret key is in it: guard it as you guard the key.");
    } else {
        let key = config.data_dir.join("secret.key");
        let key = match config.secret_key {
            Some(_) => "the secret_key of the settings".to_owned(),
            None => key.display().to_string(),
        };
        say(&format!(
            "The secret key is not in it: keep {key} elsewhere, or secrets cannot be read after a restore."
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks a backup and prints its contents.
///
/// # Errors
///
/// When the backup has a defect; the message is one line that names it.
pub(super) async fn verify(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    let bar = bar(None, arguments.as_json);
    let checked = backup::verify(&arguments.backup, &mut |file, bytes| step(&bar, file, bytes)).await;
    bar.finish_and_clear();
    let manifest = checked?;
    if arguments.as_json {
        say(&summary(&manifest).to_string());
    } else {
        let key = if manifest.has_key { "the secret key is in it" } else { "the secret key is not in it" };
        let BackupManifest { created_at, version, .. } = &manifest;
        say(&format!(
            "The backup is whole: {}; made at {created_at} by version {version}; {key}.",
            contents(&manifest)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Restores a backup and prints the next steps.
///
/// # Errors
///
/// When backup or folder cannot be used; the message is one line, and the folder is left as it was.
pub(super) async fn restore(arguments: &RestoreArguments, config: &Config) -> anyhow::Result<ExitCode> {
    let bar = bar(None, arguments.as_json);
    let watcher = &mut |file: &str, bytes: u64| step(&bar, file, bytes);
    let restored = backup::restore(&arguments.backup, &config.data_dir, watcher).await;
    bar.finish_and_clear();
    let manifest = restored?;
    if arguments.as_json {
        say(&summary(&manifest).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let folder = config.data_dir.display();
    say(&format!("Restored into {folder}: {}, as of {}.", contents(&manifest), manifest.created_at));
    if !manifest.has_key && config.secret_key.is_none() {
        say(&format!(
            "Put the secret key into {folder}/secret.key before the start, or set WATCHKEEPER_SECRET_KEY."
        ));
    }
    say(&format!(
        "Start it:  watchkeeper serve --data-dir {folder}\nNo messages are sent until you run:  \
         watchkeeper notifications release --data-dir {folder}"
    ));
    Ok(ExitCode::SUCCESS)
}

fn contents(manifest: &BackupManifest) -> String {
    let counted = |table, one: &str, many: &str| match manifest.main_rows(table) {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    format!(
        "{} in {} files, {}, {}",
        HumanBytes(manifest.bytes()),
        manifest.files.len(),
        counted("organisation", "organisation", "organisations"),
        counted("service", "service", "services"),
    )
}

fn summary(manifest: &BackupManifest) -> serde_json::Value {
    json!({
        "created_at": manifest.created_at,
        "version": manifest.version,
        "has_key": manifest.has_key,
        "bytes": manifest.bytes(),
        "files": manifest.files.len(),
        "organisations": manifest.main_rows("organisation"),
        "services": manifest.main_rows("service"),
    })
}

fn step(bar: &ProgressBar, file: &str, bytes: u64) {
    bar.set_message(file.to_owned());
    bar.inc(bytes);
}

/// Returns a progress bar; hidden without a terminal and in JSON mode.
fn bar(bytes: Option<u64>, as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let template = match bytes {
        Some(_) => "{msg:>30} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        None => "{msg:>30} {spinner} {bytes} {bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(bytes, ProgressDrawTarget::stderr()).with_style(style)
}
