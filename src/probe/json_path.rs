//! Paths into a JSON document, for `json.<path>` conditions (contract 4.2.4).
//!
//! Segments are separated by dots. On a list, digits are an index and `#` is its length; on an object every segment
//! is a key. There is no escape for a dot inside a key.
//!
//! A document may be truncated. A value that was read completely is found; for others the result is undecided.

use std::borrow::Cow;
use std::fmt;

use crate::probe::fact::JsonDocument;
use crate::probe::json_scan::{JsonScanner, JsonToken, ScanEnd};
use crate::probe::json_text::JsonText;

/// Maximum length of a path in characters.
pub const MAX_PATH_LENGTH: usize = 200;

/// The value at a path, in the form that conditions compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonPathValue<'a> {
    /// A number as written, or the length of a list.
    Number(Cow<'a, str>),
    /// `true` or `false`.
    Bool(bool),
    /// A text.
    Text(JsonText<'a>),
    /// A list.
    List {
        /// True when the searched text is one of its items.
        holds: bool,
    },
    /// `null` or an object.
    Other,
}

/// The result of following a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonSearch<'a> {
    /// The value at the path.
    Found(JsonPathValue<'a>),
    /// There is no value at the path, or the document is not JSON.
    Missing,
    /// The document was truncated before the result was known.
    Undecided,
}

/// A path of 1..200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Box<str>);

impl JsonPath {
    /// Creates a path; `None` if it is empty or longer than [`MAX_PATH_LENGTH`].
    #[must_use]
    pub fn new(path: &str) -> Option<Self> {
        Self::is_valid(path).then(|| Self(path.into()))
    }

    /// Returns true when `path` has 1..200 characters.
    #[must_use]
    pub fn is_valid(path: &str) -> bool {
        !path.is_empty() && path.chars().count() <= MAX_PATH_LENGTH
    }

    /// Returns the value at the path in `document`. For a list, `item` is searched among its items.
    #[must_use]
    pub fn find<'a>(&self, document: JsonDocument<'a>, item: &str) -> JsonSearch<'a> {
        let mut scanner = JsonScanner::new(document.bytes);
        let mut walk = PathWalk::new(&self.0, item);
        loop {
            match scanner.next_token() {
                Ok(token) => walk.take(token, scanner.depth()),
                Err(ScanEnd::Cut) if document.is_cut => return walk.found_so_far(),
                Err(ScanEnd::Complete) => return walk.found.map_or(JsonSearch::Missing, JsonSearch::Found),
                Err(ScanEnd::Cut | ScanEnd::Invalid) => return JsonSearch::Missing,
            }
        }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Follows a path through the tokens of a document; values that are not on the path are skipped.
struct PathWalk<'p, 'a> {
    segments: Vec<&'p str>,
    item: &'p str,
    /// The open objects and lists on the path, outermost first.
    open: Vec<OpenValue>,
    /// The depth of the items of the list at the path, while it is open.
    item_depth: Option<usize>,
    /// The value found so far; the last of several members with the same name counts.
    found: Option<JsonPathValue<'a>>,
}

/// An object or a list on the path that is still open.
enum OpenValue {
    Object {
        /// True if the next member is the one named by the path.
        is_named: bool,
    },
    List {
        /// Number of items so far.
        length: usize,
    },
}

impl<'p, 'a> PathWalk<'p, 'a> {
    fn new(path: &'p str, item: &'p str) -> Self {
        Self { segments: path.split('.').collect(), item, open: Vec::new(), item_depth: None, found: None }
    }

    /// Takes the next token, after which `depth` objects and lists are open.
    fn take(&mut self, token: JsonToken<'a>, depth: usize) {
        match token {
            JsonToken::Key(name) => self.take_key(name, depth),
            JsonToken::End => self.take_end(depth),
            JsonToken::ObjectStart | JsonToken::ListStart => self.take_value(token, depth - 1),
            _ => self.take_value(token, depth),
        }
    }

    fn take_key(&mut self, name: &[u8], depth: usize) {
        if depth == self.open.len()
            && let Some(OpenValue::Object { is_named }) = self.open.last_mut()
        {
            *is_named = JsonText::new(name).equals(self.segments[depth - 1]);
        }
    }

    /// Takes the start of a value at depth `depth`.
    fn take_value(&mut self, token: JsonToken<'a>, depth: usize) {
        if self.item_depth == Some(depth)
            && matches!(token, JsonToken::Text(text) if JsonText::new(text).equals(self.item))
        {
            self.found = Some(JsonPathValue::List { holds: true });
        }
        if depth != self.open.len() || !self.is_next_on_path() {
            return;
        }
        self.found = None;
        let is_target = depth == self.segments.len();
        match token {
            JsonToken::ObjectStart if !is_target => self.open.push(OpenValue::Object { is_named: false }),
            JsonToken::ListStart if !is_target => self.open.push(OpenValue::List { length: 0 }),
            _ if !is_target => {}
            JsonToken::ListStart => {
                self.item_depth = Some(depth + 1);
                self.found = Some(JsonPathValue::List { holds: false });
            }
            JsonToken::Number(number) => self.found = Some(JsonPathValue::Number(Cow::Borrowed(number))),
            JsonToken::Bool(flag) => self.found = Some(JsonPathValue::Bool(flag)),
            JsonToken::Text(text) => self.found = Some(JsonPathValue::Text(JsonText::new(text))),
            _ => self.found = Some(JsonPathValue::Other),
        }
    }

    /// Returns true when the value that starts now, in the innermost open value, is the next one on the path.
    fn is_next_on_path(&mut self) -> bool {
        let depth = self.open.len();
        match self.open.last_mut() {
            None => true,
            Some(OpenValue::Object { is_named }) => *is_named,
            Some(OpenValue::List { length }) => {
                *length += 1;
                index(self.segments[depth - 1]).is_some_and(|wanted| wanted + 1 == *length)
            }
        }
    }

    /// Takes the end of a value at depth `depth`.
    fn take_end(&mut self, depth: usize) {
        if self.item_depth == Some(depth + 1) {
            self.item_depth = None;
        }
        if depth + 1 != self.open.len() {
            return;
        }
        let is_length = self.segments.len() == depth + 1 && self.segments[depth] == "#";
        if let Some(OpenValue::List { length }) = self.open.pop()
            && is_length
        {
            self.found = Some(JsonPathValue::Number(Cow::Owned(length.to_string())));
        }
    }

    /// The result if the document is truncated here.
    fn found_so_far(self) -> JsonSearch<'a> {
        match self.found {
            Some(JsonPathValue::List { holds: false }) if self.item_depth.is_some() => JsonSearch::Undecided,
            Some(found) => JsonSearch::Found(found),
            None => JsonSearch::Undecided,
        }
    }
}

