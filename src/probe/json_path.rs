//! Paths into a JSON document, as `json.<path>` conditions write them (contract 4.2.4).
//!
//! Segments are separated by dots. On a list, digits are an index and `#` is its length; on an object every segment
//! is a key. There is no escape for a dot inside a key.
//!
//! A document is read from its first to its last byte without being kept: it comes from a stranger, and as a tree it
//! would take thirty times its size.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Most characters of a path.
pub const MAX_PATH_LENGTH: usize = 200;

/// Objects and lists within each other; nobody means more.
const MAX_DEPTH: usize = 128;

/// The value that a path leads to, as far as conditions compare it.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<'a> {
    /// A number, or the length of a list.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List {
        /// True when the text that was asked for is one of its items.
        holds: bool,
    },
    /// `null` or an object.
    Other,
}

/// A path of 1..200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Box<str>);

impl JsonPath {
    /// The path, unless it is empty or longer than [`MAX_PATH_LENGTH`].
    #[must_use]
    pub fn new(path: &str) -> Option<Self> {
        Self::is_valid(path).then(|| Self(path.into()))
    }

    /// Returns true when `path` has 1..200 characters.
    #[must_use]
    pub fn is_valid(path: &str) -> bool {
        !path.is_empty() && path.chars().count() <= MAX_PATH_LENGTH
    }

