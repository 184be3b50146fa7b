//! Tags: labels of services (contract 4.4, specification 2.3).
//!
//! A [`TagName`] is a key and optionally a value, both valid and in the form in which they are stored. Which tags exist is
//! known to the store.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::id::{ID_LENGTH, Id};
use crate::model::word_enum::words;

/// Maximum number of characters of a key.
pub const KEY_MAX_LENGTH: usize = 50;
/// Maximum number of characters of a value.
pub const VALUE_MAX_LENGTH: usize = 100;

const PALETTE: [&str; 12] = [
    "#2563eb", "#16a34a", "#dc2626", "#d97706", "#7c3aed", "#0891b2", "#db2777", "#65a30d", "#ea580c",
    "#4f46e5", "#0d9488", "#64748b",
];

/// A tag as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Key of the row.
    pub row: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the tag.
    pub organisation: i64,
    /// Key and value, unique in the organisation.
    pub name: TagName,
    /// Colour as `#RRGGBB`, in the case in which the client sent it.
    pub color: String,
    /// Who created the tag: a member or the server agent.
    pub source: TagSource,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl Tag {
    /// A new tag of a member, not stored yet. Without a colour it gets the one that is derived from its name.
    #[must_use]
    pub fn new(organisation: i64, name: TagName, color: Option<String>, now: Timestamp) -> Self {
        Self {
            row: 0,
            id: Id::tag(),
            organisation,
            color: color.unwrap_or_else(|| name.derived_color().to_owned()),
            name,
            source: TagSource::User,
            created_at: now,
        }
    }
}

words! {
    /// Who created a tag.
    pub enum TagSource {
        /// A member, through the API.
        User,
        /// The server agent.
        System,
    }
}

/// The name of a tag: key and optional value. Its text form is the `label`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagName {
    key: String,
    value: Option<String>,
}

/// The text is not a valid tag name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a valid tag name")]
pub struct InvalidTagName;

impl TagName {
    /// Makes a name from key and value, after trimming both and changing the key to lower case. An empty value counts as no
    /// value.
    ///
    /// # Errors
    ///
    /// If the key or the value is malformed.
    pub fn new(key: &str, value: Option<&str>) -> Result<Self, InvalidTagName> {
        let key = key.trim().to_ascii_lowercase();
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        if is_key(&key) && value.is_none_or(is_value) {
            Ok(Self { key, value: value.map(str::to_owned) })
        } else {
            Err(InvalidTagName)
        }
    }

    /// The key, always in lower case.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value, never empty; `None` if there is no value.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// The text form: `key:value`, or only `key`.
    #[must_use]
    pub fn label(&self) -> String {
        self.value.as_ref().map_or_else(|| self.key.clone(), |value| format!("{}:{value}", self.key))
    }

    /// The colour for a tag that was given none.
    #[must_use]
    pub fn derived_color(&self) -> &'static str {
        let digest = Sha256::digest(self.label());
        PALETTE[usize::from(digest[0]) % PALETTE.len()]
    }
}

impl FromStr for TagName {
    type Err = InvalidTagName;

    /// Parses `key:value`, `key=value` or `key`.
    fn from_str(text: &str) -> Result<Self, InvalidTagName> {
        match text.split_once([':', '=']) {
            Some((key, value)) => Self::new(key, Some(value)),
            None => Self::new(text, None),
        }
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}

/// Returns true if the text is a valid key: `^[a-z0-9]([a-z0-9_.-]{0,48}[a-z0-9])?$`.
#[must_use]
pub fn is_key(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends_well = |byte: Option<u8>| byte.is_some_and(plain);
    text.len() <= KEY_MAX_LENGTH
        && ends_well(text.bytes().next())
        && ends_well(text.bytes().next_back())
        && text.bytes().all(|byte| plain(byte) || matches!(byte, b'_' | b'.' | b'-'))
}

/// Returns true if the text is a valid value: at most 100 characters and no control character (0x00-0x1F, 0x7F).
#[must_use]
pub fn is_value(text: &str) -> bool {
    text.chars().count() <= VALUE_MAX_LENGTH && has_no_controls(text)
}

/// Returns true if the text has no control character (0x00-0x1F, 0x7F).
#[must_use]
pub fn has_no_controls(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control())
}

/// Returns true if the text is a colour: `^#[0-9A-Fa-f]{6}$`.
#[must_use]
pub fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#');
    digits.is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns true if the text could be an id: 21 characters of the id alphabet with an uppercase letter (specification 4.2).
#[must_use]
pub fn looks_like_id(text: &str) -> bool {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.len() == ID_LENGTH
        && text.bytes().all(in_alphabet)
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 4.3.6 rule 2, and 4.4: the key and the value of a text.
    #[rstest]
    #[case("env:prod", "env", Some("prod"))]
    #[case("env=prod", "env", Some("prod"))]
    #[case(" ENV : Prod ", "env", Some("Prod"))]
    #[case("env", "env", None)]
    #[case("env:", "env", None)]
    #[case("env= ", "env", None)]
    #[case("env:a=b", "env", Some("a=b"))]
    #[case("env=a:b", "env", Some("a:b"))]
    #[case("a.b_c-d:ü 😀", "a.b_c-d", Some("ü 😀"))]
    #[case("7", "7", None)]
    fn a_name_is_split_at_the_first_sign(#[case] text: &str, #[case] key: &str, #[case] value: Option<&str>) {
        let name: TagName = text.parse().unwrap();
        assert_eq!((name.key(), name.value()), (key, value));
        assert_eq!(name.label().parse(), Ok(name));
    }

    #[rstest]
    #[case("")]
    #[case(":")]
    #[case(":prod")]
    #[case("-env")]
    #[case("env.")]
    #[case("e nv")]
    #[case("ümlaut")]
    #[case("\u{212a}ey")]
    #[case("env:a\u{7f}b")]
    #[case("env:a\nb")]
    #[case("env\0")]
    fn other_texts_are_no_names(#[case] text: &str) {
        assert_eq!(text.parse::<TagName>(), Err(InvalidTagName));
    }

    #[test]
    fn keys_and_values_have_a_longest_form() {
        let (key, value) = ("k".repeat(50), "ü".repeat(100));
        assert!(TagName::new(&key, Some(&value)).is_ok());
        assert_eq!(TagName::new(&format!("{key}k"), None), Err(InvalidTagName));
        assert_eq!(TagName::new("k", Some(&format!("{value}ü"))), Err(InvalidTagName));
    }

    /// Contract 4.4, derived colour: the digests start with 0x23 and 0xb7.
    #[rstest]
    #[case("env:prod", "#64748b")]
    #[case("env", "#d97706")]
    fn a_derived_colour_depends_only_on_the_label(#[case] label: &str, #[case] color: &str) {
        let name: TagName = label.parse().unwrap();
        assert_eq!(name.derived_color(), color);
    }

    #[rstest]
    #[case("8rumoia4tHtM30RLo1EcP", true)]
    #[case("8rumoia4thtm30rlo1ecp", false)]
    #[case("8rumoia4tHtM30RLo1Ec", false)]
    #[case("8rumoia4tHtM30RLo1EcPx", false)]
    #[case("8rumoia4tHtM30RLo1Ec:", false)]
    fn an_id_has_21_characters_and_an_uppercase_letter(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(looks_like_id(text), expected);
    }

    #[rstest]
    #[case("#2563EB", true)]
    #[case("#abcdef", true)]
    #[case("2563eb", false)]
    #[case("#2563e", false)]
    #[case("#2563eg", false)]
    #[case("#ü563e", false)]
    fn a_colour_has_six_digits(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_color(text), expected);
    }
}
