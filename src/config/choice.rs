//! Settings with a fixed set of values.

use serde::Serialize;
use strum::{Display, EnumString};

/// Policy for the addresses that checks may reach. Link-local and cloud metadata addresses are never allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EgressChoice {
    /// Public, loopback and private addresses, for monitoring one's own machines.
    PrivateAllowed,
    /// Only public addresses.
    PublicOnly,
}

/// Encryption of the connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MailTransport {
    /// Starts in plain text and must be upgraded to TLS.
    Starttls,
    /// Encrypted from the first byte.
    Tls,
    /// Plain text, for servers of one's own network.
    None,
}

/// Role of users whom a trusted proxy names and nobody has invited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ProxyUserRole {
    /// Everything.
    Owner,
    /// Everything except users, tokens and access scopes.
    Editor,
    /// Incidents, pauses and duties.
    Responder,
    /// Only reading.
    Viewer,
}

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}
