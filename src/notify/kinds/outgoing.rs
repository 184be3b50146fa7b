//! The input for the request of a message, and the resulting request or mail.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::settings::OpenSettings;
use crate::id::Id;
use crate::model::notification::message::NotificationMessage;
use crate::notify::template::TemplateError;

/// A message for one channel, with all the data that its request is built from.
#[derive(Clone, Copy, Debug)]
pub struct MessageEnvelope<'a> {
    /// The id of the delivery, the same for every attempt.
    pub id: &'a Id,
    /// The time of this attempt, in seconds since 1970.
    pub at_seconds: i64,
    /// Contents of the message.
    pub message: &'a NotificationMessage,
    /// The settings of the channel, with secrets in clear.
    pub settings: &'a OpenSettings,
    /// The address of the receiving contact, for a mail channel; `None` = the recipients in the settings.
    pub recipient: Option<&'a str>,
}

/// The request or mail for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutgoingDelivery {
    /// A request over HTTP.
    Request(OutgoingRequest),
    /// A mail over SMTP.
    Mail(OutgoingMail),
    /// An HTTP request with the facts as JSON, because the channel's template cannot be filled.
    Facts {
        /// The request that is sent.
        request: OutgoingRequest,
        /// The error of the template.
        flaw: TemplateError,
    },
}

/// An HTTP request for a message. Its address, headers and body may contain secrets, so `Debug` shows only the method.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// `POST` or `PUT`.
    pub method: &'static str,
    /// URL of the request.
    pub url: String,
    /// Headers in addition to those of every request; names in lower case.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// Body of the request.
    pub body: Vec<u8>,
}

impl OutgoingRequest {
    /// Creates a `POST` of JSON.
    #[must_use]
    pub fn json(url: impl Into<String>, body: &Value) -> Self {
        let headers = vec![("content-type".into(), "application/json; charset=utf-8".to_owned())];
        Self { method: "POST", url: url.into(), headers, body: body.to_string().into_bytes() }
    }

    /// Returns the request with one more header.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingRequest").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A mail, and the server that sends it. It contains a password, so `Debug` shows only the encryption.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingMail {
    /// Host name or address of the server.
    pub host: String,
    /// Port of the mail server.
    pub port: u16,
    /// The encryption of the connection.
    pub encryption: MailEncryption,
    /// The login, if the server requires one.
    pub credentials: Option<MailCredentials>,
    /// The client's name for `EHLO`: the domain of the sender's address.
    pub hello: String,
    /// Addresses of sender and recipients.
    pub envelope: lettre::address::Envelope,
    /// Headers and parts in wire format.
    pub body: Vec<u8>,
}

/// The encryption of a connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailEncryption {
    /// Starts in plain text and must be upgraded to TLS.
    StartTls,
    /// Encrypted from the first byte.
    Tls,
    /// Plain text, without TLS.
    None,
}

/// User name and password for a mail server. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct MailCredentials {
    /// Name of the user.
    pub username: String,
    /// Password of the user.
    pub password: String,
}

impl fmt::Debug for MailCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

impl fmt::Debug for OutgoingMail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingMail").field("encryption", &self.encryption).finish_non_exhaustive()
    }
}

/// Returns the address of `path` below the configured base, or below the default one.
pub(super) fn address(set: &str, usual: &str, path: &str) -> String {
    let base = if set.is_empty() { usual } else { set };
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Settings from which no request can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting {0} cannot be used")]
pub struct UnusableSetting(pub &'static str);
