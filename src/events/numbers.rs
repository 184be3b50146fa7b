//! How far a table whose rows are numbered has been read.
//!
//! On PostgreSQL a row may become visible after one with a larger number: the last seconds are read again, and what was read
//! before is left out.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The time after which every smaller number is visible, or never will be.
const OVERLAP: Duration = Duration::from_secs(5);

/// How far it has been read.
#[derive(Debug)]
pub(super) struct Numbers {
    settled: i64,
    /// Numbers above that have been read.
    seen: BTreeSet<i64>,
    /// The largest number that had been read at a time.
    marks: VecDeque<(Instant, i64)>,
    /// Numbers may become visible out of order.
    is_shared: bool,
}

impl Numbers {
    /// Reads behind this number.
    pub(super) const fn behind(number: i64, is_shared: bool) -> Self {
        Self { settled: number, seen: BTreeSet::new(), marks: VecDeque::new(), is_shared }
    }

    /// Every row up to this number has been read.
    pub(super) const fn settled(&self) -> i64 {
        self.settled
    }

    /// Returns true if this row has not been read before.
    pub(super) fn is_news(&self, number: i64) -> bool {
        number > self.settled && !self.seen.contains(&number)
    }

    /// Notes a row; `false` when it has been read before.
    pub(super) fn note(&mut self, number: i64) -> bool {
        let is_news = self.is_news(number);
        if !self.is_shared {
            self.settled = self.settled.max(number);
        } else if is_news {
            self.seen.insert(number);
        }
        is_news
    }

    /// Settles what has been read for long enough.
    pub(super) fn settle(&mut self, now: Instant) {
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
    async fn a_number_that_comes_late_is_read_and_none_is_read_twice() {
        let mut numbers = Numbers::behind(10, true);
        assert!(numbers.note(11) && numbers.note(13) && !numbers.note(11));
        numbers.settle(Instant::now());
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(numbers.note(12), "it has become visible late");
        numbers.settle(Instant::now());
        assert_eq!(numbers.settled(), 10);
        tokio::time::advance(Duration::from_secs(3)).await;
        numbers.settle(Instant::now());
        assert_eq!(numbers.settled(), 13);
        assert!(!numbers.note(12) && numbers.note(14));
    }

    #[test]
    fn where_one_process_writes_every_number_settles_at_once() {
        let mut numbers = Numbers::behind(0, false);
        assert!(numbers.note(1) && numbers.note(2));
        assert_eq!(numbers.settled(), 2);
    }
}
