//! A half-open span of time.

use crate::clock::Timestamp;

/// A span of time: `from` is included, `to` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeRange {
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
}

impl TimeRange {
    /// Returns true if `moment` is in this range.
    #[must_use]
    pub fn contains(self, moment: Timestamp) -> bool {
        self.from <= moment && moment < self.to
    }

    /// Returns this range, or `None` if it is empty.
    #[must_use]
    pub fn if_not_empty(self) -> Option<Self> {
        (self.from < self.to).then_some(self)
    }
}
