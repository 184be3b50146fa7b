//! The filters, which convert a value to a text. The time and space of each are linear in its input and output.

use std::borrow::Cow;
use std::io;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::error::TemplateProblem;
use super::meter::WorkMeter;

/// Characters that `urlencode` keeps, in addition to letters and digits.
const NOT_ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// The replacement of the text that `truncate` removes.
const ELLIPSIS: char = '…';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateFilter {
    ToJson,
    /// The text, percent-encoded for an address.
    UrlEncode,
    /// The text in upper case.
    Upper,
    /// The text in lower case.
    Lower,
    /// The text without white space around it.
    Trim,
    /// Another value if this one is missing or none; with `true` also if it is false, zero or empty.
    Default,
    /// The first characters of the text.
    Truncate,
}

impl TemplateFilter {
    /// The names of all filters, for errors.
    pub(super) const NAMES: &str =
        "one of the filters tojson, urlencode, upper, lower, trim, default, truncate";

    /// Returns the filter with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "tojson" => Self::ToJson,
            "urlencode" => Self::UrlEncode,
            "upper" => Self::Upper,
            "lower" => Self::Lower,
            "trim" => Self::Trim,
            "default" => Self::Default,
            "truncate" => Self::Truncate,
            _ => return None,
        })
    }

    /// Returns the minimum and maximum number of arguments, and both in words.
    pub(super) const fn arguments(self) -> (usize, usize, &'static str) {
        match self {
            Self::ToJson | Self::UrlEncode | Self::Upper | Self::Lower | Self::Trim => {
                (0, 0, "no arguments for this filter")
            }
            Self::Default => (1, 2, "one or two arguments for default"),
            Self::Truncate => (1, 1, "one argument for truncate: a number of characters"),
        }
    }
}

/// A text whose bytes are counted while it is written.
struct MeteredText<'m> {
    bytes: Vec<u8>,
    meter: &'m mut WorkMeter,
}

impl io::Write for MeteredText<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.meter.spend_bytes(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the value as JSON.
pub(super) fn to_json(value: &impl Serialize, meter: &mut WorkMeter) -> Result<String, TemplateProblem> {
    let mut written = MeteredText { bytes: Vec::new(), meter };
    serde_json::to_writer(&mut written, value).map_err(|_| TemplateProblem::TooMuchWork)?;
    let text = String::from_utf8(written.bytes);
    Ok(text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Percent-encodes everything except letters, digits and `-._~/`.
pub(super) fn encode_url(text: &str, meter: &mut WorkMeter) -> Result<String, TemplateProblem> {
    meter.spend_bytes(text.len())?;
    let mut encoded = String::new();
    for part in utf8_percent_encode(text, NOT_ENCODED) {
        meter.spend_bytes(part.len())?;
        encoded.push_str(part);
    }
    Ok(encoded)
}

/// Returns the text in upper case.
pub(super) fn to_upper(text: &str, meter: &mut WorkMeter) -> Result<String, TemplateProblem> {
    collect(text, text.chars().flat_map(char::to_uppercase), meter)
}

/// Returns the text in lower case.
pub(super) fn to_lower(text: &str, meter: &mut WorkMeter) -> Result<String, TemplateProblem> {
    collect(text, text.chars().flat_map(char::to_lowercase), meter)
}

fn collect(
    text: &str,
    characters: impl Iterator<Item = char>,
    meter: &mut WorkMeter,
) -> Result<String, TemplateProblem> {
    meter.spend_bytes(text.len())?;
    let mut collected = String::new();
    for character in characters {
        meter.spend_bytes(character.len_utf8())?;
        collected.push(character);
    }
    Ok(collected)
}

/// Returns the text without white space around it.
pub(super) fn trim<'v>(text: Cow<'v, str>, meter: &mut WorkMeter) -> Result<Cow<'v, str>, TemplateProblem> {
    meter.spend_bytes(text.len())?;
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    })
}

/// Returns the text, truncated to at most `most` characters; the last of them is then an ellipsis.
pub(super) fn truncate<'v>(
    text: Cow<'v, str>,
    most: usize,
    meter: &mut WorkMeter,
) -> Result<Cow<'v, str>, TemplateProblem> {
    meter.spend_bytes(text.len())?;
    if text.chars().nth(most).is_none() {
        return Ok(text);
    }
    let shortened = text.chars().take(most.saturating_sub(1));
    let ellipsis = (most > 0).then_some(ELLIPSIS);
    Ok(Cow::Owned(shortened.chain(ellipsis).collect()))
}
