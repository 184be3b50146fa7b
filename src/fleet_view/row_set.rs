//! A set of row numbers, one bit a row.

/// A set of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Adds a row.
    pub(super) fn insert(&mut self, row: u32) {
        let (word, bit) = place(row);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bit;
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, row: u32) {
        let (word, bit) = place(row);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Adds the rows of another set.
    pub(super) fn add_all(&mut self, others: &Self) {
        if self.words.len() < others.words.len() {
            self.words.resize(others.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word |= other;
        }
    }

    /// Removes the rows that are not in another set.
    pub(super) fn retain_all(&mut self, others: &Self) {
        self.words.truncate(others.words.len());
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word &= other;
        }
    }

    /// Removes the rows of another set.
    pub(super) fn remove_all(&mut self, others: &Self) {
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word &= !other;
        }
    }

    /// Returns true if a row is in both sets.
    pub(super) fn intersects(&self, others: &Self) -> bool {
        self.words.iter().zip(&others.words).any(|(word, other)| word & other != 0)
    }

    /// Returns true if the row is in the set.
    pub(super) fn contains(&self, row: u32) -> bool {
        let (word, bit) = place(row);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The number of rows in the set.
    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Removes the rows for which `keep` returns false.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        for (base, word) in (0_u32..).step_by(64).zip(&mut self.words) {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keep(base + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Calls `act` for each row, in ascending order.
    pub(super) fn for_each(&self, mut act: impl FnMut(u32)) {
        for (base, word) in (0_u32..).step_by(64).zip(&self.words) {
            let mut left = *word;
            while left != 0 {
                act(base + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    /// The bytes that the set occupies.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

/// The index of the word with the bit of a row, and that bit.
const fn place(row: u32) -> (usize, u64) {
    ((row / 64) as usize, 1 << (row % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sets_are_combined() {
        let set = |rows: &[u32]| {
            let mut set = RowSet::default();
            rows.iter().for_each(|row| set.insert(*row));
            set
        };
        let has = |set: &RowSet, rows: &[u32]| {
            rows.iter().all(|row| set.contains(*row)) && set.count() == rows.len()
        };
        for (left, right) in [(set(&[1, 64, 200]), set(&[1, 65])), (set(&[1, 65]), set(&[1, 64, 200]))] {
            let [mut all, mut both, mut rest] = [left.clone(), left.clone(), left.clone()];
            all.add_all(&right);
            both.retain_all(&right);
            rest.remove_all(&right);
            assert!(has(&all, &[1, 64, 65, 200]) && has(&both, &[1]));
            assert!(rest.count() == left.count() - 1 && !rest.contains(1));
            assert!(left.intersects(&right) && !rest.intersects(&right));
        }
    }

    #[test]
    fn a_set_has_the_rows_that_were_inserted_and_not_removed() {
        let (mut set, mut expected) = (RowSet::default(), BTreeSet::new());
        for row in [0, 1, 63, 64, 65, 127, 200, 64] {
            set.insert(row);
            expected.insert(row);
        }
        set.remove(65);
        set.remove(9_999);
        expected.remove(&65);
        set.retain(|row| row != 127);
        expected.remove(&127);
        let mut found = BTreeSet::new();
        set.for_each(|row| assert!(found.insert(row)));
        assert_eq!(found, expected);
        assert_eq!(set.count(), expected.len());
        assert!((0..300).all(|row| set.contains(row) == expected.contains(&row)));
    }
}
