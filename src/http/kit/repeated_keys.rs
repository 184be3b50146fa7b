//! Finds keys that occur more than once in one object of a JSON text, for strict requests. The meaning of such a key is not
//! defined (RFC 8259, section 4); in other requests its last value counts (contract 1.2).

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::known_input::NAMED_MAX;
use crate::http::kit::rule::FieldRule;

/// Maximum bytes of all reported paths together: a path may be as long as the text.
const PATHS_MAX_BYTES: usize = 16 * 1_024;

/// Returns errors for the repeated keys of a JSON text, by their dotted paths. Empty for a text that is not JSON.
#[must_use]
pub fn repeated_keys(text: &[u8]) -> FieldErrors {
    let mut found = RepeatedKeys::default();
    match KeySearch(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(text)) {
        Ok(()) => found.errors,
        // A text that is not JSON is refused by the reader of the body.
        Err(_) => FieldErrors::default(),
    }
}

/// The repeated keys found so far, and the path of the present value.
#[derive(Default)]
struct RepeatedKeys {
    errors: FieldErrors,
    path: Vec<PathPart>,
    path_bytes: usize,
}

enum PathPart {
    Key(String),
    Index(usize),
}

impl fmt::Display for PathPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(formatter),
            Self::Index(index) => index.fmt(formatter),
        }
    }
}

impl RepeatedKeys {
    /// Reports the present path, unless the maximum has been reported.
    fn report(&mut self) {
        if self.errors.count() < NAMED_MAX && self.path_bytes < PATHS_MAX_BYTES {
            let path = self.path.iter().map(PathPart::to_string).collect::<Vec<_>>().join(".");
            self.path_bytes += path.len();
            self.errors.add(path, FieldRule::RepeatedKey);
        }
    }
}

/// Searches one JSON value for repeated keys.
struct KeySearch<'a>(&'a mut RepeatedKeys);

impl<'de> DeserializeSeed<'de> for KeySearch<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeySearch<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let found = self.0;
        for index in 0.. {
            found.path.push(PathPart::Index(index));
            let entry = list.next_element_seed(KeySearch(found))?;
            found.path.pop();
            if entry.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let found = self.0;
        let mut seen = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            found.path.push(PathPart::Key(key.clone()));
            if !seen.insert(key) {
                found.report();
            }
            object.next_value_seed(KeySearch(found))?;
            found.path.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"a": 1, "b": [true, null, 1.5, -2, "a", "a"], "c": {"a": 1}}"#, &[])]
    #[case(r#"{"a": 1, "b": 2, "a": 1}"#, &["a"])]
    #[case(r#"{"a": 1, "\u0061": 2, "a": 3}"#, &["a"])]
    #[case(r#"{"a": {"x": 1, "x": 2}, "b": [{}, {"y": 1, "y": [{"z": 1, "z": 1}]}]}"#, &["a.x", "b.1.y", "b.1.y.0.z"])]
    #[case(r#"{"a": {"x": 1}, "a": {"x": 2}}"#, &["a"])]
    #[case(r#"[{"a": 1, "a": 2}]"#, &["0.a"])]
    #[case(r#"{"a": 1, "a""#, &[])]
    #[case("", &[])]
    fn a_key_that_is_repeated_in_its_object_is_named(#[case] text: &str, #[case] expected: &[&str]) {
        let found = repeated_keys(text.as_bytes());
        assert_eq!(found.iter().map(|(path, _)| path).collect::<Vec<_>>(), expected);
    }

    /// Limits time and memory for a body full of repeated keys.
    #[test]
    fn only_the_first_of_very_many_are_named() {
        let keys: Vec<String> =
            (0..30_000).map(|number| format!("\"k{number}\":1,\"k{number}\":1")).collect();
        assert_eq!(repeated_keys(format!("{{{}}}", keys.join(",")).as_bytes()).count(), NAMED_MAX);
        let long = format!("{{\"{}\":{{{}}}}}", "x".repeat(500_000), keys.join(","));
        assert_eq!(repeated_keys(long.as_bytes()).count(), 1);
    }
}
