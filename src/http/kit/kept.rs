//! The values that were read from the main database, kept as long as they are still what is stored.
//!
//! Each value has the stamp that was taken before it was read; whoever asks says whether a value of that stamp is current.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use crate::store::changes::Stamp;

/// Values by key, no more than so many at a time.
#[derive(Debug)]
pub struct Kept<K, V> {
    values: Mutex<HashMap<K, Stamped<V>>>,
    most: usize,
}

#[derive(Debug)]
struct Stamped<V> {
    stamp: Stamp,
    value: V,
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    /// Keeps at most so many values.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { values: Mutex::default(), most }
    }

    /// Returns the value, if it is current; one that is not is dropped.
    pub fn get(&self, key: &K, is_current: impl FnOnce(Stamp, &V) -> bool) -> Option<V> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = values.get(key)?;
        if is_current(kept.stamp, &kept.value) {
            return Some(kept.value.clone());
        }
        values.remove(key);
        None
    }

    /// Keeps a value that was read after the stamp was taken, unless a newer one is there.
    pub fn keep(&self, key: K, stamp: Stamp, value: V) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.get(&key).is_some_and(|kept| kept.stamp > stamp) {
            return;
        }
        if values.len() >= self.most && !values.contains_key(&key) {
            values.clear();
        }
        values.insert(key, Stamped { stamp, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::changes::Changes;

    #[test]
    fn a_value_is_found_as_long_as_it_is_current() {
        let (kept, stamp) = (Kept::new(10), Changes::default().stamp());
        kept.keep("a", stamp, 7);
        assert_eq!(kept.get(&"a", |of, value| of == stamp && *value == 7), Some(7));
        assert_eq!(kept.get(&"a", |_, _| false), None);
        assert_eq!(kept.get(&"a", |_, _| true), None, "it was dropped");
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let (kept, stamp) = (Kept::new(10), Changes::default().stamp());
        for number in 0..100 {
            kept.keep(number, stamp, number);
        }
        let count = (0..100).filter(|number| kept.get(number, |_, _| true).is_some()).count();
        assert!((1..=10).contains(&count));
    }
}
