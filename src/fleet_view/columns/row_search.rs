//! Search for a text in the names and targets of all rows: one pass over the block of texts instead of one search a row.

use memchr::memmem::Finder;

use crate::fleet_view::columns::FleetColumns;

/// A search that is asked for rows in ascending order.
pub(in crate::fleet_view) struct RowSearch<'a> {
    columns: &'a FleetColumns,
    finder: &'a Finder<'a>,
    /// The first match in the ordered part of the block that does not begin before the texts asked for so far;
    /// `usize::MAX` if there is none.
    next: Option<usize>,
}

impl<'a> RowSearch<'a> {
    /// Starts a search for a text in lower case that contains no line feed.
    pub(in crate::fleet_view) const fn new(columns: &'a FleetColumns, finder: &'a Finder<'a>) -> Self {
        Self { columns, finder, next: None }
    }

    /// Returns true if the name or the target of a row contains the text. Each row must be greater than the one before.
    pub(in crate::fleet_view) fn finds(&mut self, row: u32) -> bool {
        let searched = self.columns.searched(row);
        let (ordered, start) = self.columns.texts.ordered_place(row);
        let Some(start) = start else { return self.finder.find(searched).is_some() };
        let next = match self.next {
            Some(next) if next >= start => next,
            _ => self.finder.find(&ordered[start..]).map_or(usize::MAX, |match_at| start + match_at),
        };
        self.next = Some(next);
        // A match that ends behind the texts of this row is one of another row, or of none.
        next.saturating_add(self.finder.needle().len()) <= start + searched.len()
    }
}
