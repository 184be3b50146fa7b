//! The position up to which a table with numbered rows has been read.
//!
//! On PostgreSQL a row may become visible after one with a larger number: the rows of the last seconds are read again, and
//! known ones are skipped.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The time after which every smaller number counts as visible or rolled back. A row gets its number in one of the last
/// statements of its transaction. PostgreSQL ends a statement after 30 s (after 5 s of waiting for a lock); the commit
/// follows.
const OVERLAP: Duration = Duration::from_secs(60);
/// Number of rows before the newest one that are searched for rows that became visible late.
pub const BEHIND: i64 = 500;

/// The numbers of a table that a reader has read.
#[derive(Debug)]
pub struct ReadProgress {
    settled: i64,
    /// Numbers above `settled` that have been read.
    seen: BTreeSet<i64>,
    /// The largest number read so far, at each of several times.
    marks: VecDeque<(Instant, i64)>,
    /// True if numbers may become visible out of order.
    is_shared: bool,
}

impl ReadProgress {
    /// Starts after this number, in a table whose numbers become visible in order.
    #[must_use]
    pub const fn behind(number: i64) -> Self {
        Self { settled: number, seen: BTreeSet::new(), marks: VecDeque::new(), is_shared: false }
    }

    /// Starts after the `visible` numbers, which must be all that are visible after `start`. Numbers missing among them are
    /// read when they become visible.
    #[must_use]
    pub fn among(start: i64, visible: impl IntoIterator<Item = i64>) -> Self {
        let mut seen: BTreeSet<i64> = visible.into_iter().collect();
        let mut settled = start;
        while seen.remove(&(settled + 1)) {
            settled += 1;
        }
        Self { settled, seen, marks: VecDeque::new(), is_shared: true }
    }

    /// The number up to which every row has been read.
    #[must_use]
    pub const fn settled(&self) -> i64 {
        self.settled
    }

    /// Returns true if the row with this number has not been read yet.
    #[must_use]
    pub fn is_new(&self, number: i64) -> bool {
        number > self.settled && !self.seen.contains(&number)
    }

    /// Notes that a row was read; returns false if it had been read before.
    pub fn note(&mut self, number: i64) -> bool {
        let is_new = self.is_new(number);
        if !self.is_shared {
            self.settled = self.settled.max(number);
        } else if is_new {
            self.seen.insert(number);
        }
        is_new
    }

    /// Advances the settled number past rows that were read long enough ago.
    pub fn advance_settled(&mut self, now: Instant) {
        if let Some(newest) = self.seen.last().copied()
            && self.marks.back().is_none_or(|(_, number)| *number < newest)
        {
            self.marks.push_back((now, newest));
        }
        while let Some((at, number)) = self.marks.front().copied()
            && now.duration_since(at) >= OVERLAP
        {
            self.settled = number;
            self.marks.pop_front();
        }
        self.seen = self.seen.split_off(&(self.settled + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_late_number_is_read_and_no_number_twice() {
        let mut numbers = ReadProgress::among(10, []);
        assert!(numbers.note(11) && numbers.note(13) && !numbers.note(11));
        numbers.advance_settled(Instant::now());
        tokio::time::advance(OVERLAP / 2).await;
        assert!(numbers.note(12), "it has become visible late");
        numbers.advance_settled(Instant::now());
        assert_eq!(numbers.settled(), 10);
        tokio::time::advance(OVERLAP / 2).await;
        numbers.advance_settled(Instant::now());
        assert_eq!(numbers.settled(), 13);
        assert!(!numbers.note(12) && numbers.note(14));
    }

    #[tokio::test(start_paused = true)]
    async fn numbers_uncommitted_at_the_start_are_read() {
        let mut numbers = ReadProgress::among(10, [11, 12, 14]);
        assert_eq!(numbers.settled(), 12, "13 may still come");
        assert!(!numbers.is_new(14) && numbers.is_new(13) && numbers.is_new(15));
        numbers.advance_settled(Instant::now());
        tokio::time::advance(OVERLAP).await;
        numbers.advance_settled(Instant::now());
        assert_eq!(numbers.settled(), 14);
    }

    #[test]
    fn with_a_single_writer_numbers_settle_at_once() {
        let mut numbers = ReadProgress::behind(0);
        assert!(numbers.note(1) && numbers.note(2));
        assert_eq!(numbers.settled(), 2);
    }
}
