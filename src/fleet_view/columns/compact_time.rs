//! Times of services, of which there are millions.

use crate::clock::Timestamp;

/// Milliseconds since 1970 as six bytes, or no time. Their order is that of time; no time comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CompactTime([u8; 6]);

impl CompactTime {
    /// Stands for an unknown time.
    pub(super) const NONE: Self = Self([u8::MAX; 6]);

    /// The time; an earlier one than 1970 counts as the beginning of that year.
    pub(super) fn of(at: Timestamp) -> Self {
        let [_, _, bytes @ ..] = at.ms().max(0).to_be_bytes();
        Self(bytes)
    }

    /// The time, if there is one.
    pub(super) fn time(self) -> Option<Timestamp> {
        let Self([a, b, c, d, e, f]) = self;
        (self != Self::NONE).then(|| Timestamp::from_ms(i64::from_be_bytes([0, 0, a, b, c, d, e, f])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_restored_and_ordered() {
        let times = [0, 1, 255, 256, 1_800_000_000_000, (1 << 48) - 2].map(Timestamp::from_ms);
        let compact = times.map(CompactTime::of);
        assert!(compact.is_sorted() && compact[5] < CompactTime::NONE);
        assert_eq!(compact.map(CompactTime::time), times.map(Some));
        assert_eq!(CompactTime::NONE.time(), None);
        assert_eq!(CompactTime::of(Timestamp::from_ms(-1)), compact[0]);
    }
}
