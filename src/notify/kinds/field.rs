//! Settings with their shapes and limits, for forms and for whoever checks what a client sends.
//!
//! A check of a text is one function, so that the form, the API and the composing of a message agree on what is allowed.

use http::{HeaderName, HeaderValue};

use crate::egress::outbound::{OutboundUrl, is_own};
use crate::notify::template::TemplateError;

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
    /// A template, which may have several lines.
    Template {
        /// Most characters.
        max_length: usize,
        /// Finds what is wrong with a template of this length at most. It may take some milliseconds, so it is not called
        /// inside a transaction.
        check: fn(&str) -> Result<(), TemplateError>,
    },
    /// A list of one to so many texts, each like [`Shape::Text`].
    List {
        /// Most texts.
        max_items: usize,
        /// Most characters of each.
        max_length: usize,
        /// What is allowed beside the length.
        passes: fn(&str) -> bool,
        /// The same in words.
        form: &'static str,
    },
    /// Headers of a request: an object of texts by name, names as [`is_header_name`] allows, values of one line of printable
    /// ASCII and at most 2,000 characters.
    Headers {
        /// Most headers.
        max_items: usize,
    },
    /// A whole number.
    Number {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// The default.
        default: i64,
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

/// Most characters of the value of a header.
pub const HEADER_LENGTH: usize = 2_000;

/// Returns true for a header that a request may bring: those that decide where it ends and whom it is for are the client's.
#[must_use]
pub fn is_header_name(text: &str) -> bool {
    text.parse::<HeaderName>().is_ok_and(|name| !is_own(&name))
}

/// Returns true for the value of a header.
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok()
}
