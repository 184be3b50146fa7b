//! The embedded installation in a data folder, for a command that moves it: nothing else runs on it meanwhile, and
//! nothing in it is changed.

use std::path::PathBuf;

use anyhow::bail;

use crate::app::first_start::{self, FolderLock};
use crate::app::foundation::{HISTORY_FILE, MAIN_FILE};
use crate::app::past;
use crate::config::Config;
use crate::store::installation::{KeyCheck, compare_key};

/// The files of an embedded installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedFiles {
    /// The main database.
    pub main: PathBuf,
    /// The history database; its segments are in a folder beside it.
    pub history: PathBuf,
}

/// Error: a setting names a PostgreSQL where an embedded database is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignDatabase {
    /// Key of the setting.
    pub key: &'static str,
}

/// The database files of the settings.
///
/// # Errors
/// When a database is not embedded.
pub fn files(config: &Config) -> Result<EmbeddedFiles, ForeignDatabase> {
    Ok(EmbeddedFiles { main: main_file(config)?, history: history_file(config)? })
}

/// The file of the main database.
///
/// # Errors
/// When it is not embedded.
pub fn main_file(config: &Config) -> Result<PathBuf, ForeignDatabase> {
    file(config, ("database_url", config.database_url.as_deref()), MAIN_FILE)
}

/// The file of the history database.
///
/// # Errors
/// When it is not embedded.
pub fn history_file(config: &Config) -> Result<PathBuf, ForeignDatabase> {
    file(config, ("history_url", config.history_url.as_deref()), HISTORY_FILE)
}

fn file(
    config: &Config,
    (key, url): (&'static str, Option<&str>),
    name: &str,
) -> Result<PathBuf, ForeignDatabase> {
    match url.map(|url| url.strip_prefix("sqlite:")) {
        None => Ok(config.data_dir.join(name)),
        Some(Some(rest)) => Ok(rest.trim_start_matches("//").split('?').next().unwrap_or_default().into()),
        Some(None) => Err(ForeignDatabase { key }),
    }
}

/// Locks the data folder against servers and imports.
///
/// # Errors
/// When there is no data folder, or another process holds its lock.
pub fn take(config: &Config) -> anyhow::Result<FolderLock> {
    if !config.data_dir.is_dir() {
        bail!("there is no data folder {}", config.data_dir.display());
    }
    first_start::lock(&config.data_dir)
}

/// Work that must be finished in the data folder before the move. `check_value` is that of the installation's key.
///
/// # Errors
/// When the folder cannot be read.
pub fn obstacles(config: &Config, check_value: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let (sealer, new_key) = first_start::sealer(config)?;
    match (compare_key(check_value, &sealer), new_key) {
        (KeyCheck::Right, _) => {}
        (KeyCheck::Wrong, Some(key)) => {
            found.push(format!("{} is missing; the target needs the same key", key.file().display()));
        }
        (KeyCheck::Wrong, None) => {
            found.push(
                "the secret key is not the one that this installation's secrets were sealed with".into(),
            );
        }
    }
    let waiting = past::spooled_bytes(config)?;
    if waiting > 0 {
        found.push(format!(
            "the spool holds {waiting} bytes of results that are not in the history yet; run 'watchkeeper serve' on the \
            embedded databases until they are written"
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_those_of_the_settings() {
        let config = Config { data_dir: "data".into(), ..Config::default() };
        let embedded = files(&config).unwrap();
        assert_eq!((embedded.main, embedded.history), ("data/main.db".into(), "data/history.db".into()));
        let elsewhere = Config { history_url: Some("sqlite:///far/h.db?mode=rwc".into()), ..config.clone() };
        assert_eq!(files(&elsewhere).unwrap().history, PathBuf::from("/far/h.db"));
        let moved = Config { database_url: Some("postgres://h/d".into()), ..config };
        assert_eq!(files(&moved).unwrap_err().key, "database_url");
    }
}
