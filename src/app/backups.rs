//! The contents of a backup of this installation, from the settings.

use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use crate::app::database_files::{self, ForeignDatabase};
use crate::app::first_start::KEY_FILE;
use crate::app::{Foundation, history_restore, require_installation};
use crate::backup::{BackupOrder, BackupSchedule, KeyChoice};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::http::v1::state::AppState;

/// Returns the order for a backup of the configured embedded installation, whether a server runs on it or not.
///
/// # Errors
/// When there is no installation, a database is not embedded, or the secret key is wanted and cannot be read.
pub fn order(config: &Config, clock: &Clock, with_key: bool) -> anyhow::Result<BackupOrder> {
    require_installation(config)?;
    let files = database_files::files(config).map_err(|ForeignDatabase { key }| {
        ConfigError(format!(
            "{key} is set to a PostgreSQL: back it up with pg_dump, that of the main database before that of the history, and keep \
            the secret key beside it"
        ))
    })?;
    for file in [&files.main, &files.history] {
        if !file.exists() {
            bail!("{} is missing", file.display());
        }
    }
    Ok(BackupOrder {
        main: files.main,
        history: files.history,
        spool: config.data_dir.join(history_restore::SPOOL_FOLDER),
        key: if with_key { KeyChoice::Inside(key(config)?.into()) } else { KeyChoice::Separate },
        created_at: clock.now().to_string(),
    })
}

/// Returns the schedule of backups if a backup folder is configured.
///
/// # Errors
/// As [`order`].
pub(super) fn schedule(foundation: &Foundation, state: &AppState) -> anyhow::Result<Option<BackupSchedule>> {
    let config = &foundation.config;
    let Some(folder) = config.backup.folder.clone() else { return Ok(None) };
    Ok(Some(BackupSchedule {
        order: order(config, &foundation.clock, false)?,
        folder,
        every: config.backup.every.get(),
        keep: usize::try_from(config.backup.keep).unwrap_or(usize::MAX),
        guard: Arc::clone(&state.guard),
        state: Arc::clone(&state.backups),
    }))
}

fn key(config: &Config) -> anyhow::Result<String> {
    use secrecy::ExposeSecret as _;
    if let Some(key) = &config.secret_key {
        return Ok(key.expose_secret().to_owned());
    }
    let file = config.data_dir.join(KEY_FILE);
    fs::read_to_string(&file).with_context(|| format!("cannot read the key {}", file.display()))
}
