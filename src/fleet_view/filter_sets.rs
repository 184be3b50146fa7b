//! The rows that frequent filters find, as sets that are kept up to date: a list by status, type or tag then costs a few
//! operations per 64 services.
//!
//! A set is made by a pass over all rows when its filter is first used. The set that was not used for the longest time is dropped
//! for a new one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::fleet_view::row_set::RowSet;
use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;

/// Maximum number of sets, each of one bit a service.
const SETS_MAX: usize = 16;

/// A filter that each row passes or not, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFilter {
    /// Rows with this effective status.
    Status(ServiceStatus),
    /// Rows of this type.
    CheckType(CheckType),
    /// Rows with the tag of this number.
    Tag(u32),
    /// Rows whose owner does not answer.
    Unanswered,
}

/// The sets in use, the last used one first.
#[derive(Debug, Default)]
pub(super) struct FilterSets(Mutex<Vec<(RowFilter, Arc<RowSet>)>>);

impl FilterSets {
    /// Returns the rows that a filter finds; `find` finds them if they are not known.
    pub(super) fn rows(&self, filter: RowFilter, find: impl FnOnce() -> RowSet) -> Arc<RowSet> {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = sets.iter().position(|(known, _)| *known == filter) {
            sets[..=index].rotate_right(1);
        } else {
            sets.truncate(SETS_MAX - 1);
            sets.insert(0, (filter, Arc::new(find())));
        }
        Arc::clone(&sets[0].1)
    }

    /// Takes a row that was written: `passes` tells which filters it passes.
    pub(super) fn note(&mut self, row: u32, passes: impl Fn(RowFilter) -> bool) {
        for (filter, rows) in self.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let rows = Arc::make_mut(rows);
            if passes(*filter) {
                rows.insert(row);
            } else {
                rows.remove(row);
            }
        }
    }

    /// The bytes that the sets occupy.
    pub(super) fn bytes(&self) -> usize {
        let sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.iter().map(|(_, rows)| rows.bytes()).sum()
    }
}

/// A copy starts without sets.
impl Clone for FilterSets {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(numbers: &[u32]) -> RowSet {
        let mut rows = RowSet::default();
        numbers.iter().for_each(|row| rows.insert(*row));
        rows
    }

    #[test]
    fn a_known_set_follows_its_rows() {
        let mut sets = FilterSets::default();
        let known = sets.rows(RowFilter::Tag(1), || rows(&[3, 70]));
        assert_eq!(*known, rows(&[3, 70]));
        drop(known);
        sets.note(70, |_| false);
        sets.note(5, |filter| filter == RowFilter::Tag(1));
        let known = sets.rows(RowFilter::Tag(1), || unreachable!("the set is known"));
        assert!([3, 5].iter().all(|row| known.contains(*row)) && known.count() == 2);
    }

    #[test]
    fn the_set_that_was_not_used_for_the_longest_time_is_dropped() {
        let sets = FilterSets::default();
        let most = u32::try_from(SETS_MAX).unwrap();
        (0..most).for_each(|tag| drop(sets.rows(RowFilter::Tag(tag), || rows(&[tag]))));
        sets.rows(RowFilter::Tag(0), || unreachable!("the set is known"));
        sets.rows(RowFilter::Unanswered, || rows(&[]));
        sets.rows(RowFilter::Tag(0), || unreachable!("the set is known"));
        assert_eq!(*sets.rows(RowFilter::Tag(1), || rows(&[9])), rows(&[9]), "it was dropped");
    }
}
