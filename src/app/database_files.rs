//! The files of the embedded databases: in the data folder, or at the path in a `sqlite:` URL of the settings.

use std::path::PathBuf;

use crate::config::Config;

/// File name of the embedded main database in the data folder.
pub(super) const MAIN_FILE: &str = "main.db";
pub(super) const HISTORY_FILE: &str = "history.db";

/// The files of an embedded installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedFiles {
    /// File of the main database.
    pub main: PathBuf,
    /// File of the history database; its segments are in a folder next to it.
    pub history: PathBuf,
}

/// Error: a setting names a PostgreSQL database where an embedded one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignDatabase {
    /// The key of the setting.
    pub key: &'static str,
}

/// Returns the files of both embedded databases.
pub fn files(config: &Config) -> Result<EmbeddedFiles, ForeignDatabase> {
    Ok(EmbeddedFiles { main: main_file(config)?, history: history_file(config)? })
}

/// Returns the file of the main database.
pub fn main_file(config: &Config) -> Result<PathBuf, ForeignDatabase> {
    file(config, "database_url", config.database_url.as_deref(), MAIN_FILE)
}

/// Returns the file of the history database.
pub fn history_file(config: &Config) -> Result<PathBuf, ForeignDatabase> {
    file(config, "history_url", config.history_url.as_deref(), HISTORY_FILE)
}

fn file(
    config: &Config,
    key: &'static str,
    url: Option<&str>,
    name: &str,
) -> Result<PathBuf, ForeignDatabase> {
    match url.map(|url| url.strip_prefix("sqlite:")) {
        None => Ok(config.data_dir.join(name)),
        Some(Some(rest)) => Ok(rest.trim_start_matches("//").split('?').next().unwrap_or_default().into()),
        Some(None) => Err(ForeignDatabase { key }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_files_follow_the_settings() {
        let config = Config { data_dir: "data".into(), ..Config::default() };
        let embedded = files(&config).unwrap();
        assert_eq!((embedded.main, embedded.history), ("data/main.db".into(), "data/history.db".into()));
        let external = Config { history_url: Some("sqlite:///far/h.db?mode=rwc".into()), ..config.clone() };
        assert_eq!(files(&external).unwrap().history, PathBuf::from("/far/h.db"));
        let moved = Config { database_url: Some("postgres://h/d".into()), ..config };
        assert_eq!(files(&moved).unwrap_err().key, "database_url");
    }
}
