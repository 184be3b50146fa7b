//! Field errors of a request: each field path with its text (contract 5.3).
//!
//! [`FieldErrors`] keeps the first broken rule of each field, in the order in which fields are read. Readers therefore
//! follow the order of the contract's tables.

use serde_json::{Map, Value, json};
use std::cell::RefCell;

use crate::http::kit::rule::FieldRule;

/// Broken rules by field path, in reading order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(String, FieldRule)>);

impl FieldErrors {
    /// Creates a single error.
    #[must_use]
    pub fn of(path: impl Into<String>, rule: FieldRule) -> Self {
        Self(vec![(path.into(), rule)])
    }

    /// Adds an error of the field at `path`, unless the field has an error already.
    pub fn add(&mut self, path: impl Into<String>, rule: FieldRule) {
        let path = path.into();
        if self.0.iter().all(|(known, _)| *known != path) {
            self.0.push((path, rule));
        }
    }

    /// Adds the errors of another reader, except for fields that have an error already.
    pub fn extend(&mut self, other: Self) {
        for (path, rule) in other.0 {
            self.add(path, rule);
        }
    }

    /// Returns the errors of a strict request: the errors of its reader, and the parts that are `refused` only because the
    /// request is strict. For the same path the reader's error is kept, since it takes the rest of the request and the
    /// stored data into account.
    #[must_use]
    pub fn merge_strict(self, refused: Self) -> Self {
        let mut all = refused;
        for (path, rule) in self.0 {
            let rule = rule.into_strict();
            match all.0.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known_rule)) => *known_rule = rule,
                None => all.0.push((path, rule)),
            }
        }
        all
    }

    /// Sorts the errors of one list by the index of their entries, because form and existence of the entries are checked
    /// separately.
    #[must_use]
    pub fn sorted_by_index(mut self) -> Self {
        let index = |path: &str| path.rsplit('.').next().and_then(|index| index.parse::<usize>().ok());
        self.0.sort_by_key(|(path, _)| index(path));
        self
    }

    /// Returns the number of fields with errors.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no errors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `value` if there are no errors.
    ///
    /// # Errors
    ///
    /// The collected errors, if there are any.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Returns field paths and broken rules, in reading order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldRule)> {
        self.0.iter().map(|(path, rule)| (path.as_str(), rule))
    }

    /// Returns the text of the first error, and the number of further errors.
    #[must_use]
    pub fn message(&self) -> String {
        let first = self.0.first().map(|(_, rule)| rule.to_string()).unwrap_or_default();
        match self.0.len() {
            0 | 1 => first,
            2 => format!("{first} (and 1 more error)"),
            count => format!("{first} (and {} more errors)", count - 1),
        }
    }

    /// Returns the `errors` object of a 422 body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let texts = self.0.iter().map(|(path, rule)| (path.clone(), json!([rule.to_string()])));
        Value::Object(texts.collect::<Map<_, _>>())
    }
}

/// Collects errors of a request while its fields are read.
#[derive(Debug, Default)]
pub struct ErrorCollector(RefCell<FieldErrors>);

impl ErrorCollector {
    /// Adds an error of the field at `path`.
    pub fn add(&self, path: impl Into<String>, rule: FieldRule) {
        self.0.borrow_mut().add(path, rule);
    }

    /// Adds all errors of another reader.
    pub fn extend(&self, other: FieldErrors) {
        self.0.borrow_mut().extend(other);
    }

    /// Returns the errors collected so far.
    #[must_use]
    pub fn into_inner(self) -> FieldErrors {
        self.0.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> FieldErrors {
        let mut errors = FieldErrors::of("tags.2", FieldRule::TagUnknown("Zz93kfjw0dlqpx81mnrt5".into()));
        errors.add("settings.interval_seconds", FieldRule::Min(30));
        errors.add("a", FieldRule::unknown_word(&["gt", "lt"]));
        errors
    }

    /// Contract 5.3: the example.
    #[test]
    fn the_body_lists_texts_by_field_in_reading_order() {
        assert_eq!(
            three().to_json().to_string(),
            r#"{"tags.2":["No tag with the ID or name Zz93kfjw0dlqpx81mnrt5 exists."],"settings.interval_seconds":["The smallest allowed value is 30."],"a":["Unknown value. Allowed: gt, lt."]}"#
        );
    }

    #[test]
    fn the_message_is_the_first_text_and_the_number_of_the_others() {
        let mut errors = FieldErrors::of("name", FieldRule::Required);
        assert_eq!(errors.message(), "This field is required.");
        errors.add("target", FieldRule::Required);
        assert_eq!(errors.message(), "This field is required. (and 1 more error)");
        errors.add("check_type", FieldRule::Required);
        assert_eq!(errors.message(), "This field is required. (and 2 more errors)");
    }

    #[test]
    fn only_the_first_broken_rule_of_a_field_counts() {
        let mut errors = FieldErrors::of("name", FieldRule::Required);
        errors.add("name", FieldRule::String);
        errors.extend(FieldErrors::of("name", FieldRule::NotNull));
        assert_eq!(errors, FieldErrors::of("name", FieldRule::Required));
    }

    #[test]
    fn a_value_passes_only_without_errors() {
        assert_eq!(FieldErrors::default().into_result(7), Ok(7));
        assert_eq!(three().into_result(7), Err(three()));
    }
}
