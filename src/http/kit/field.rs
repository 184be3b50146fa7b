//! One JSON value with its path, read as text, number, word, timestamp, list or object (contract, "rule shorthand").
//!
//! A failed read adds one error under the value's path and yields `None`. Texts are trimmed and counted as in the shorthand
//! `str(a..b)`, whole numbers are read as in `int(a..b)`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use serde_json::{Map, Number, Value};

use crate::clock::Timestamp;
use crate::http::kit::field_errors::ErrorCollector;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::timestamp;

/// The members of an empty object, for an empty list that counts as one.
static NO_MEMBERS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// A value and its path.
#[derive(Clone, Debug)]
pub struct BodyField<'a> {
    value: &'a Value,
    path: String,
    errors: &'a ErrorCollector,
}

impl<'a> BodyField<'a> {
    /// Creates a field with this value and path.
    #[must_use]
    pub fn new(value: &'a Value, path: impl Into<String>, errors: &'a ErrorCollector) -> Self {
        Self { value, path: path.into(), errors }
    }

    /// Returns the value, unparsed.
    #[must_use]
    pub const fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the path of the value.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Adds an error, because the value breaks `rule`.
    pub fn refuse<T>(&self, rule: FieldRule) -> Option<T> {
        self.errors.add(self.path.as_str(), rule);
        None
    }

    /// Returns true for a string that is empty or white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.value.as_str().is_some_and(|text| text.trim().is_empty())
    }

    /// Reads a string without trimming it.
    #[must_use]
    pub fn string(&self) -> Option<&'a str> {
        match self.value {
            Value::String(text) => Some(text),
            Value::Null => self.refuse(FieldRule::NotNull),
            _ => self.refuse(FieldRule::String),
        }
    }

    /// Reads a string and trims it. `length` is counted in Unicode scalar values.
    #[must_use]
    pub fn text(&self, length: RangeInclusive<usize>) -> Option<String> {
        let text = self.string()?.trim();
        if text.contains('\0') {
            // PostgreSQL cannot store this character.
            return self.refuse(FieldRule::NoNul);
        }
        self.check_length(text, &length)?;
        Some(text.to_owned())
    }

    /// Checks the length of a text that was read from this field.
    #[must_use]
    pub fn check_length(&self, text: &str, length: &RangeInclusive<usize>) -> Option<()> {
        let characters = text.chars().count();
        if characters < *length.start() {
            self.refuse(FieldRule::MinLength(*length.start()))
        } else if characters > *length.end() {
            self.refuse(FieldRule::MaxLength(*length.end()))
        } else {
            Some(())
        }
    }

    /// Reads a whole number within these bounds; `60.0` counts as a whole number.
    #[must_use]
    pub fn integer(&self, bounds: RangeInclusive<i64>) -> Option<i64> {
        let Some(number) = self.value.as_number().and_then(whole) else {
            return self.refuse(FieldRule::Integer);
        };
        if number < *bounds.start() {
            self.refuse(FieldRule::Min(*bounds.start()))
        } else if number > *bounds.end() {
            self.refuse(FieldRule::Max(*bounds.end()))
        } else {
            Some(number)
        }
    }

    /// Reads a boolean; any other value is an error.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.refuse(FieldRule::Boolean))
    }

    /// Reads one of the `allowed` words, case-sensitively.
    #[must_use]
    pub fn word(&self, allowed: &[&str]) -> Option<&'a str> {
        let word = self.string()?;
        if allowed.contains(&word) { Some(word) } else { self.refuse(FieldRule::unknown_word(allowed)) }
    }

    /// Reads a timestamp; any other value is an error.
    #[must_use]
    pub fn timestamp(&self) -> Option<Timestamp> {
        timestamp::parse(self.string()?).or_else(|| self.refuse(FieldRule::Timestamp))
    }

    /// Returns true for an object, and for an empty list, which PHP clients send for an empty object (contract 1.2).
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.members().is_some()
    }

    /// Returns the collection to which errors are added.
    pub(in crate::http) const fn errors(&self) -> &'a ErrorCollector {
        self.errors
    }

    /// Returns the members of an object, or no members for an empty list.
    pub(super) fn members(&self) -> Option<&'a Map<String, Value>> {
        match self.value {
            Value::Object(members) => Some(members),
            Value::Array(entries) if entries.is_empty() => Some(&NO_MEMBERS),
            _ => None,
        }
    }

    /// Reads a list with at most `most` entries.
    #[must_use]
    pub fn list(&self, most: usize) -> Option<Vec<Self>> {
        let Value::Array(values) = self.value else {
            return self.refuse(FieldRule::List);
        };
        if values.len() > most {
            return self.refuse(FieldRule::MaxItems(most));
        }
        let entry = |(at, value)| BodyField::new(value, format!("{}.{at}", self.path), self.errors);
        Some(values.iter().enumerate().map(entry).collect())
    }
}

