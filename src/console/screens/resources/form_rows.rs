//! The rows of lists in a form. Names of their fields have the number of the row: `steps.1.after_seconds`. Rows that are
//! empty or removed are left out, so that numbers in problems of the API are numbers of rows.

use std::collections::BTreeMap;

use crate::console::form_data::FormData;

/// Ends the name of the input that removes a row.
pub(super) const REMOVED: &str = "remove";
/// Name of the button that offers more rows; its value is the path of the list.
pub(super) const MORE_ROWS: &str = "more-rows";
/// Most rows of a list; the API takes fewer of every list.
const ROWS_MAX: usize = 200;

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowPlace {
    list: String,
    number: usize,
}

/// What is known of a row.
#[derive(Clone, Copy, Debug, Default)]
struct RowContent {
    has_content: bool,
    is_removed: bool,
}

/// Returns the form without rows that are empty or removed.
pub(super) fn without_empty_rows(form: &FormData) -> FormData {
    let mut rows: BTreeMap<RowPlace, RowContent> = BTreeMap::new();
    form.each(|name, value| {
        let is_removal = name.rsplit('.').next() == Some(REMOVED);
        let places = places(name);
        // A removal concerns the innermost row.
        let last = places.len().saturating_sub(1);
        for (depth, place) in places.into_iter().enumerate() {
            let state = rows.entry(place).or_default();
            state.is_removed |= is_removal && depth == last && value == "true";
            state.has_content |= !is_removal && !value.trim().is_empty();
        }
    });
    let mut numbers: BTreeMap<&RowPlace, usize> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, state) in &rows {
        let count = counts.entry(&place.list).or_default();
        if state.has_content && !state.is_removed && *count < ROWS_MAX {
            numbers.insert(place, *count);
            *count += 1;
        }
    }
    form.with_names(|name| {
        let mut renamed: Vec<String> = name.split('.').map(str::to_owned).collect();
        for place in places(name) {
            let number = numbers.get(&place)?;
            *renamed.get_mut(place.list.split('.').count())? = number.to_string();
        }
        Some(renamed.join("."))
    })
}

/// Number of nested rows that are read; forms have two levels.
const ROW_DEPTH: usize = 4;

/// Returns the rows in which a field is, the outermost first. Numbers further inside of a name are part of its text, so that
/// the work is proportional to the length of the name, whatever somebody sends.
fn places(name: &str) -> Vec<RowPlace> {
    let dots = name.match_indices('.').map(|(at, _)| at);
    let place = |at: usize| {
        let next = name[at + 1..].split('.').next()?;
        Some(RowPlace { list: name[..at].to_owned(), number: next.parse().ok()? })
    };
    dots.filter_map(place).take(ROW_DEPTH).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::without_rows("a=1&b.c=2", "a=1&b.c=2")]
    #[case::an_empty_row("s.0.a=&s.0.b=+&s.1.a=x", "s.0.a=x")]
    #[case::a_removed_row("s.0.a=x&s.0.remove=true&s.1.a=y", "s.0.a=y")]
    #[case::by_number("s.10.a=x&s.9.a=y", "s.1.a=x&s.0.a=y")]
    #[case::inner_rows("s.2.h.0.a=&s.2.h.3.a=x&s.2.n=y&s.1.h.0.a=", "s.0.h.0.a=x&s.0.n=y")]
    #[case::an_inner_row_is_removed("s.0.n=y&s.0.h.0.a=x&s.0.h.0.remove=true", "s.0.n=y")]
    fn rows_are_left_out(#[case] form: &str, #[case] expected: &str) {
        let form = without_empty_rows(&FormData::parse(form.as_bytes()));
        assert_eq!(form.encoded_with("", ""), expected);
    }

    #[test]
    fn a_long_name_is_in_few_rows() {
        assert_eq!(places(&"1.".repeat(100_000)).len(), ROW_DEPTH);
    }

    #[test]
    fn rows_are_counted() {
        let form = FormData::parse(b"s.0.a=1&s.2.a=1&s2.9.a=1&s.x=1");
        assert_eq!((form.rows("s"), form.rows("t")), (3, 0));
        assert!(form.has_content("s.2") && !form.has_content("s.1"));
    }
}
