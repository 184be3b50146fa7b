//! A cache of values read from the main database, valid as long as the stored data has not changed.
//!
//! Each value has a commit stamp that was taken before the value was read. The caller decides whether a value with that
//! stamp is current.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use crate::store::changes::CommitStamp;

/// Values by key, limited in number and in bytes.
#[derive(Debug)]
pub struct StampedCache<K, V> {
    values: Mutex<CacheContents<K, V>>,
    most: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct CacheContents<K, V> {
    by_key: HashMap<K, StampedValue<V>>,
    bytes: usize,
}

#[derive(Debug)]
struct StampedValue<V> {
    stamp: CommitStamp,
    value: V,
    bytes: usize,
}

impl<K: Eq + Hash, V: Clone> StampedCache<K, V> {
    /// Creates a cache for at most `most` values and `most_bytes` bytes.
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Self {
        let values = CacheContents { by_key: HashMap::new(), bytes: 0 };
        Self { values: Mutex::new(values), most, most_bytes }
    }

    /// Returns the value if it is current; an outdated one is dropped.
    pub fn get(&self, key: &K, is_current: impl FnOnce(CommitStamp, &V) -> bool) -> Option<V> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = values.by_key.get(key)?;
        if is_current(cached.stamp, &cached.value) {
            return Some(cached.value.clone());
        }
        values.remove(key);
        None
    }

    /// Stores a value of about `bytes` bytes that was read after the stamp was taken, unless a newer value is stored.
    pub fn keep(&self, key: K, stamp: CommitStamp, value: V, bytes: usize) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.by_key.get(&key).is_some_and(|cached| cached.stamp > stamp) {
            return;
        }
        values.remove(&key);
        if bytes > self.most_bytes {
            return;
        }
        if values.by_key.len() >= self.most || values.bytes + bytes > self.most_bytes {
            values.by_key.clear();
            values.bytes = 0;
        }
        values.bytes += bytes;
        values.by_key.insert(key, StampedValue { stamp, value, bytes });
    }
}

impl<K: Eq + Hash, V> CacheContents<K, V> {
    fn remove(&mut self, key: &K) {
        if let Some(removed) = self.by_key.remove(key) {
            self.bytes -= removed.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use rstest::rstest;

    use super::*;
    use crate::store::changes::CommitTracker;

    #[test]
    fn a_value_is_found_as_long_as_it_is_current() {
        let (cached, stamp) = (StampedCache::new(10, 100), CommitTracker::default().stamp());
        cached.keep("a", stamp, 7, 1);
        assert_eq!(cached.get(&"a", |of, value| of == stamp && *value == 7), Some(7));
        assert_eq!(cached.get(&"a", |_, _| false), None);
        assert_eq!(cached.get(&"a", |_, _| true), None, "it was dropped");
    }

    #[rstest]
    #[case(1, 1..=10)]
    #[case(30, 1..=3)]
    #[case(101, 0..=0)]
    fn the_cache_has_a_maximum_weight(#[case] bytes: usize, #[case] expected: RangeInclusive<usize>) {
        let (cached, stamp) = (StampedCache::new(10, 100), CommitTracker::default().stamp());
        for number in (0..100).chain(0..100) {
            cached.keep(number, stamp, number, bytes);
        }
        let count = (0..100).filter(|number| cached.get(number, |_, _| true).is_some()).count();
        assert!(expected.contains(&count), "{count}");
    }

    #[test]
    fn replaced_and_dropped_values_free_their_weight() {
        let (cached, stamp) = (StampedCache::new(10, 100), CommitTracker::default().stamp());
        cached.keep("other", stamp, 0, 1);
        for number in 0..100 {
            cached.keep("a", stamp, number, 40);
            cached.get(&"a", |_, value| value % 2 == 0);
        }
        assert_eq!(cached.get(&"other", |_, _| true), Some(0), "it was never full");
    }
}
