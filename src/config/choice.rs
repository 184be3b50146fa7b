//! Settings that are one of a few words.

use serde::Serialize;
use strum::{Display, EnumString};

/// The addresses that checks may reach. Link-local and cloud metadata addresses never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EgressChoice {
    /// Loopback and private addresses too: own machines may be watched.
    PrivateAllowed,
    /// Only public addresses.
    PublicOnly,
}

/// Form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