/// Returns the number if its fraction is zero. A number beyond 64 bits becomes the nearest limit, which every bound refuses.
fn whole(number: &Number) -> Option<i64> {
    if let Some(number) = number.as_i64() {
        return Some(number);
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
    let saturated = if number < 0.0 { i64::MIN } else { i64::MAX };
    Some(format!("{number:.0}").parse().unwrap_or(saturated))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::http::kit::field_errors::FieldErrors;
    use crate::http::kit::fields::BodyFields;

    /// Reads the member `x` of a body.
    fn read<T>(body: &Value, read: impl FnOnce(&BodyFields<'_>) -> T) -> (T, FieldErrors) {
        let errors = ErrorCollector::default();
        let result = read(&BodyFields::new(body.as_object().unwrap(), "", &errors));
        (result, errors.into_inner())
    }

    fn expect<T: std::fmt::Debug + PartialEq>(
        (value, errors): (Option<T>, FieldErrors),
        expected: Result<T, FieldRule>,
    ) {
        match expected {
            Ok(expected) => assert_eq!((value, errors), (Some(expected), FieldErrors::default())),
            Err(rule) => assert_eq!((value, errors), (None, FieldErrors::of("x", rule))),
        }
    }

    /// Contract, rule shorthand: `str(1..5) req`.
    #[rstest]
    #[case(json!({"x": "ab"}), Ok("ab"))]
    #[case(json!({"x": " a b "}), Ok("a b"))]
    #[case(json!({"x": "äöü😀e"}), Ok("äöü😀e"))]
    #[case(json!({"x": "\u{a0}a\n"}), Ok("a"))]
    #[case(json!({"x": "äöü😀ef"}), Err(FieldRule::MaxLength(5)))]
    #[case(json!({"x": ""}), Err(FieldRule::MinLength(1)))]
    #[case(json!({"x": "   "}), Err(FieldRule::MinLength(1)))]
    #[case(json!({"x": "a\u{0}"}), Err(FieldRule::NoNul))]
    #[case(json!({"x": 5}), Err(FieldRule::String))]
    #[case(json!({"x": ["a"]}), Err(FieldRule::String))]
    #[case(json!({"x": null}), Err(FieldRule::NotNull))]
    #[case(json!({}), Err(FieldRule::Required))]
    fn a_required_string_is_trimmed_and_measured(
        #[case] body: Value,
        #[case] expected: Result<&str, FieldRule>,
    ) {
        let result = read(&body, |fields| fields.required("x").and_then(|field| field.text(1..=5)));
        expect(result, expected.map(str::to_owned));
    }

    /// Contract, rule shorthand: `int(1..60)`.
    #[rstest]
    #[case(json!(60), Ok(60))]
    #[case(json!(60.0), Ok(60))]
    #[case(json!(1), Ok(1))]
    #[case(json!(0), Err(FieldRule::Min(1)))]
    #[case(json!(61), Err(FieldRule::Max(60)))]
    #[case(json!(-5.0), Err(FieldRule::Min(1)))]
    #[case(json!(1e300), Err(FieldRule::Max(60)))]
    #[case(json!(-1e300), Err(FieldRule::Min(1)))]
    #[case(json!(u64::MAX), Err(FieldRule::Max(60)))]
    #[case(json!(60.5), Err(FieldRule::Integer))]
    #[case(json!("60"), Err(FieldRule::Integer))]
    #[case(json!(true), Err(FieldRule::Integer))]
    #[case(json!(null), Err(FieldRule::NotNull))]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero(
        #[case] value: Value,
        #[case] expected: Result<i64, FieldRule>,
    ) {
        let body = json!({ "x": value });
        expect(read(&body, |fields| fields.optional("x").and_then(|field| field.integer(1..=60))), expected);
    }

    /// Contract, rule shorthand: `bool`.
    #[rstest]
    #[case(json!(true), Ok(true))]
    #[case(json!(false), Ok(false))]
    #[case(json!("true"), Err(FieldRule::Boolean))]
    #[case(json!(1), Err(FieldRule::Boolean))]
    fn a_boolean_is_true_or_false_only(#[case] value: Value, #[case] expected: Result<bool, FieldRule>) {
        let body = json!({ "x": value });
        expect(read(&body, |fields| fields.optional("x").and_then(|field| field.boolean())), expected);
    }

    #[rstest]
    #[case(json!("up"), Ok("up"))]
    #[case(json!("UP"), Err(FieldRule::Enum("up, down".into())))]
    #[case(json!(" up"), Err(FieldRule::Enum("up, down".into())))]
    #[case(json!(""), Err(FieldRule::Enum("up, down".into())))]
    #[case(json!(1), Err(FieldRule::String))]
    fn a_word_must_be_allowed(#[case] value: Value, #[case] expected: Result<&str, FieldRule>) {
        let body = json!({ "x": value });
        let word = |field: BodyField<'_>| field.word(&["up", "down"]).map(str::to_owned);
        expect(read(&body, |fields| fields.optional("x").and_then(word)), expected.map(str::to_owned));
    }

    #[rstest]
    #[case(json!("2026-11-20"), Ok(Timestamp::from_ms(1_795_132_800_000)))]
    #[case(json!("soon"), Err(FieldRule::Timestamp))]
    #[case(json!(1_795_132_800), Err(FieldRule::String))]
    fn a_time_must_be_a_timestamp(#[case] value: Value, #[case] expected: Result<Timestamp, FieldRule>) {
        let body = json!({ "x": value });
        expect(read(&body, |fields| fields.optional("x").and_then(|field| field.timestamp())), expected);
    }

    /// Contract 1.2: an empty list counts as an empty object.
    #[rstest]
    #[case(json!({"a": 1}), Ok(1))]
    #[case(json!({}), Ok(0))]
    #[case(json!([]), Ok(0))]
    #[case(json!([[]]), Err(FieldRule::Object))]
    #[case(json!(""), Err(FieldRule::Object))]
    fn an_empty_list_is_an_empty_object(#[case] value: Value, #[case] expected: Result<usize, FieldRule>) {
        let body = json!({ "x": value });
        let count = |field: BodyField<'_>| field.object().map(|members| members.each().count());
        expect(read(&body, |fields| fields.optional("x").and_then(count)), expected);
    }

    #[rstest]
    #[case(json!([1, 2]), Ok(2))]
    #[case(json!([]), Ok(0))]
    #[case(json!([1, 2, 3]), Err(FieldRule::MaxItems(2)))]
    #[case(json!({}), Err(FieldRule::List))]
    #[case(json!("a"), Err(FieldRule::List))]
    fn a_list_has_a_maximum_length(#[case] value: Value, #[case] expected: Result<usize, FieldRule>) {
        let body = json!({ "x": value });
        let count = |field: BodyField<'_>| field.list(2).map(|entries| entries.len());
        expect(read(&body, |fields| fields.optional("x").and_then(count)), expected);
    }
}
