//! `[backup]`: backups that a running server makes by itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::rule;
use crate::config::time_span::TimeSpan;

/// The settings of scheduled backups.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [backup]")]
pub struct BackupConfig {
    /// Folder for backups; `None` disables scheduled backups.
    #[serde(deserialize_with = "rule::optional_folder")]
    pub folder: Option<PathBuf>,
    /// Time from one backup to the next.
    #[serde(deserialize_with = "rule::time_span")]
    pub every: TimeSpan,
    /// Number of backups that are kept.
    #[serde(deserialize_with = "rule::kept_backups")]
    pub keep: u32,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { folder: None, every: TimeSpan::of_hours(24), keep: 7 }
    }
}
