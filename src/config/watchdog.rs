//! `[watchdog]`: the external monitor that is pinged while everything works, and when notices about this installation
//! are sent.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::config::rule;

/// The settings of the watchdog.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [watchdog]")]
pub struct WatchdogConfig {
    /// Address that is pinged; `None` disables the pings.
    #[serde(deserialize_with = "rule::secret_url", skip_serializing)]
    pub ping_url: Option<SecretString>,
    /// Seconds between two pings.
    #[serde(deserialize_with = "rule::ping_interval")]
    pub ping_interval_seconds: u32,
    /// Seconds for which a location or this process must have problems before a notice is sent, and must work again before
    /// the notice ends.
    #[serde(deserialize_with = "rule::notice_after")]
    pub notice_after_seconds: u32,
}

impl Default for WatchdogConfig {
    fn default() -> Self {
        Self { ping_url: None, ping_interval_seconds: 60, notice_after_seconds: 60 }
    }
}