    /// Returns what the path leads to in `document`; `None` when that is nothing, or when the document is no JSON.
    /// Of a list it is found out whether `item` is one of its items.
    #[must_use]
    pub fn find<'a>(&self, document: &'a str, item: &str) -> Option<Found<'a>> {
        if depth(document) > MAX_DEPTH {
            return None;
        }
        let mut reader = serde_json::Deserializer::from_str(document);
        let found = Seek { path: Some(&self.0), item }.deserialize(&mut reader).ok()?;
        reader.end().ok()?;
        found
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the depth to which objects and lists lie within each other.
fn depth(document: &str) -> usize {
    let (mut depth, mut deepest, mut is_in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in document.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_text => is_escaped = true,
            b'"' => is_in_text = !is_in_text,
            b'[' | b'{' if !is_in_text => depth += 1,
            b']' | b'}' if !is_in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Goes down a path while a document is read; what lies beside it is passed over.
struct Seek<'p> {
    /// The rest of the path; `None`: here is the value.
    path: Option<&'p str>,
    item: &'p str,
}

impl Seek<'_> {
    /// A value that holds no other: found when the path ends here.
    fn leaf<'de>(&self, value: Found<'de>) -> Option<Found<'de>> {
        self.path.is_none().then_some(value)
    }
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<Found<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<Found<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Bool(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Number(number as f64)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Number(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Number(number)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Other))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(self.leaf(Found::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.path.is_none().then(|| Found::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let Some(path) = self.path else {
            let mut holds = false;
            while let Some(is_wanted) = items.next_element_seed(Is(self.item))? {
                holds |= is_wanted;
            }
            return Ok(Some(Found::List { holds }));
        };
        let (segment, rest) = split(path);
        let wanted = index(segment);
        let (mut found, mut length) = (None, 0_usize);
        loop {
            let has_more = if wanted == Some(length) {
                let next = items.next_element_seed(Seek { path: rest, item: self.item })?;
                next.map(|value| found = value).is_some()
            } else {
                items.next_element::<IgnoredAny>()?.is_some()
            };
            if !has_more {
                break;
            }
            length += 1;
        }
        let is_length = segment == "#" && rest.is_none();
        Ok(if is_length { Some(Found::Number(length as f64)) } else { found })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Some(path) = self.path else {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Some(Found::Other));
        };
        let (segment, rest) = split(path);
        let mut found = None;
        while let Some(is_wanted) = members.next_key_seed(Is(segment))? {
            if is_wanted {
                // Of two members with the same name the later one counts.
                found = members.next_value_seed(Seek { path: rest, item: self.item })?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Reads a value and tells whether it is this text.
struct Is<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(text == self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<bool, A::Error> {
        IgnoredAny.visit_seq(items).map(|IgnoredAny| false)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<bool, A::Error> {
        IgnoredAny.visit_map(members).map(|IgnoredAny| false)
    }
}

/// The first segment of a path and the rest, if there is one.
fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(segment, rest)| (segment, Some(rest)))
}

/// Digits only: `parse` alone would also take `+1`.
fn index(segment: &str) -> Option<usize> {
    segment.bytes().all(|byte| byte.is_ascii_digit()).then(|| segment.parse().ok())?
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIST: Found<'static> = Found::List { holds: false };

    fn text(text: &str) -> Found<'_> {
        Found::Text(text.into())
    }

    #[rstest]
    #[case("status", Some(text("ok")))]
    #[case("checks.0.name", Some(text("db")))]
    #[case("checks.1.name", Some(text("queue")))]
    #[case("checks.2.name", None)]
    #[case("checks.+1.name", None)]
    #[case("checks.-1", None)]
    #[case("checks.", None)]
    #[case("checks.#", Some(Found::Number(2.0)))]
    #[case("checks.#.name", None)]
    #[case("by_code.404", Some(Found::Number(7.0)))]
    #[case("by_code.#", Some(text("a key like any other")))]
    #[case("by_code", Some(Found::Other))]
    #[case("status.length", None)]
    #[case("nothing", Some(Found::Other))]
    #[case("nothing.more", None)]
    #[case("checks", Some(LIST))]
    #[case("checks.99999999999999999999999", None)]
    #[case("escaped", Some(text("a\nb")))]
    #[case("twice", Some(Found::Bool(false)))]
    #[case("below.zero", Some(Found::Number(-1.5)))]
    #[case(".", None)]
    fn a_path_leads_to_at_most_one_value(#[case] path: &str, #[case] expected: Option<Found<'_>>) {
        let document = r##"{"status": "ok", "nothing": null, "by_code": {"404": 7, "#": "a key like any other"},
            "checks": [{"name": "db"}, {"name": "queue"}], "twice": true, "escaped": "a\nb", "below": {"zero": -1.5},
            "twice": false}"##;
        assert_eq!(JsonPath::new(path).unwrap().find(document, ""), expected);
    }

    #[test]
    fn the_root_may_be_a_list() {
        let find = |path| JsonPath::new(path).unwrap().find("[1, [2, 3]]", "");
        assert_eq!(find("#"), Some(Found::Number(2.0)));
        assert_eq!(find("1.#"), Some(Found::Number(2.0)));
        assert_eq!(find("1.0"), Some(Found::Number(2.0)));
    }

    #[test]
    fn a_list_is_asked_for_one_item() {
        let holds =
            |item| JsonPath::new("l").unwrap().find(r#"{"l": ["a", 1, ["b"], {"c": "d"}, null]}"#, item);
        assert_eq!(holds("a"), Some(Found::List { holds: true }));
        for other in ["1", "b", "c", "d", ""] {
            assert_eq!(holds(other), Some(LIST), "{other}");
        }
    }

    #[rstest]
    #[case("")]
    #[case("{\"a\": 1")]
    #[case("{\"a\": 1} trailing")]
    #[case("{\"a\": 1, }")]
    #[case("not JSON at all")]
    fn a_document_that_is_no_json_holds_nothing(#[case] document: &str) {
        assert_eq!(JsonPath::new("a").unwrap().find(document, ""), None);
    }

    #[test]
    fn a_document_is_at_most_128_levels_deep() {
        let nested =
            |depth: usize| format!("{{\"a\": 1, \"b\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        let a = JsonPath::new("a").unwrap();
        assert_eq!(a.find(&nested(100), ""), Some(Found::Number(1.0)));
        assert_eq!(a.find(&nested(128), ""), None);
        assert_eq!(
            a.find(&format!("{{\"a\": 1, \"b\": \"{}\\\"[\"}}", "[".repeat(500)), ""),
            Some(Found::Number(1.0))
        );
    }

    #[test]
    fn a_path_has_1_to_200_characters() {
        assert!(JsonPath::new("").is_none());
        assert!(JsonPath::new(&"ä".repeat(200)).is_some());
        assert!(JsonPath::new(&"a".repeat(201)).is_none());
    }
}
