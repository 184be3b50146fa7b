//! Limits how many addresses visitors can enter on a page in a minute, so that nobody can make this server send mails to
//! thousands of strangers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;

/// Number of addresses of one page in a minute.
const PER_MINUTE: u32 = 60;
/// Length of the counted time in milliseconds.
const MINUTE_MS: i64 = 60_000;
/// Maximum number of pages that are counted; then counting starts again.
const PAGES: usize = 10_000;

/// Counts the addresses that visitors enter, by the key of the page.
#[derive(Debug, Default)]
pub(in crate::pages) struct SignUpLimiter(Mutex<HashMap<i64, CountedMinute>>);

#[derive(Clone, Copy, Debug)]
struct CountedMinute {
    start: Timestamp,
    count: u32,
}

impl SignUpLimiter {
    /// Counts an address; returns false if the page has had its number in this minute.
    pub(super) fn admits(&self, page: i64, now: Timestamp) -> bool {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= PAGES {
            pages.clear();
        }
        let counted = pages.entry(page).or_insert(CountedMinute { start: now, count: 0 });
        if !(0..MINUTE_MS).contains(&now.ms_since(counted.start)) {
            *counted = CountedMinute { start: now, count: 0 };
        }
        counted.count += 1;
        counted.count <= PER_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_sixty_addresses_in_a_minute() {
        let limiter = SignUpLimiter::default();
        let start = Timestamp::from_ms(1_000_000);
        let admitted = (0..70).filter(|ms| limiter.admits(1, start.plus_ms(*ms))).count();
        assert_eq!(admitted, 60);
        assert!(limiter.admits(2, start));
        assert!(limiter.admits(1, start.plus_ms(60_000)));
        assert!(limiter.admits(1, start.plus_ms(-1)), "the clock was set back");
    }
}
