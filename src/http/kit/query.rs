//! Query strings (contract 1.7, specification 4.9): the values of parameters, and the original order for links.
//!
//! A [`QueryString`] is parsed once. Unknown parameters are kept for links and otherwise ignored. The meaning of an empty
//! value depends on the parameter, so readers can distinguish an empty value from a missing one.

use std::collections::HashSet;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};

use crate::clock::Timestamp;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::timestamp;

/// All characters except RFC 3986's unreserved ones.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parameters of one request, in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryString {
    parameters: Vec<QueryPair>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryPair {
    /// Decoded name, without brackets.
    name: String,
    /// True if the name ended in `[]` or `[N]`.
    bracketed: bool,
    /// Decoded value of the parameter.
    value: String,
    /// `name=value`, percent-encoded again for links.
    encoded: String,
}

/// The values sent for one name. If plain and bracketed forms are mixed, the form that occurs last counts.
enum SentValues<'a> {
    Plain(&'a str),
    Bracketed(Vec<&'a str>),
}

/// An item of a list parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListItem<'a> {
    /// Position in the list without empty items, from 0: the N in the keys of errors.
    pub position: usize,
    /// Text of the item, trimmed.
    pub text: &'a str,
}

impl ListItem<'_> {
    /// Returns the key of this item in errors.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        format!("{name}.{}", self.position)
    }
}

impl QueryString {
    /// Parses the part of a request target after the `?`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self { parameters: pairs.map(QueryPair::parse).collect() }
    }

    /// Returns true if the parameter was sent, in any form.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// Returns the names of all parameters in order, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// Returns the value of a single-value parameter, trimmed; `""` if it was sent empty. The bracketed form adds an error.
    pub fn single<'a>(&'a self, name: &str, errors: &mut FieldErrors) -> Option<&'a str> {
        match self.sent(name)? {
            SentValues::Plain(value) => Some(value.trim()),
            SentValues::Bracketed(_) => {
                errors.add(name, FieldRule::SingleValue);
                None
            }
        }
    }

    /// As [`QueryString::single`], for filters: an empty value counts as missing.
    pub fn narrowing_value<'a>(&'a self, name: &str, errors: &mut FieldErrors) -> Option<&'a str> {
        self.single(name, errors).filter(|value| !value.is_empty())
    }

    /// Returns the plain value, trimmed, for parameters that are never refused.
    #[must_use]
    pub fn plain_value(&self, name: &str) -> Option<&str> {
        match self.sent(name)? {
            SentValues::Plain(value) => Some(value.trim()),
            SentValues::Bracketed(_) => None,
        }
    }

    /// Returns the items of a list parameter, trimmed, without empty items and repetitions. An empty list if the parameter
    /// was sent empty; `None` if it was not sent.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<Vec<ListItem<'_>>> {
        let values = match self.sent(name)? {
            SentValues::Plain(value) => vec![value],
            SentValues::Bracketed(values) => values,
        };
        let texts = values.into_iter().flat_map(|value| value.split(',')).map(str::trim);
        let mut items: Vec<ListItem<'_>> = Vec::new();
        let mut seen = HashSet::new();
        for (position, text) in texts.filter(|text| !text.is_empty()).enumerate() {
            if seen.insert(text) {
                items.push(ListItem { position, text });
            }
        }
        Some(items)
    }

    /// Reads a filter with a list of words, and adds an error for each word that is not allowed. Empty if it was not sent.
    pub fn words<T: FromStr>(&self, name: &str, allowed: &[&str], errors: &mut FieldErrors) -> Vec<T> {
        let mut words = Vec::new();
        for item in self.list(name).into_iter().flatten() {
            match item.text.parse() {
                Ok(word) => words.push(word),
                Err(_) => errors.add(item.path(name), FieldRule::unknown_word(allowed)),
            }
        }
        words
    }

    /// Reads a filter with a boolean: `true`, `false`, `1` or `0`, in any case.
    pub fn boolean(&self, name: &str, errors: &mut FieldErrors) -> Option<bool> {
        let value = self.narrowing_value(name, errors)?;
        let read = read_boolean(value);
        if read.is_none() {
            errors.add(name, FieldRule::BooleanQuery);
        }
        read
    }

    /// Returns true if the parameter is true. Values that are no boolean are refused by [`QueryString::boolean`].
    #[must_use]
    pub fn is_true(&self, name: &str) -> bool {
        self.plain_value(name).and_then(read_boolean) == Some(true)
    }

    /// Reads a filter with a timestamp.
    pub fn timestamp(&self, name: &str, errors: &mut FieldErrors) -> Option<Timestamp> {
        let value = self.narrowing_value(name, errors)?;
        let read = timestamp::parse_query(value);
        if read.is_none() {
            errors.add(name, FieldRule::Timestamp);
        }
        read
    }

    /// Reads the filters `from` and `to`. Adds an error if `to` is not later than `from`.
    pub fn period(&self, errors: &mut FieldErrors) -> (Option<Timestamp>, Option<Timestamp>) {
        let (from, to) = (self.timestamp("from", errors), self.timestamp("to", errors));
        if let (Some(from), Some(to)) = (from, to)
            && to <= from
        {
            errors.add("to", FieldRule::After("from"));
        }
        (from, to)
    }

    /// Returns the parameters except `left_out`, in their original order, percent-encoded again and each followed by `&`.
    #[must_use]
    pub fn encoded_without(&self, left_out: &str) -> String {
        let remaining = self.parameters.iter().filter(|parameter| !parameter.is_plain(left_out));
        remaining.flat_map(|parameter| [parameter.encoded.as_str(), "&"]).collect()
    }

    fn sent(&self, name: &str) -> Option<SentValues<'_>> {
        let all = || self.parameters.iter().filter(|parameter| parameter.name == name);
        let last = all().next_back()?;
        if last.bracketed {
            let bracketed = all().filter(|parameter| parameter.bracketed);
            Some(SentValues::Bracketed(bracketed.map(|parameter| parameter.value.as_str()).collect()))
        } else {
            Some(SentValues::Plain(&last.value))
        }
    }
}

