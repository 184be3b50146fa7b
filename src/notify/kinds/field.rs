//! Settings with their shapes and limits, for forms and for whoever checks what a client sends.
//!
//! A check of a text is one function, so that the form, the API and the composing of a message agree on what is allowed.

use crate::egress::outbound::OutboundUrl;

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
