//! The rows of lists in a form. Names of their fields have the number of the row: `steps.1.after_seconds`. Rows that are
//! empty or removed are left out, so that numbers in problems of the API are numbers of rows. Buttons offer more rows and move
//! a row; the form is then shown again, and nothing is saved.

use std::collections::BTreeMap;

use crate::console::form_data::FormData;

/// Ends the name of the input that removes a row.
pub(in crate::console) const REMOVED: &str = "remove";
/// Name of the button that offers more rows; its value is the path of the list.
pub(in crate::console) const MORE_ROWS: &str = "more-rows";
/// Name of the buttons that move a row; their value is `up:` or `down:` and the path of the row.
pub(in crate::console) const MOVE_ROW: &str = "move-row";
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

/// Where a row is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) enum RowDirection {
    Up,
    Down,
}

impl RowDirection {
    pub(in crate::console) const ALL: [Self; 2] = [Self::Up, Self::Down];

    /// The word in the value of the button.
    pub(in crate::console) const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The value of the button that moves the row at this path.
    pub(in crate::console) fn button(self, path: &str) -> String {
        format!("{}:{path}", self.word())
    }

    /// The number of the row with which a row changes places; `None` at the end of the list.
    pub(in crate::console) fn neighbour(self, number: usize, count: usize) -> Option<usize> {
        match self {
            Self::Up => number.checked_sub(1),
            Self::Down => Some(number + 1).filter(|next| *next < count),
        }
    }
}

/// A row that is moved.
struct RowShift {
    direction: RowDirection,
    row: RowPlace,
}

impl RowShift {
    fn read(text: &str) -> Option<Self> {
        let (word, path) = text.split_once(':')?;
        let direction = RowDirection::ALL.into_iter().find(|direction| direction.word() == word)?;
        let (list, number) = path.rsplit_once('.')?;
        Some(Self { direction, row: RowPlace { list: list.to_owned(), number: number.parse().ok()? } })
    }
}

/// Returns true if the form is sent to get other rows, and not to be saved.
pub(in crate::console) fn asks_for_rows(form: &FormData) -> bool {
    form.has(MORE_ROWS) || form.has(MOVE_ROW)
}

/// Returns the form without rows that are empty or removed, and with the row that is moved in its new place.
pub(in crate::console) fn without_empty_rows(form: &FormData) -> FormData {
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
    let shift = RowShift::read(form.text(MOVE_ROW));
    if let Some(shift) = &shift {
        swap(&mut numbers, shift);
    }
    let renamed = |name: &str| {
        let mut renamed: Vec<String> = name.split('.').map(str::to_owned).collect();
        for place in places(name) {
            let number = numbers.get(&place)?;
            *renamed.get_mut(place.list.split('.').count())? = number.to_string();
        }
        Some(renamed.join("."))
    };
    let mut changed = form.with_names(renamed);
    if let Some(shift) = shift {
        let path = renamed(&format!("{}.{}", shift.row.list, shift.row.number));
        path.into_iter().for_each(|path| changed.push(MOVE_ROW, &shift.direction.button(&path)));
    }
    changed
}

/// Lets a row and its neighbour change places.
fn swap(numbers: &mut BTreeMap<&RowPlace, usize>, shift: &RowShift) {
    let list = || numbers.iter().filter(|(place, _)| place.list == shift.row.list);
    let Some(number) = numbers.get(&shift.row).copied() else { return };
    let Some(next) = shift.direction.neighbour(number, list().count()) else { return };
    for (place, at) in numbers.iter_mut().filter(|(place, _)| place.list == shift.row.list) {
        *at = match *at {
            at if **place == shift.row && at == number => next,
            at if at == next => number,
            at => at,
        };
    }
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

    /// The moved row, and the place of its button afterwards.
    #[rstest]
    #[case::up("up:s.2", "s.0.a=x&s.1.a=z&s.2.a=y", "up:s.1")]
    #[case::down("down:s.0", "s.0.a=y&s.1.a=x&s.2.a=z", "down:s.1")]
    #[case::at_the_top("up:s.0", "s.0.a=x&s.1.a=y&s.2.a=z", "up:s.0")]
    #[case::at_the_end("down:s.2", "s.0.a=x&s.1.a=y&s.2.a=z", "down:s.2")]
    #[case::an_empty_row("up:s.7", "s.0.a=x&s.1.a=y&s.2.a=z", "up:s.7")]
    #[case::nonsense("sideways", "s.0.a=x&s.1.a=y&s.2.a=z", "sideways")]
    fn a_row_is_moved(#[case] button: &str, #[case] expected: &str, #[case] at: &str) {
        let form = FormData::parse(format!("s.0.a=x&s.1.a=y&s.2.a=z&move-row={button}").as_bytes());
        let moved = without_empty_rows(&form);
        let rows = (0..3).map(|row| format!("s.{row}.a={}", moved.text(&format!("s.{row}.a"))));
        assert_eq!(rows.collect::<Vec<_>>().join("&"), expected);
        assert_eq!(moved.text(MOVE_ROW), at);
    }

    /// An inner row keeps its row; empty rows before it do not count.
    #[test]
    fn an_inner_row_is_moved() {
        let form = FormData::parse(b"s.0.a=&s.1.h.0.a=x&s.1.h.1.a=&s.1.h.2.a=y&move-row=up:s.1.h.2");
        let moved = without_empty_rows(&form);
        assert_eq!((moved.text("s.0.h.0.a"), moved.text("s.0.h.1.a")), ("y", "x"));
        assert_eq!(moved.text(MOVE_ROW), "up:s.0.h.0");
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
