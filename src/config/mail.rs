//! `[mail]`: the mail server through which mails to subscribers of status pages are sent.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::config::choice::MailTransport;
use crate::config::rule;

/// The settings of the mail server. Without a host and a sender no mails are sent to subscribers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [mail]")]
pub struct MailConfig {
    /// Host name or address of the mail server.
    #[serde(deserialize_with = "rule::mail_host")]
    pub smtp_host: Option<String>,
    /// Port of the mail server.
    #[serde(deserialize_with = "rule::port")]
    pub port: u16,
    /// Encryption of the connection.
    #[serde(deserialize_with = "rule::mail_transport")]
    pub encryption: MailTransport,
    /// Name of the user; `None` = no login.
    #[serde(deserialize_with = "rule::line")]
    pub username: Option<String>,
    /// Password of the user.
    #[serde(deserialize_with = "rule::secret_line", skip_serializing)]
    pub password: Option<SecretString>,
    /// Address of the sender.
    #[serde(deserialize_with = "rule::mail_address")]
    pub from: Option<String>,
    /// Address for complaints, to which a reader can also write to unsubscribe.
    #[serde(deserialize_with = "rule::mail_address")]
    pub complaints: Option<String>,
}

impl MailConfig {
    /// Returns true if mails can be sent.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.smtp_host.is_some() && self.from.is_some()
    }
}

impl Default for MailConfig {
    fn default() -> Self {
        Self {
            smtp_host: None,
            port: 587,
            encryption: MailTransport::Starttls,
            username: None,
            password: None,
            from: None,
            complaints: None,
        }
    }
}
