//! Reads a query as a person types it.
//!
//! Nothing is refused. What cannot be read is left out or searched as text, a filter of which no value is known finds nothing,
//! and each time there is a remark that says so.

use std::str::FromStr;

use crate::fleet_view::query::{
    DURATION_UNITS, FilterCondition, FleetFilter, FleetQuery, FleetSort, ServiceMark, SortField, TextFilter,
    TextPlace, UnknownFilter,
};
use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;
use crate::model::tag::is_key;

/// Maximum number of characters of a query; what follows is left out.
pub const QUERY_MAX_LENGTH: usize = 500;
/// Maximum number of filters of a query; further ones are left out.
pub const FILTERS_MAX: usize = 32;

/// A query as it was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The query.
    pub query: FleetQuery,
    /// Remarks about parts that were not understood, in their order.
    pub remarks: Vec<QueryRemark>,
}

/// A remark about a part of a query that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRemark {
    /// The part, as the person wrote it, without quotes.
    pub part: String,
    /// The problem with it.
    pub problem: QueryProblem,
}

/// The problem with a part of a query, and what was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryProblem {
    /// There is no such key: the part was searched as text.
    UnknownKey,
    /// The key has no such value; a filter without another value finds nothing. The permitted words, if there are few.
    UnknownValue(&'static [&'static str]),
    /// The part was searched as text, but is the word of a status as well.
    StatusWord,
    /// The key has no value: the part was left out.
    MissingValue,
    /// The query is too long, or has too many filters: the part was left out.
    TooLong,
}

/// A character of a query; quoted characters separate nothing.
#[derive(Clone, Copy, Debug)]
struct QueryLetter {
    letter: char,
    is_quoted: bool,
}

/// A word with a key and an operator, such as `status:down`.
struct KeyedWord<'a> {
    key: String,
    operator: char,
    value: &'a [QueryLetter],
}

/// Reads a query.
#[must_use]
pub fn parse(text: &str) -> ParsedQuery {
    let mut parsed = ParsedQuery::default();
    let shortened: String = text.chars().take(QUERY_MAX_LENGTH).collect();
    if shortened.len() < text.len() {
        parsed.remark(text[shortened.len()..].trim().to_owned(), QueryProblem::TooLong);
    }
    for word in words(&shortened) {
        parsed.add_word(&word);
    }
    parsed
}

impl ParsedQuery {
    fn remark(&mut self, part: String, problem: QueryProblem) {
        self.remarks.push(QueryRemark { part, problem });
    }

    fn add_word(&mut self, whole: &[QueryLetter]) {
        let is_negated = whole.len() > 1 && whole[0].letter == '-' && !whole[0].is_quoted;
        let word = &whole[usize::from(is_negated)..];
        let Some(keyed) = keyed(word) else {
            let is_plain = word.iter().all(|letter| !letter.is_quoted);
            if is_plain && parse_word::<ServiceStatus>(&plain(word)).is_some() {
                self.remark(plain(word), QueryProblem::StatusWord);
            }
            return self.add_text(is_negated, TextPlace::Anywhere, word);
        };
        let is_known = self.add_keyed(is_negated, &keyed, whole);
        if !is_known {
            self.remark(plain(whole), QueryProblem::UnknownKey);
            self.add_text(is_negated, TextPlace::Anywhere, word);
        }
    }

    /// Adds a word with a key; returns false if there is no such key.
    fn add_keyed(&mut self, is_negated: bool, keyed: &KeyedWord<'_>, whole: &[QueryLetter]) -> bool {
        let KeyedWord { key, operator, value } = keyed;
        let is_known = match (key.as_str(), *operator) {
            ("status" | "tag" | "type" | "in" | "is" | "has", ':') => true,
            ("sort" | "group", ':') => !is_negated,
            ("name" | "target", '~') | ("since" | "uptime", '<' | '>') => true,
            _ => false,
        };
        if !is_known {
            return false;
        }
        if plain(value).trim().is_empty() {
            self.remark(plain(whole), QueryProblem::MissingValue);
            return true;
        }
        let remarks = self.remarks.len();
        let condition = match (key.as_str(), *operator) {
            ("status", _) => {
                self.values(value, ServiceStatus::WORDS, parse_word).map(FilterCondition::Status)
            }
            ("type", _) => self.values(value, CheckType::WORDS, parse_word).map(FilterCondition::CheckType),
            ("is", _) => self.values(value, ServiceMark::WORDS, parse_word).map(FilterCondition::Mark),
            ("tag", _) => self.values(value, &[], |label| label.parse().ok()).map(FilterCondition::Tag),
            ("in", _) => {
                self.values(value, &[], |code| Some(code.to_lowercase())).map(FilterCondition::Location)
            }
            ("has", _) => self
                .values(value, &["incident"], |word| word.eq_ignore_ascii_case("incident").then_some(()))
                .map(|_| FilterCondition::OpenIncident),
            ("since", '>') => self.one_value(value, &[], parse_duration).map(FilterCondition::LongerThan),
            ("since", _) => self.one_value(value, &[], parse_duration).map(FilterCondition::ShorterThan),
            ("uptime", '>') => self.one_value(value, &[], parse_percent).map(FilterCondition::UptimeAbove),
            ("uptime", _) => self.one_value(value, &[], parse_percent).map(FilterCondition::UptimeBelow),
            ("name", _) => return self.add_found_text(is_negated, TextPlace::Name, value),
            ("target", _) => return self.add_found_text(is_negated, TextPlace::Target, value),
            ("sort", _) => {
                self.query.sort =
                    self.one_value(value, SortField::WORDS, parse_sort).unwrap_or(self.query.sort);
                None
            }
            _ => {
                self.query.group =
                    self.one_value(value, &[], parse_group).or_else(|| self.query.group.take());
                None
            }
        };
        let is_filter = !matches!(key.as_str(), "sort" | "group");
        let unknown = (is_filter && self.remarks.len() > remarks).then(|| {
            FilterCondition::Unknown(UnknownFilter {
                key: key.clone(),
                operator: *operator,
                value: plain(value),
            })
        });
        if let Some(condition) = condition.or(unknown) {
            self.add_filter(FleetFilter { is_negated, condition });
        }
        true
    }

