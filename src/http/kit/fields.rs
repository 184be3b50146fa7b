//! Typed reading of a JSON object: each value is checked once, and all errors are collected (contract 1.2, 5.3).
//!
//! [`Fields`] is an object with its path, a [`Field`] one value with its path. A failed read adds one error and yields
//! `None`; the caller checks the [`Errors`] at the end. This module knows no resource.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::http::kit::field::Field;
use crate::http::kit::rule::FieldRule;

pub use crate::http::kit::field_errors::Errors;

/// The value given by a client for a nullable field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<T> {
    /// Missing: the stored value is kept.
    Absent,
    /// Null: the value is cleared.
    Null,
    /// A new value.
    Value(T),
}

impl<T> Given<T> {
    /// The new value of a field whose stored value is `stored`.
    #[must_use]
    pub fn or_stored(self, stored: Option<T>) -> Option<T> {
        match self {
            Self::Absent => stored,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Converts the value; a failed conversion, which has added an error, counts as absent.
    #[must_use]
    pub fn read<U>(self, read: impl FnOnce(T) -> Option<U>) -> Given<U> {
        match self {
            Self::Absent => Given::Absent,
            Self::Null => Given::Null,
            Self::Value(value) => read(value).map_or(Given::Absent, Given::Value),
        }
    }
}

/// The members of an object.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    members: &'a Map<String, Value>,
    path: Path<'a>,
    errors: &'a Errors,
}

/// Path of an object; empty for the body itself.
#[derive(Clone, Copy, Debug)]
struct Path<'a>(&'a str);

impl Path<'_> {
    fn of(self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) }
    }
}

impl<'a> Field<'a> {
    /// The members of an object.
    #[must_use]
    pub fn object(&'a self) -> Option<Fields<'a>> {
        match self.members() {
            Some(members) => Some(Fields::new(members, self.path(), self.errors())),
            None => self.refuse(FieldRule::Object),
        }
    }
}

impl<'a> Fields<'a> {
    /// The members of the object at `path` (`""` for the body itself).
    #[must_use]
    pub const fn new(members: &'a Map<String, Value>, path: &'a str, errors: &'a Errors) -> Self {
        Self { members, path: Path(path), errors }
    }

    /// A required member.
    #[must_use]
    pub fn required(&self, name: &str) -> Option<Field<'a>> {
        if !self.members.contains_key(name) {
            self.errors.add(self.path.of(name), FieldRule::Required);
        }
        self.optional(name)
    }

    /// An optional member that must not be null.
    #[must_use]
    pub fn optional(&self, name: &str) -> Option<Field<'a>> {
        match self.nullable(name) {
            Given::Absent => None,
            Given::Value(field) => Some(field),
            Given::Null => {
                self.errors.add(self.path.of(name), FieldRule::NotNull);
                None
            }
        }
    }

    /// An optional member; null counts as missing.
    #[must_use]
    pub fn skippable(&self, name: &str) -> Option<Field<'a>> {
        match self.nullable(name) {
            Given::Value(field) => Some(field),
            Given::Absent | Given::Null => None,
        }
    }

    /// A nullable member.
    #[must_use]
    pub fn nullable(&self, name: &str) -> Given<Field<'a>> {
        match self.members.get(name) {
            None => Given::Absent,
            Some(Value::Null) => Given::Null,
            Some(value) => Given::Value(Field::new(value, self.path.of(name), self.errors)),
        }
    }

    /// A nullable string; blank counts as null.
    #[must_use]
    pub fn nullable_text(&self, name: &str, length: RangeInclusive<usize>) -> Given<String> {
        match self.nullable(name) {
            Given::Value(field) if field.is_blank() => Given::Null,
            given => given.read(|field| field.text(length)),
        }
    }

    /// Returns true if the member exists.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Adds an error for every member that is not `known`.
    pub fn refuse_unknown(&self, known: &[&str]) {
        let rule = FieldRule::unknown_key(known);
        for name in self.members.keys().filter(|name| !known.contains(&name.as_str())) {
            self.errors.add(self.path.of(name), rule.clone());
        }
    }

    /// All members in the client's order.
    pub fn each(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        let (path, errors) = (self.path, self.errors);
        self.members
            .iter()
            .map(move |(name, value)| (name.as_str(), Field::new(value, path.of(name), errors)))
    }

    /// Adds an error of the member `name`.
    pub fn refuse(&self, name: &str, rule: FieldRule) {
        self.errors.add(self.path.of(name), rule);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::http::kit::field_errors::FieldErrors;

    fn read<T>(body: &Value, read: impl FnOnce(&Fields<'_>) -> T) -> (T, FieldErrors) {
        let errors = Errors::default();
        let result = read(&Fields::new(body.as_object().unwrap(), "", &errors));
        (result, errors.into_inner())
    }

    /// Contract 1.2: null and empty strings of fields marked `?`.
    #[rstest]
    #[case(json!({}), Given::Absent, None)]
    #[case(json!({"x": null}), Given::Null, None)]
    #[case(json!({"x": ""}), Given::Null, None)]
    #[case(json!({"x": " \t"}), Given::Null, None)]
    #[case(json!({"x": " a "}), Given::Value("a"), None)]
    #[case(json!({"x": "abcdef"}), Given::Absent, Some(FieldRule::MaxLength(5)))]
    #[case(json!({"x": false}), Given::Absent, Some(FieldRule::String))]
    fn a_nullable_string_is_cleared_by_null_and_by_blanks(
        #[case] body: Value,
        #[case] expected: Given<&str>,
        #[case] error: Option<FieldRule>,
    ) {
        let (given, errors) = read(&body, |fields| fields.nullable_text("x", 1..=5));
        assert_eq!(given, expected.read(|text| Some(text.to_owned())));
        assert_eq!(errors, error.map_or_else(FieldErrors::default, |rule| FieldErrors::of("x", rule)));
    }

    #[rstest]
    #[case(Given::Absent, Some(1))]
    #[case(Given::Null, None)]
    #[case(Given::Value(2), Some(2))]
    fn what_is_not_sent_stays(#[case] given: Given<u8>, #[case] result: Option<u8>) {
        assert_eq!(given.or_stored(Some(1)), result);
    }

    #[test]
    fn entries_and_members_are_named_by_their_path() {
        let body = json!({"config": {"conditions": [{"field": 7}, 3], "odd": 1}});
        let ((), errors) = read(&body, |fields| {
            let config = fields.optional("config").unwrap();
            let config = config.object().unwrap();
            config.refuse_unknown(&["conditions"]);
            for entry in config.optional("conditions").unwrap().list(2).unwrap() {
                let _ = entry.object().and_then(|entry| entry.required("field")?.text(1..=5));
            }
        });
        let paths: Vec<_> = errors.iter().map(|(path, rule)| format!("{path}: {rule}")).collect();
        assert_eq!(
            paths,
            [
                "config.odd: Unknown field.",
                "config.conditions.0.field: This value must be a string.",
                "config.conditions.1: This value must be an object.",
            ]
        );
    }
}