/// Parses an index of digits only: `parse` alone would also accept `+1`.
fn index(segment: &str) -> Option<usize> {
    segment.bytes().all(|byte| byte.is_ascii_digit()).then(|| segment.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    const LIST: JsonPathValue<'static> = JsonPathValue::List { holds: false };

    fn text(raw: &str) -> JsonPathValue<'_> {
        JsonPathValue::Text(JsonText::new(raw.as_bytes()))
    }

    fn number(text: &str) -> JsonPathValue<'_> {
        JsonPathValue::Number(text.into())
    }

    /// The value in a whole document.
    fn find<'a>(path: &str, document: &'a str, item: &str) -> Option<JsonPathValue<'a>> {
        let document = JsonDocument { bytes: document.as_bytes(), is_cut: false };
        match JsonPath::new(path).unwrap().find(document, item) {
            JsonSearch::Found(found) => Some(found),
            JsonSearch::Missing => None,
            JsonSearch::Undecided => panic!("{path} in a whole document"),
        }
    }

    #[rstest]
    #[case("status", Some(text("ok")))]
    #[case("checks.0.name", Some(text("db")))]
    #[case("checks.1.name", Some(text("queue")))]
    #[case("checks.2.name", None)]
    #[case("checks.+1.name", None)]
    #[case("checks.-1", None)]
    #[case("checks.", None)]
    #[case("checks.#", Some(number("2")))]
    #[case("checks.#.name", None)]
    #[case("by_code.404", Some(number("7")))]
    #[case("by_code.#", Some(text("a key like any other")))]
    #[case("by_code", Some(JsonPathValue::Other))]
    #[case("status.length", None)]
    #[case("nothing", Some(JsonPathValue::Other))]
    #[case("nothing.more", None)]
    #[case("checks", Some(LIST))]
    #[case("checks.99999999999999999999999", None)]
    #[case("escaped", Some(text(r"a\nb")))]
    #[case("twice", Some(JsonPathValue::Bool(false)))]
    #[case("below.zero", Some(number("-1.5")))]
    #[case(".", None)]
    fn a_path_selects_at_most_one_value(#[case] path: &str, #[case] expected: Option<JsonPathValue<'_>>) {
        let document = r##"{"status": "ok", "nothing": null, "by_code": {"404": 7, "#": "a key like any other"},
            "checks": [{"name": "db"}, {"name": "queue"}], "twice": true, "escaped": "a\nb", "below": {"zero": -1.5},
            "twice": false}"##;
        assert_eq!(find(path, document, ""), expected);
    }

    #[test]
    fn the_root_may_be_a_list() {
        for path in ["#", "1.#", "1.0"] {
            assert_eq!(find(path, "[1, [2, 3]]", ""), Some(number("2")), "{path}");
        }
    }

    #[test]
    fn a_list_is_searched_for_an_item() {
        let holds = |item| find("l", r#"{"l": ["a", 1, ["b"], {"c": "d"}, null]}"#, item);
        assert_eq!(holds("a"), Some(JsonPathValue::List { holds: true }));
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
    fn a_document_that_is_not_json_has_no_value(#[case] document: &str) {
        assert_eq!(find("a", document, ""), None);
    }

    #[test]
    fn a_document_is_at_most_128_levels_deep() {
        let nested =
            |depth: usize| format!("{{\"a\": 1, \"b\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(find("a", &nested(100), ""), Some(number("1")));
        assert_eq!(find("a", &nested(128), ""), None);
        let in_a_text = format!("{{\"a\": 1, \"b\": \"{}\\\"[\"}}", "[".repeat(500));
        assert_eq!(find("a", &in_a_text, ""), Some(number("1")));
    }

    /// Values that were read completely are found; the others are undecided.
    #[rstest]
    #[case("status", Some(text("ok")))]
    #[case("n", Some(number("1")))]
    #[case("list.#", Some(number("3")))]
    #[case("list.0", Some(text("a")))]
    #[case("list", Some(LIST))]
    #[case("object", Some(JsonPathValue::Other))]
    #[case("object.a", Some(number("1")))]
    #[case("object.b", None)]
    #[case("long.#", None)]
    #[case("long.0", Some(number("1")))]
    #[case("long.1", None)]
    #[case("long", None)]
    #[case("missing", None)]
    fn the_beginning_of_a_truncated_document_counts(
        #[case] path: &str,
        #[case] expected: Option<JsonPathValue<'_>>,
    ) {
        let bytes = br#"{"status": "ok", "n": 1, "list": ["a", "b", "c"], "object": {"a": 1}, "long": [1, 2"#;
        let found = JsonPath::new(path).unwrap().find(JsonDocument { bytes, is_cut: true }, "x");
        assert_eq!(found, expected.map_or(JsonSearch::Undecided, JsonSearch::Found));
        let broken = JsonDocument { bytes: &[bytes, &b"}"[..]].concat(), is_cut: true };
        assert_eq!(JsonPath::new(path).unwrap().find(broken, "x"), JsonSearch::Missing);
    }

    #[test]
    fn an_item_of_a_truncated_list_is_found() {
        let document = JsonDocument { bytes: br#"{"list": ["a", "b"#, is_cut: true };
        let find = |item| JsonPath::new("list").unwrap().find(document, item);
        assert_eq!(find("a"), JsonSearch::Found(JsonPathValue::List { holds: true }));
        assert_eq!(find("b"), JsonSearch::Undecided);
    }

    /// The value at the same path according to `serde_json`.
    fn oracle<'v>(path: &str, document: &'v Value) -> Option<&'v Value> {
        path.split('.').try_fold(document, |value, segment| match value {
            Value::Array(items) => items.get(index(segment)?),
            other => other.get(segment),
        })
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(Value::from),
            "[a\"\\\\é\n\u{1f600}]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("[ab1]|é", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_path_selects_the_same_value_as_serde_json(value in document(), path in "([ab12]|é)(\\.([ab012]|é)){0,3}") {
            let written = value.to_string();
            let found = find(&path, &written, "");
            let agrees = match (&found, oracle(&path, &value)) {
                (None, None) => true,
                (Some(JsonPathValue::Number(text)), Some(Value::Number(number))) => **text == number.to_string(),
                (Some(JsonPathValue::Bool(flag)), Some(Value::Bool(expected))) => flag == expected,
                (Some(JsonPathValue::Text(text)), Some(Value::String(expected))) => text.equals(expected),
                (Some(JsonPathValue::List { .. }), Some(Value::Array(_))) => true,
                (Some(JsonPathValue::Other), Some(Value::Null | Value::Object(_))) => true,
                _ => false,
            };
            prop_assert!(agrees, "{path} in {written}: {found:?}");
        }
    }

    #[test]
    fn a_path_has_1_to_200_characters() {
        assert!(JsonPath::new("").is_none());
        assert!(JsonPath::new(&"ä".repeat(200)).is_some());
        assert!(JsonPath::new(&"a".repeat(201)).is_none());
    }
}
