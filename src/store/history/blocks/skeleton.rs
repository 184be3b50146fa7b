//! The skeleton of a block: the times and kinds of all checks, which every reader decodes first. It determines how many
//! values each other column has.

use std::ops::Range;

use super::body::{BlockBody, BlockColumn};
use super::column;
use super::error::BlockError;
use super::kind::{self, SharedFields};
use super::prediction::SignedColumn;
use crate::clock::Timestamp;

/// The times of one check.
#[derive(Clone, Copy)]
pub(super) struct EntryTimes {
    pub(super) scheduled: Timestamp,
    pub(super) checked: Timestamp,
}

/// The times and kinds of all checks of a block, without their details.
pub(super) struct BlockSkeleton {
    pub(super) times: Vec<EntryTimes>,
    pub(super) kinds: Vec<SharedFields>,
    pub(super) of_check: Vec<u32>,
    /// Number of checks of each kind.
    counts: Vec<usize>,
}

/// A run of successive checks of one kind.
#[derive(Clone, Copy)]
pub(super) struct KindRun {
    pub(super) kind: usize,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl KindRun {
    /// The indexes of the checks in the block.
    pub(super) const fn checks(self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

impl BlockSkeleton {
    /// The checks of the block as runs of one kind, in order.
    pub(super) fn runs(&self) -> impl Iterator<Item = KindRun> {
        let mut start = 0;
        self.of_check.chunk_by(PartialEq::eq).map(move |run| {
            let kind = run.first().map_or(0, |kind| *kind as usize);
            let run = KindRun { kind, start, length: run.len() };
            start += run.length;
            run
        })
    }

    /// Decodes a column that only checks of some kinds have: those for which `has` returns true.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        has: impl Fn(&SharedFields) -> bool,
    ) -> Result<Vec<u32>, BlockError> {
        let having = self.kinds.iter().zip(&self.counts).filter(|(kind, _)| has(kind));
        column::read(bytes, having.map(|(_, count)| count).sum())
    }
}

impl BlockBody<'_> {
    /// Decodes the times and kinds of all checks.
    pub(super) fn skeleton(&self) -> Result<BlockSkeleton, BlockError> {
        let kinds = kind::read(self.column(BlockColumn::Kinds), self.checks())?;
        let of_check: Vec<u32> = column::read(self.column(BlockColumn::KindOfCheck), self.checks())?;
        let mut counts = vec![0; kinds.len()];
        for number in &of_check {
            let count = counts.get_mut(*number as usize);
            *count.ok_or(BlockError::Malformed("a check of no kind"))? += 1;
        }
        Ok(BlockSkeleton { times: self.times()?, kinds, of_check, counts })
    }

    fn times(&self) -> Result<Vec<EntryTimes>, BlockError> {
        let gaps = self.checks().saturating_sub(1);
        let deviations: Vec<u64> = column::read(self.column(BlockColumn::Deviation), gaps)?;
        let lateness: Vec<u64> = column::read(self.column(BlockColumn::Lateness), self.checks())?;
        let mut scheduled = self.head.first_scheduled;
        let mut deviations = deviations.into_iter();
        let times = lateness.into_iter().map(|late| {
            let checked = scheduled.wrapping_add(self.head.prediction.restore(SignedColumn::Lateness, late));
            let times =
                EntryTimes { scheduled: Timestamp::from_ms(scheduled), checked: Timestamp::from_ms(checked) };
            if let Some(deviation) = deviations.next() {
                let deviation = self.head.prediction.restore(SignedColumn::Deviation, deviation);
                scheduled = scheduled.wrapping_add(self.head.interval).wrapping_add(deviation);
            }
            times
        });
        Ok(times.collect())
    }

    /// The response time of a check; `stored` is its value in the column, `total` its total time.
    pub(super) fn response(&self, stored: u32, total: u32) -> u32 {
        if self.head.prediction.raw_response {
            stored
        } else {
            self.sum(SignedColumn::Response, stored, total)
        }
    }

    /// The sum of `base` and a stored difference, modulo 2^32.
    pub(super) fn sum(&self, column: SignedColumn, stored: u32, base: u32) -> u32 {
        base.wrapping_add(low_bits(self.head.prediction.restore(column, u64::from(stored))))
    }
}

/// The low 32 bits of a difference.
fn low_bits(difference: i64) -> u32 {
    let [a, b, c, d, ..] = difference.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
