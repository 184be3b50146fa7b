//! Typed reading of a JSON object: each value is checked once, and all errors are collected (contract 1.2, 5.3).
//!
//! [`BodyFields`] is an object with its path, a [`BodyField`] one value with its path. A failed read adds one error and
//! yields `None`; the caller checks the [`ErrorCollector`] at the end. This module does not know any resource.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::http::kit::field::BodyField;
use crate::http::kit::rule::FieldRule;

pub use crate::http::kit::field_errors::ErrorCollector;

/// The value that a client sent for a nullable field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPatch<T> {
    /// Missing: the stored value is kept.
    Absent,
    /// Null: the value is cleared.
    Null,
    /// A value other than null.
    Value(T),
}

impl<T> FieldPatch<T> {
    /// Returns the new value of a field whose stored value is `stored`.
    #[must_use]
    pub fn or_stored(self, stored: Option<T>) -> Option<T> {
        match self {
            Self::Absent => stored,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Converts the value. A failed conversion, which must have added an error, counts as absent.
    #[must_use]
    pub fn read<U>(self, read: impl FnOnce(T) -> Option<U>) -> FieldPatch<U> {
        match self {
            Self::Absent => FieldPatch::Absent,
            Self::Null => FieldPatch::Null,
            Self::Value(value) => read(value).map_or(FieldPatch::Absent, FieldPatch::Value),
        }
    }
}

/// The members of an object.
#[derive(Clone, Copy, Debug)]
pub struct BodyFields<'a> {
    members: &'a Map<String, Value>,
    path: FieldPath<'a>,
    errors: &'a ErrorCollector,
}

/// Path of an object; empty for the body itself.
#[derive(Clone, Copy, Debug)]
struct FieldPath<'a>(&'a str);

impl FieldPath<'_> {
    fn of(self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) }
    }
}

impl<'a> BodyField<'a> {
    /// Returns the members, or adds an error if the value is not an object.
    #[must_use]
    pub fn object(&'a self) -> Option<BodyFields<'a>> {
        match self.members() {
            Some(members) => Some(BodyFields::new(members, self.path(), self.errors())),
            None => self.refuse(FieldRule::Object),
        }
    }
}

impl<'a> BodyFields<'a> {
    /// Creates a reader of the members of the object at `path` (`""` for the body itself).
    #[must_use]
    pub const fn new(members: &'a Map<String, Value>, path: &'a str, errors: &'a ErrorCollector) -> Self {
        Self { members, path: FieldPath(path), errors }
    }

    /// Reads a required member.
    #[must_use]
    pub fn required(&self, name: &str) -> Option<BodyField<'a>> {
        if !self.members.contains_key(name) {
            self.errors.add(self.path.of(name), FieldRule::Required);
        }
        self.optional(name)
    }

    /// Reads an optional member that must not be null.
    #[must_use]
    pub fn optional(&self, name: &str) -> Option<BodyField<'a>> {
        match self.nullable(name) {
            FieldPatch::Absent => None,
            FieldPatch::Value(field) => Some(field),
            FieldPatch::Null => {
                self.errors.add(self.path.of(name), FieldRule::NotNull);
                None
            }
        }
    }

    /// Reads an optional member; null counts as missing.
    #[must_use]
    pub fn skippable(&self, name: &str) -> Option<BodyField<'a>> {
        match self.nullable(name) {
            FieldPatch::Value(field) => Some(field),
            FieldPatch::Absent | FieldPatch::Null => None,
        }
    }

    /// Reads a nullable member.
    #[must_use]
    pub fn nullable(&self, name: &str) -> FieldPatch<BodyField<'a>> {
        match self.members.get(name) {
            None => FieldPatch::Absent,
            Some(Value::Null) => FieldPatch::Null,
            Some(value) => FieldPatch::Value(BodyField::new(value, self.path.of(name), self.errors)),
        }
    }

    /// Reads a nullable string; a blank string counts as null.
    #[must_use]
    pub fn nullable_text(&self, name: &str, length: RangeInclusive<usize>) -> FieldPatch<String> {
        match self.nullable(name) {
            FieldPatch::Value(field) if field.is_blank() => FieldPatch::Null,
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

    /// Returns all members in the client's order.
    pub fn each(&self) -> impl Iterator<Item = (&'a str, BodyField<'a>)> {
        let (path, errors) = (self.path, self.errors);
        self.members
            .iter()
            .map(move |(name, value)| (name.as_str(), BodyField::new(value, path.of(name), errors)))
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

    fn read<T>(body: &Value, read: impl FnOnce(&BodyFields<'_>) -> T) -> (T, FieldErrors) {
        let errors = ErrorCollector::default();
        let result = read(&BodyFields::new(body.as_object().unwrap(), "", &errors));
        (result, errors.into_inner())
    }

    /// Contract 1.2: null and empty strings of fields marked `?`.
    #[rstest]
    #[case(json!({}), FieldPatch::Absent, None)]
    #[case(json!({"x": null}), FieldPatch::Null, None)]
    #[case(json!({"x": ""}), FieldPatch::Null, None)]
    #[case(json!({"x": " \t"}), FieldPatch::Null, None)]
    #[case(json!({"x": " a "}), FieldPatch::Value("a"), None)]
    #[case(json!({"x": "abcdef"}), FieldPatch::Absent, Some(FieldRule::MaxLength(5)))]
    #[case(json!({"x": false}), FieldPatch::Absent, Some(FieldRule::String))]
    fn a_nullable_string_is_cleared_by_null_and_by_blanks(
        #[case] body: Value,
        #[case] expected: FieldPatch<&str>,
        #[case] error: Option<FieldRule>,
    ) {
        let (given, errors) = read(&body, |fields| fields.nullable_text("x", 1..=5));
        assert_eq!(given, expected.read(|text| Some(text.to_owned())));
        assert_eq!(errors, error.map_or_else(FieldErrors::default, |rule| FieldErrors::of("x", rule)));
    }

    #[rstest]
    #[case(FieldPatch::Absent, Some(1))]
    #[case(FieldPatch::Null, None)]
    #[case(FieldPatch::Value(2), Some(2))]
    fn an_absent_field_keeps_its_stored_value(#[case] given: FieldPatch<u8>, #[case] result: Option<u8>) {
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