impl QueryPair {
    fn parse(pair: &str) -> Self {
        let (raw_name, raw_value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(raw_name), decode(raw_value));
        let encoded = format!("{}={}", percent_encode(&name, ENCODED), percent_encode(&value, ENCODED));
        let name = String::from_utf8_lossy(&name).into_owned();
        let bare = without_brackets(&name).map(str::to_owned);
        Self {
            bracketed: bare.is_some(),
            name: bare.unwrap_or(name),
            value: String::from_utf8_lossy(&value).into_owned(),
            encoded,
        }
    }

    fn is_plain(&self, name: &str) -> bool {
        !self.bracketed && self.name == name
    }
}

/// Returns the name without the brackets of `name[]` or `name[7]`; `None` if there are no brackets.
fn without_brackets(name: &str) -> Option<&str> {
    let (bare, index) = name.strip_suffix(']')?.split_once('[')?;
    (!bare.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())).then_some(bare)
}

fn decode(text: &str) -> Vec<u8> {
    percent_decode(text.replace('+', " ").as_bytes()).collect()
}

fn read_boolean(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Percent-encodes one value for a link.
#[must_use]
pub fn encode(value: &str) -> String {
    percent_encode(value.as_bytes(), ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn items(query: &str, name: &str) -> Option<Vec<(usize, String)>> {
        let query = QueryString::parse(query);
        let items = query.list(name)?.into_iter();
        Some(items.map(|item| (item.position, item.text.to_owned())).collect())
    }

    /// Contract 1.7: several values, repeated plain parameters, empty parameters.
    #[rstest]
    #[case("", None)]
    #[case("other=a", None)]
    #[case("ids=a,b", Some(vec![(0, "a"), (1, "b")]))]
    #[case("ids[]=a&ids[]=b", Some(vec![(0, "a"), (1, "b")]))]
    #[case("ids%5B%5D=a&ids%5b%5d=b", Some(vec![(0, "a"), (1, "b")]))]
    #[case("ids[0]=a&ids[1]=b", Some(vec![(0, "a"), (1, "b")]))]
    #[case("ids[]=a,b&ids[]=c", Some(vec![(0, "a"), (1, "b"), (2, "c")]))]
    #[case("ids=a&ids=b", Some(vec![(0, "b")]))]
    #[case("ids=a&ids[]=b&ids[]=c", Some(vec![(0, "b"), (1, "c")]))]
    #[case("ids[]=b&ids=a", Some(vec![(0, "a")]))]
    #[case("ids[]=b&ids=a&ids[]=c", Some(vec![(0, "b"), (1, "c")]))]
    #[case("ids=%20a%20,+b", Some(vec![(0, "a"), (1, "b")]))]
    #[case("ids=a,,b,a,c", Some(vec![(0, "a"), (1, "b"), (3, "c")]))]
    #[case("ids=", Some(vec![]))]
    #[case("ids", Some(vec![]))]
    #[case("ids[]=", Some(vec![]))]
    #[case("ids=,", Some(vec![]))]
    #[case("ids=a&ids=", Some(vec![]))]
    #[case("ids[x]=a", None)]
    #[case("IDS=a", None)]
    #[case("ids=a%2Cb", Some(vec![(0, "a"), (1, "b")]))]
    fn a_list_has_these_items(#[case] query: &str, #[case] expected: Option<Vec<(usize, &str)>>) {
        let expected =
            expected.map(|items| items.into_iter().map(|(at, item)| (at, item.to_owned())).collect());
        assert_eq!(items(query, "ids"), expected);
    }

    /// Contract 1.7: single values.
    #[rstest]
    #[case("tag=env%3Aprod", Some("env:prod"), None)]
    #[case("tag=a&tag=b", Some("b"), None)]
    #[case("tag=+a+", Some("a"), None)]
    #[case("tag=", Some(""), None)]
    #[case("tag[]=a", None, Some(FieldRule::SingleValue))]
    #[case("tag[0]=a", None, Some(FieldRule::SingleValue))]
    #[case("tag[]=a&tag=b", Some("b"), None)]
    #[case("tag=b&tag[]=a", None, Some(FieldRule::SingleValue))]
    #[case("tag=a=b", Some("a=b"), None)]
    #[case("tag=%ff", Some("\u{fffd}"), None)]
    #[case("tag=%zz%4", Some("%zz%4"), None)]
    #[case("label=a", None, None)]
    fn a_single_value_is_the_last_plain_one(
        #[case] query: &str,
        #[case] value: Option<&str>,
        #[case] error: Option<FieldRule>,
    ) {
        let mut errors = FieldErrors::default();
        assert_eq!(QueryString::parse(query).single("tag", &mut errors), value);
        assert_eq!(errors, error.map_or_else(FieldErrors::default, |rule| FieldErrors::of("tag", rule)));
    }

    /// Contract 1.7: booleans.
    #[rstest]
    #[case("flag=true", Some(true), None)]
    #[case("flag=TRUE", Some(true), None)]
    #[case("flag=1", Some(true), None)]
    #[case("flag=False", Some(false), None)]
    #[case("flag=0", Some(false), None)]
    #[case("flag=", None, None)]
    #[case("", None, None)]
    #[case("flag=yes", None, Some(FieldRule::BooleanQuery))]
    #[case("flag=01", None, Some(FieldRule::BooleanQuery))]
    #[case("flag[]=1", None, Some(FieldRule::SingleValue))]
    fn a_boolean_is_a_word_or_a_digit(
        #[case] query: &str,
        #[case] value: Option<bool>,
        #[case] error: Option<FieldRule>,
    ) {
        let mut errors = FieldErrors::default();
        let query = QueryString::parse(query);
        assert_eq!(query.boolean("flag", &mut errors), value);
        assert_eq!(query.is_true("flag"), value == Some(true));
        assert_eq!(errors, error.map_or_else(FieldErrors::default, |rule| FieldErrors::of("flag", rule)));
    }

    /// Contract 1.6, 1.7: periods.
    #[rstest]
    #[case("from=2026-11-20&to=2026-11-21", None)]
    #[case("from=&to=", None)]
    #[case("to=2026-11-21", None)]
    #[case("from=2026-11-20T00:00:00+01:00&to=2026-11-20", None)]
    #[case("from=2026-11-20&to=2026-11-20", Some(("to", FieldRule::After("from"))))]
    #[case("from=2026-11-21&to=2026-11-20", Some(("to", FieldRule::After("from"))))]
    #[case("from=soon&to=2026-11-20", Some(("from", FieldRule::Timestamp)))]
    #[case("from[]=2026-11-19&to=2026-11-20", Some(("from", FieldRule::SingleValue)))]
    fn a_period_ends_after_its_start(#[case] query: &str, #[case] error: Option<(&str, FieldRule)>) {
        let mut errors = FieldErrors::default();
        QueryString::parse(query).period(&mut errors);
        let expected = error.map_or_else(FieldErrors::default, |(path, rule)| FieldErrors::of(path, rule));
        assert_eq!(errors, expected);
    }

    /// Contract 1.4: the format of links.
    #[rstest]
    #[case("", "")]
    #[case("tag=env%3Aprod&per_page=25&page=2", "tag=env%3Aprod&per_page=25&")]
    #[case("b=1&page=2&a=2&page=3&b=1", "b=1&a=2&b=1&")]
    #[case("service_ids[]=a&service_ids%5b%5d=b", "service_ids%5B%5D=a&service_ids%5B%5D=b&")]
    #[case("q=a+b%20c", "q=a%20b%20c&")]
    #[case("q=~a-b_c.d*e", "q=~a-b_c.d%2Ae&")]
    #[case("q=%FF", "q=%FF&")]
    #[case("q=ü", "q=%C3%BC&")]
    #[case("&&flag&", "flag=&")]
    fn links_keep_every_other_parameter_in_order(#[case] query: &str, #[case] remaining: &str) {
        assert_eq!(QueryString::parse(query).encoded_without("page"), remaining);
    }

    proptest! {
        #[test]
        fn comma_and_bracket_form_mean_the_same(values in prop::collection::vec("[a-z0-9 ]{0,4}", 1..6)) {
            let comma = format!("ids={}", values.iter().map(|v| encode(v)).collect::<Vec<_>>().join(","));
            let bracket = values.iter().map(|v| format!("ids[]={}", encode(v))).collect::<Vec<_>>().join("&");
            prop_assert_eq!(items(&comma, "ids"), items(&bracket, "ids"));
        }

        #[test]
        fn list_items_are_trimmed_distinct_and_not_empty(query in "(ids(\\[[0-9]?\\])?=[a-c, +]{0,6}&?){0,4}") {
            let items = items(&query, "ids").unwrap_or_default();
            let texts: HashSet<_> = items.iter().map(|(_, text)| text).collect();
            prop_assert_eq!(texts.len(), items.len());
            prop_assert!(items.iter().all(|(_, text)| !text.is_empty() && text.trim() == text));
            prop_assert!(items.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }

        #[test]
        fn a_link_parses_back_to_the_same_parameters(query in "\\PC{0,60}") {
            let parsed = QueryString::parse(&query);
            let again = QueryString::parse(&parsed.encoded_without(""));
            let without_nameless = parsed.parameters.into_iter().filter(|parameter| !parameter.is_plain(""));
            prop_assert_eq!(again.parameters, without_nameless.collect::<Vec<_>>());
        }
    }
}
