//! One list of small values for each row, all of them in one block of memory.
//!
//! A list that becomes longer is stored again at the end of the block. Once more than a quarter of the block is unused, it is
//! written again as a whole, so a change costs constant time on average.

/// Number of unused values from which the block may be written again as a whole.
const UNUSED_MIN: usize = 4_096;
/// A full vector grows by its length divided by this number.
const GROWTH_SHARE: usize = 32;

/// A list for each row.
#[derive(Clone, Debug)]
pub(super) struct PackedLists<T> {
    values: Vec<T>,
    spans: Vec<ListSpan>,
    unused: usize,
    /// The lists before this index of the block are in the order of their rows.
    ordered: usize,
}

/// The place of a list in the block.
#[derive(Clone, Copy, Debug, Default)]
struct ListSpan {
    start: u32,
    len: u32,
}

impl<T> Default for PackedLists<T> {
    fn default() -> Self {
        Self { values: Vec::new(), spans: Vec::new(), unused: 0, ordered: 0 }
    }
}

impl<T: Copy> PackedLists<T> {
    /// The list of a row; empty if none was stored.
    pub(super) fn get(&self, row: u32) -> &[T] {
        let Some(span) = self.spans.get(row as usize) else { return &[] };
        let start = span.start as usize;
        self.values.get(start..start + span.len as usize).unwrap_or_default()
    }

    /// The part of the block in which lists are in the order of their rows, and the start of the list of a row in it; `None` if
    /// it is in the rest of the block.
    pub(super) fn ordered_place(&self, row: u32) -> (&[T], Option<usize>) {
        let start = self.spans.get(row as usize).map(|span| span.start as usize);
        (&self.values[..self.ordered], start.filter(|start| *start < self.ordered))
    }

    /// Stores the list of a row.
    pub(super) fn set(&mut self, row: u32, list: &[T]) {
        while self.spans.len() <= row as usize {
            push_tight(&mut self.spans, ListSpan::default());
        }
        let span = &mut self.spans[row as usize];
        let (start, len) = (span.start as usize, span.len as usize);
        span.len = narrow(list.len());
        if list.len() <= len {
            self.values[start..start + list.len()].copy_from_slice(list);
            self.unused += len - list.len();
        } else {
            span.start = narrow(self.values.len());
            reserve_tight(&mut self.values, list.len());
            self.values.extend_from_slice(list);
            self.unused += len;
        }
        if self.unused > UNUSED_MIN && self.unused > self.values.len() / 4 {
            self.rewrite();
        }
    }

    /// Frees the memory that is not used.
    pub(super) fn shrink(&mut self) {
        if self.unused > 0 {
            self.rewrite();
        }
        self.values.shrink_to_fit();
        self.spans.shrink_to_fit();
        self.ordered = if self.is_ordered() { self.values.len() } else { 0 };
    }

    /// The bytes that the lists occupy.
    pub(super) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.spans.capacity() * size_of::<ListSpan>()
    }

    fn rewrite(&mut self) {
        let mut values = Vec::with_capacity(self.values.len() - self.unused);
        for span in &mut self.spans {
            let start = span.start as usize;
            span.start = narrow(values.len());
            values.extend_from_slice(&self.values[start..start + span.len as usize]);
        }
        self.ordered = values.len();
        (self.values, self.unused) = (values, 0);
    }

    fn is_ordered(&self) -> bool {
        self.spans.is_sorted_by_key(|span| span.start)
    }
}

/// Adds a value at the end of a vector that grows by a little, not to the double size.
pub(super) fn push_tight<T>(values: &mut Vec<T>, value: T) {
    reserve_tight(values, 1);
    values.push(value);
}

/// Adds a value at an index of a vector that grows by a little, not to the double size.
pub(super) fn insert_tight<T>(values: &mut Vec<T>, index: usize, value: T) {
    reserve_tight(values, 1);
    values.insert(index, value);
}

fn reserve_tight<T>(values: &mut Vec<T>, more: usize) {
    if values.capacity() - values.len() < more {
        values.reserve_exact(more.max(values.len() / GROWTH_SHARE).max(16));
    }
}

/// A number of rows or bytes of one organisation, which is far below the limit.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_kept_while_they_grow_and_shrink() {
        let (mut lists, mut expected) = (PackedLists::default(), vec![Vec::new(); 300]);
        for round in 0..200_usize {
            for row in 0..300_u32 {
                let len = (round * 7 + row as usize * 13) % 23;
                let list: Vec<u32> = (0..narrow(len)).map(|value| value + row).collect();
                lists.set(row, &list);
                expected[row as usize] = list;
            }
            assert!((0..300).all(|row| lists.get(row) == expected[row as usize]));
        }
        let used: usize = expected.iter().map(Vec::len).sum();
        assert!(lists.values.len() <= used * 4 / 3 + UNUSED_MIN + 23);
        lists.shrink();
        assert!((0..300).all(|row| lists.get(row) == expected[row as usize]));
        assert_eq!(lists.bytes(), used * 4 + 300 * 8);
        assert!(lists.get(9_999).is_empty());
    }
}
