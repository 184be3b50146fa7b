//! Settings with their shapes and limits, for forms and for the validation of requests.
//!
//! The check of a text is one function, so that the form, the API and the composition of a message agree on what is
//! allowed.

use http::{HeaderName, HeaderValue};

use crate::egress::outbound::{OutboundUrl, is_own};
use crate::notify::template::TemplateError;

/// One setting of a kind of channel.
#[derive(Debug)]
pub struct ChannelField {
    /// The key in `settings`.
    pub name: &'static str,
    /// Short name, shown in forms.
    pub label: &'static str,
    /// Explanation, shown in forms.
    pub help: &'static str,
    /// Type, limits and default of its values.
    pub shape: FieldShape,
    /// True if the setting must be given.
    pub is_required: bool,
    /// True if the setting is stored encrypted, and replaced by the placeholder in answers.
    pub is_secret: bool,
}

/// Shape and limits of a setting.
#[derive(Clone, Copy, Debug)]
pub enum FieldShape {
    /// An `https://` or `http://` address of at most 2,048 characters.
    Url,
    /// One line of at most `max_length` characters that passes the check (described for people in `form`).
    Text {
        /// Maximum number of characters.
        max_length: usize,
        /// The check of the content, in addition to the length.
        passes: fn(&str) -> bool,
        /// The rule of the check in words, for the error: "letters, digits, - and _".
        form: &'static str,
    },
    /// A template, which may have several lines.
    Template {
        /// Maximum number of characters.
        max_length: usize,
        /// Returns the error of a template within the length limit. It may take some milliseconds, so it is not called
        /// inside a transaction.
        check: fn(&str) -> Result<(), TemplateError>,
    },
    /// A list of one to `max_items` texts, each like [`FieldShape::Text`].
    List {
        /// Maximum number of texts.
        max_items: usize,
        /// Maximum number of characters of each text.
        max_length: usize,
        /// The check of the content, in addition to the length.
        passes: fn(&str) -> bool,
        /// The rule of the check in words, for the error.
        form: &'static str,
    },
    /// Headers of a request: an object of texts by name; names that [`is_header_name`] accepts, values of one line of
    /// printable ASCII and at most 2,000 characters.
    Headers {
        /// Maximum number of headers.
        max_items: usize,
    },
    /// A whole number.
    Number {
        /// The smallest allowed value.
        min: i64,
        /// The largest allowed value.
        max: i64,
        /// The value when none is given.
        default: i64,
    },
    /// One of a list of values.
    Select {
        /// The texts that may be chosen.
        options: &'static [&'static str],
        /// The value when none is given.
        default: &'static str,
    },
}

/// Returns true for an address that messages can be sent to.
#[must_use]
pub fn is_url(text: &str) -> bool {
    OutboundUrl::parse(text).is_ok()
}

/// Accepts any text of one line.
#[must_use]
pub fn any_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// Maximum length of a header's value, in characters.
pub const HEADER_LENGTH: usize = 2_000;

/// Returns true for a header that may be configured; headers for framing and destination are set by the client.
#[must_use]
pub fn is_header_name(text: &str) -> bool {
    text.parse::<HeaderName>().is_ok_and(|name| !is_own(&name))
}

/// Returns true for a valid header value.
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok()
}
