//! The kinds of channels: the settings of each, the request that carries a message, and what an answer means. One file a kind.
//!
//! It is a catalogue like that of check types: one set of definitions that the API shows, that validates what clients send,
//! and that the courier builds requests from. Nothing here opens a connection.

mod webhook;

use std::fmt;

use serde_json::{Map, Value};

use crate::egress::outbound::OutboundUrl;
use crate::id::Id;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::Message;

/// Everything the catalogue says about one kind.
pub struct Definition {
    /// The kind it describes.
    pub kind: ChannelKind,
    /// Short name for people.
    pub label: &'static str,
    /// One or two sentences for people: what it does, and where its settings come from.
    pub description: &'static str,
    /// Its settings, in the order of a form.
    pub fields: &'static [Field],
    /// The request that carries a message.
    pub compose: fn(&Envelope<'_>) -> Result<Outgoing, Unsendable>,
    /// What an answer means; most kinds leave it to [`meaning_of_status`].
    pub judge: fn(&Reply<'_>) -> Meaning,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// One setting.
#[derive(Debug)]
pub struct Field {
    /// The key in `settings`.
    pub name: &'static str,
    /// Short name for people.
    pub label: &'static str,
    /// An explanation for people.
    pub help: &'static str,
    /// Its shape and limits.
    pub shape: Shape,
    /// True if it must be given.
    pub is_required: bool,
    /// True if it is sealed, and shown as the placeholder.
    pub is_secret: bool,
}

/// Shape and limits of a setting.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// An address that begins with `https://` or `http://`, 2,048 characters at most.
    Url,
    /// A text of one line of at most so many characters, for which the whole text passes the check (its name for people:
    /// `form`).
    Text {
        /// Most characters.
        max_length: usize,
        /// What is allowed beside the length.
        passes: fn(&str) -> bool,
        /// The same in words, for the error: "letters, digits, - and _".
        form: &'static str,
    },
    /// One of some words.
    Select {
        /// Allowed words.
        options: &'static [&'static str],
        /// The default.
        default: &'static str,
    },
}

/// Returns true for an address that a message can be sent to.
#[must_use]
pub fn is_url(text: &str) -> bool {
    OutboundUrl::parse(text).is_ok()
}

/// Any text of one line.
#[must_use]
pub fn any_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

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
}

/// Settings in clear. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenSettings(Map<String, Value>);

impl OpenSettings {
    /// These settings.
    #[must_use]
    pub const fn new(settings: Map<String, Value>) -> Self {
        Self(settings)
    }

    /// The text of a setting; empty when it is not set.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The texts of all settings that are secret and set, so that they can be kept out of what is shown.
    #[must_use]
    pub fn secrets(&self, definition: &Definition) -> Vec<&str> {
        let secret = definition.fields.iter().filter(|field| field.is_secret);
        secret.map(|field| self.text(field.name)).filter(|text| !text.is_empty()).collect()
    }
}

impl fmt::Debug for OpenSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSettings(..)")
    }
}

/// What carries a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A request over HTTP.
    Request(OutgoingRequest),
}

/// A request that carries a message. Its address, headers and body may hold secrets: it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// `POST` or `PUT`.
    pub method: &'static str,
    /// Where it goes.
    pub url: String,
    /// Its headers, beside those that every request has; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// What it says.
    pub body: Vec<u8>,
}

impl OutgoingRequest {
    /// A `POST` of JSON.
    #[must_use]
    pub fn json(url: impl Into<String>, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { method: "POST", url: url.into(), headers, body: body.to_string().into_bytes() }
    }

    /// The same request with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingRequest").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Settings that no request can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting {0} cannot be used")]
pub struct Unsendable(pub &'static str);

/// What came back.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The status of the answer.
    pub status: u16,
    /// The begin of the answer's body.
    pub body: &'a str,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The other side has taken the message.
    Taken,
    /// It may take it later.
    Later,
    /// It never will: the address, the secret or the message is wrong.
    Never,
}

/// What a status means where the other side says no more: 2xx is taken; 408, 425, 429 and 5xx may pass; the rest, redirects among
/// them, will not, but what is merely not there or not allowed at the moment (401, 403, 404) is tried again, because people mend
/// it on the other side.
#[must_use]
pub const fn meaning_of_status(reply: &Reply<'_>) -> Meaning {
    match reply.status {
        200..=299 => Meaning::Taken,
        401 | 403 | 404 | 408 | 409 | 423 | 425 | 429 | 500..=599 => Meaning::Later,
        _ => Meaning::Never,
    }
}

/// The catalogue's entry for a kind.
#[must_use]
pub const fn definition(kind: ChannelKind) -> &'static Definition {
    match kind {
        ChannelKind::Webhook => &webhook::DEFINITION,
    }
}

impl Definition {
    /// The setting with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
