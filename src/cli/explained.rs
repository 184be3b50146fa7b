//! The text of an error that ends a command. An error about a file of an embedded database is shown with the name of the
//! file and with advice, in every command.

use std::path::PathBuf;

use crate::app::database_files;
use crate::config::Config;
use crate::store::{DatabaseRole, find_file_trouble};

/// The files of the embedded databases; `None` for a database in PostgreSQL.
#[derive(Debug)]
pub(super) struct DatabaseFiles {
    main: Option<PathBuf>,
    history: Option<PathBuf>,
}

impl DatabaseFiles {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            main: database_files::main_file(config).ok(),
            history: database_files::history_file(config).ok(),
        }
    }

    /// Returns the text of an error with its causes.
    pub(super) fn explain(&self, error: &anyhow::Error) -> String {
        let mut before = Vec::new();
        for cause in error.chain() {
            if let Some((role, trouble)) = find_file_trouble(cause)
                && let Some(file) = self.shown(role)
            {
                before.push(trouble.describe(&file));
                return before.join(": ");
            }
            before.push(cause.to_string());
        }
        format!("{error:#}")
    }

    /// Returns the name of the database file for an error. An error of the history may be about its main file or about one
    /// of its segments.
    fn shown(&self, role: DatabaseRole) -> Option<String> {
        match role {
            DatabaseRole::Main => self.main.as_ref().map(|file| file.display().to_string()),
            DatabaseRole::History => {
                let file = self.history.as_ref()?;
                let segments = file.with_extension("segments");
                let (file, folder) = (file.display(), segments.display());
                let is_divided = segments.is_dir();
                Some(if is_divided { format!("{file} (or a file in {folder})") } else { file.to_string() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// File errors of commands are tested in `tests/api/database_files.rs`.
    #[test]
    fn other_errors_are_shown_unchanged() {
        let files = DatabaseFiles::of(&Config { data_dir: "there".into(), ..Config::default() });
        let error = anyhow::anyhow!("odd").context("it failed");
        assert_eq!(files.explain(&error), "it failed: odd");
        assert_eq!(files.shown(DatabaseRole::History).as_deref(), Some("there/history.db"));
        let moved = Config { database_url: Some("postgres://127.0.0.1/x".into()), ..Config::default() };
        assert_eq!(DatabaseFiles::of(&moved).shown(DatabaseRole::Main), None);
    }
}
