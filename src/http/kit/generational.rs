//! What was read from the main database and is still what is stored: kept while the database's generation stands still.
//!
//! Any commit of this process empties it, so nothing stale is ever shown; where others write as well, nothing is kept. A
//! value that was read while somebody committed belongs to the generation before, and is never found.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Values of one generation.
#[derive(Debug)]
pub struct Generational<K, V> {
    kept: Mutex<(u64, HashMap<K, V>)>,
    /// Most values at a time.
    most: usize,
}

impl<K: Eq + Hash, V: Clone> Generational<K, V> {
    /// Keeps at most so many values.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::new((0, HashMap::new())), most }
    }

    /// The value, if it was read in this generation.
    #[must_use]
    pub fn get(&self, key: &K, generation: Option<u64>) -> Option<V> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (Some(kept.0) == generation).then(|| kept.1.get(key).cloned()).flatten()
    }

    /// Keeps a value that was read after `generation` was asked for.
    pub fn keep(&self, key: K, generation: Option<u64>, value: V) {
        let Some(generation) = generation else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if generation < kept.0 {
            return;
        }
        if generation > kept.0 || kept.1.len() >= self.most {
            *kept = (generation, HashMap::new());
        }
        kept.1.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_its_generation_alone() {
        let kept = Generational::new(10);
        kept.keep("a", Some(1), 7);
        assert_eq!(kept.get(&"a", Some(1)), Some(7));
        assert_eq!(kept.get(&"a", Some(2)), None);
        kept.keep("b", Some(2), 8);
        assert_eq!(kept.get(&"a", Some(2)), None);
        kept.keep("c", Some(1), 9);
        assert_eq!(kept.get(&"c", Some(2)), None, "it was read before the last commit");
        assert_eq!(kept.get(&"b", Some(2)), Some(8));
    }

    #[test]
    fn without_a_generation_nothing_is_kept() {
        let kept = Generational::new(10);
        kept.keep("a", None, 7);
        assert_eq!(kept.get(&"a", None), None);
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let kept = Generational::new(10);
        for number in 0..100 {
            kept.keep(number, Some(1), number);
        }
        let count = (0..100).filter(|number| kept.get(number, Some(1)).is_some()).count();
        assert!((1..=10).contains(&count));
    }
}
