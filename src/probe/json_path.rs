//! Paths into a JSON document, as `json.<path>` conditions write them (contract 4.2.4).
//!
//! Segments are separated by dots. On a list, digits are an index and `#` is its length; on an object every segment
//! is a key. There is no escape for a dot inside a key.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// Most characters of a path.
pub const MAX_PATH_LENGTH: usize = 200;

/// A path of 1..200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Box<str>);

impl JsonPath {
    /// The path, unless it is empty or longer than [`MAX_PATH_LENGTH`].
    #[must_use]
    pub fn new(path: &str) -> Option<Self> {
        Self::is_valid(path).then(|| Self(path.into()))
    }

    /// Whether `path` has 1..200 characters.
    #[must_use]
    pub fn is_valid(path: &str) -> bool {
        !path.is_empty() && path.chars().count() <= MAX_PATH_LENGTH
    }

    /// What the path leads to in `document`.
    #[must_use]
    pub fn find<'a>(&self, document: &'a Value) -> Option<Cow<'a, Value>> {
        let mut here = document;
        let mut segments = self.0.split('.').peekable();
        while let Some(segment) = segments.next() {
            here = match here {
                Value::Object(members) => members.get(segment)?,
                Value::Array(items) if segment == "#" => {
                    let length = Value::from(items.len());
                    return segments.peek().is_none().then_some(Cow::Owned(length));
                }
                Value::Array(items) => items.get(index(segment)?)?,
                _ => return None,
            };
        }
        Some(Cow::Borrowed(here))
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Digits only: `parse` alone would also take `+1`.
fn index(segment: &str) -> Option<usize> {
    segment
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| segment.parse().ok())?
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("status", Some(json!("ok")))]
    #[case("checks.0.name", Some(json!("db")))]
    #[case("checks.1.name", Some(json!("queue")))]
    #[case("checks.2.name", None)]
    #[case("checks.+1.name", None)]
    #[case("checks.-1", None)]
    #[case("checks.", None)]
    #[case("checks.#", Some(json!(2)))]
    #[case("checks.#.name", None)]
    #[case("by_code.404", Some(json!(7)))]
    #[case("by_code.#", Some(json!("a key like any other")))]
    #[case("status.length", None)]
    #[case("nothing", Some(json!(null)))]
    #[case("nothing.more", None)]
    #[case("checks.99999999999999999999999", None)]
    #[case(".", None)]
    fn a_path_leads_to_at_most_one_value(#[case] path: &str, #[case] expected: Option<Value>) {
        let document = json!({
            "status": "ok", "nothing": null, "by_code": {"404": 7, "#": "a key like any other"},
            "checks": [{"name": "db"}, {"name": "queue"}],
        });
        let found = JsonPath::new(path).unwrap();
        assert_eq!(found.find(&document).map(Cow::into_owned), expected);
    }

    #[test]
    fn the_root_may_be_a_list() {
        let document = json!([1, [2, 3]]);
        let find = |path| JsonPath::new(path).unwrap().find(&document).map(Cow::into_owned);
        assert_eq!(find("#"), Some(json!(2)));
        assert_eq!(find("1.#"), Some(json!(2)));
        assert_eq!(find("1.0"), Some(json!(2)));
    }

    #[test]
    fn a_path_has_1_to_200_characters() {
        assert!(JsonPath::new("").is_none());
        assert!(JsonPath::new(&"ä".repeat(200)).is_some());
        assert!(JsonPath::new(&"a".repeat(201)).is_none());
    }
}