    fn add_found_text(&mut self, is_negated: bool, place: TextPlace, value: &[QueryLetter]) -> bool {
        self.add_text(is_negated, place, value);
        true
    }

    fn add_text(&mut self, is_negated: bool, place: TextPlace, word: &[QueryLetter]) {
        let text = plain(word);
        if !text.is_empty() {
            let condition = FilterCondition::Text(TextFilter { place, text });
            self.add_filter(FleetFilter { is_negated, condition });
        }
    }

    fn add_filter(&mut self, filter: FleetFilter) {
        if self.query.filters.contains(&filter) {
            return;
        }
        if self.query.filters.len() < FILTERS_MAX {
            self.query.filters.push(filter);
        } else {
            self.remark(filter.to_string(), QueryProblem::TooLong);
        }
    }

    /// Reads values that are separated by commas; `None` if none of them can be read. There is a remark for each that cannot.
    fn values<T: PartialEq>(
        &mut self,
        value: &[QueryLetter],
        allowed: &'static [&'static str],
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut found = Vec::new();
        for part in value.split(|letter| letter.letter == ',' && !letter.is_quoted) {
            let part = plain(part);
            match read(&part) {
                Some(one) if found.contains(&one) => {}
                Some(one) => found.push(one),
                None if part.trim().is_empty() => {}
                None => self.remark(part, QueryProblem::UnknownValue(allowed)),
            }
        }
        (!found.is_empty()).then_some(found)
    }

    fn one_value<T>(
        &mut self,
        value: &[QueryLetter],
        allowed: &'static [&'static str],
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(&plain(value));
        if found.is_none() {
            self.remark(plain(value), QueryProblem::UnknownValue(allowed));
        }
        found
    }
}

/// Splits a query at white space that is not quoted.
fn words(text: &str) -> Vec<Vec<QueryLetter>> {
    let mut words = vec![Vec::new()];
    let (mut is_quoted, mut letters) = (false, text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if letter.is_whitespace() && !is_quoted => words.push(Vec::new()),
            _ => {
                let escaped =
                    letters.next_if(|next| letter == '\\' && is_quoted && matches!(next, '"' | '\\'));
                let letter = escaped.unwrap_or(letter);
                if let Some(word) = words.last_mut()
                    && !letter.is_control()
                {
                    word.push(QueryLetter { letter, is_quoted });
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Splits a word at its first operator; `None` if it has no key. The scheme of a URL is no key.
fn keyed(word: &[QueryLetter]) -> Option<KeyedWord<'_>> {
    let is_operator =
        |letter: &QueryLetter| !letter.is_quoted && matches!(letter.letter, ':' | '~' | '<' | '>');
    let at = word.iter().position(is_operator)?;
    let (key, value) = (&word[..at], &word[at + 1..]);
    let is_key =
        !key.is_empty() && key.iter().all(|one| one.letter.is_ascii_alphanumeric() && !one.is_quoted);
    let is_url = word[at].letter == ':' && plain(value).starts_with("//");
    let key = plain(key).to_ascii_lowercase();
    (is_key && !is_url).then_some(KeyedWord { key, operator: word[at].letter, value })
}

fn plain(letters: &[QueryLetter]) -> String {
    letters.iter().map(|letter| letter.letter).collect()
}

fn parse_word<T: FromStr>(word: &str) -> Option<T> {
    word.to_ascii_lowercase().parse().ok()
}

/// Reads a number with a unit, such as `10m`; returns milliseconds.
fn parse_duration(text: &str) -> Option<i64> {
    let unit = DURATION_UNITS.into_iter().find(|unit| text.ends_with(unit.letter))?;
    let number = text.strip_suffix(unit.letter)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<i64>().ok().filter(|_| is_number)?.checked_mul(unit.ms)
}

/// Reads a percentage with at most four decimals, such as `99.95`; returns millionths.
fn parse_percent(text: &str) -> Option<u32> {
    let text = text.strip_suffix('%').unwrap_or(text);
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 4 {
        return None;
    }
    let ppm = format!("{whole}{decimals:0<4}").parse().ok();
    ppm.filter(|ppm| *ppm <= 1_000_000)
}

fn parse_sort(text: &str) -> Option<FleetSort> {
    let (field, is_descending) = match text.strip_prefix('-') {
        Some(field) => (field, true),
        None => (text, false),
    };
    Some(FleetSort { field: parse_word(field)?, is_descending })
}

/// Reads `tag:key`; returns the key.
fn parse_group(text: &str) -> Option<String> {
    let key = text.strip_prefix("tag:")?.to_ascii_lowercase();
    is_key(&key).then_some(key)
}

#[cfg(test)]
mod tests;
