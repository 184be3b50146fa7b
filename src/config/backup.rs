//! `[backup]`: backups that a running server makes by itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::rule;
use crate::config::time_span::TimeSpan;

/// The settings of scheduled backups.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [backup]")]
pub struct BackupConfig {
    /// Folder that they are made in; `None` = none are made.
    #[serde(deserialize_with = "rule::optional_folder")]
    pub folder: Option<PathBuf>,
    /// Time from one to the next.
    #[serde(deserialize_with = "rule::time_span")]
    pub every: TimeSpan,
    /// How many are kept.
    #[serde(deserialize_with = "rule::kept_backups")]
    pub keep: u32,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { folder: None, every: TimeSpan::of_hours(24), keep: 7 }
    }
}
