//! From a message to what carries it: what it is made of, and the request that comes of it.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::settings::OpenSettings;
use crate::id::Id;
use crate::model::notification::message::Message;
use crate::notify::template::TemplateError;

/// A message for a channel, with everything that its request is made of.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The id of the delivery, the same on every try.
    pub id: &'a Id,
    /// The time of this try, in seconds since 1970.
    pub at_seconds: i64,
    /// What is told.
    pub message: &'a Message,
    /// The settings of the channel, secrets opened.
    pub settings: &'a OpenSettings,
    /// The mailbox of the contact that it is for, where the channel sends mails; `None` = those of the settings.
    pub recipient: Option<&'a str>,
}

/// What carries a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A request over HTTP.
    Request(OutgoingRequest),
    /// A mail over SMTP.
    Mail(OutgoingMail),
    /// A request with the facts as JSON, because the channel's template cannot be filled.
    Facts {
        /// The request.
        request: OutgoingRequest,
        /// Why the template cannot be filled.
        flaw: TemplateError,
    },
}

/// A request that carries a message. Its address, headers and body may hold secrets: it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// `POST` or `PUT`.
    pub method: &'static str,
    /// Where it goes.
    pub url: String,
    /// Its headers, beside those that every request has; names in lower case.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// What it says.
    pub body: Vec<u8>,
}

impl OutgoingRequest {
    /// A `POST` of JSON.
    #[must_use]
    pub fn json(url: impl Into<String>, body: &Value) -> Self {
        let headers = vec![("content-type".into(), "application/json; charset=utf-8".to_owned())];
        Self { method: "POST", url: url.into(), headers, body: body.to_string().into_bytes() }
    }

    /// The same request with one more header.
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

/// A mail, and the server that takes it. It holds a password: it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingMail {
    /// Host name or address of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the conversation is kept private.
    pub encryption: Encryption,
    /// Who sends, if the server wants to know.
    pub credentials: Option<Credentials>,
    /// The name by which the server is greeted.
    pub hello: String,
    /// From whom to whom.
    pub envelope: lettre::address::Envelope,
    /// Headers and parts, as they go over the wire.
    pub body: Vec<u8>,
}

/// How a conversation with a mail server is kept private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// It begins in clear, and goes on encrypted or not at all.
    StartTls,
    /// Encrypted from the first byte.
    Tls,
    /// Not at all.
    None,
}

/// A user of a mail server. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

impl fmt::Debug for OutgoingMail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingMail").field("encryption", &self.encryption).finish_non_exhaustive()
    }
}

/// The address of `path` below the one that is set, or below the usual one.
pub(super) fn address(set: &str, usual: &str, path: &str) -> String {
    let base = if set.is_empty() { usual } else { set };
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Settings that no request can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting {0} cannot be used")]
pub struct Unsendable(pub &'static str);
