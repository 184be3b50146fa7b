//! Predictions of some columns of a block from others, chosen for each block by the values of its checks.

use super::error::BlockError;
use super::kind::PHASES;
use crate::model::varint;

/// Columns whose numbers may be negative. The discriminants are bit positions in the body.
#[derive(Clone, Copy, Debug)]
pub(super) enum SignedColumn {
    Deviation,
    Lateness,
    Overhead,
    Response,
}

/// The predictions chosen for one block, coded as one byte of its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnPrediction {
    /// The phase that is computed: the total minus the other phases and the overhead. `None`: all phases are stored.
    pub(super) implied: Option<usize>,
    /// True if response times are stored directly, false if they are stored relative to the total.
    pub(super) raw_response: bool,
    /// Bit set of the signed columns that contain negative numbers. Only these are stored with a sign bit.
    negative: u8,
}

/// Code for "no phase is implied", in the three bits of the implied phase.
const NO_PHASE: u8 = 7;

impl ColumnPrediction {
    pub(super) fn byte(self) -> u8 {
        let implied = self.implied.and_then(|phase| u8::try_from(phase).ok()).unwrap_or(NO_PHASE);
        implied | u8::from(self.raw_response) << 3 | self.negative << 4
    }

    pub(super) fn from_byte(byte: u8) -> Result<Self, BlockError> {
        let implied = match byte & 7 {
            NO_PHASE => None,
            phase if usize::from(phase) < PHASES => Some(usize::from(phase)),
            _ => return Err(BlockError::Malformed("an unknown phase is implied")),
        };
        Ok(Self { implied, raw_response: byte & 8 != 0, negative: byte >> 4 })
    }

    /// The stored form of `values`; notes whether the column contains negative numbers.
    pub(super) fn store(&mut self, column: SignedColumn, values: Vec<i64>) -> Vec<u64> {
        if values.iter().all(|value| *value >= 0) {
            return values.into_iter().map(i64::cast_unsigned).collect();
        }
        self.negative |= 1 << column as u8;
        values.into_iter().map(varint::zigzag).collect()
    }

    /// The original value of a stored one.
    pub(super) const fn restore(self, column: SignedColumn, value: u64) -> i64 {
        if self.negative >> column as u8 & 1 == 1 { varint::unzigzag(value) } else { value.cast_signed() }
    }
}

/// Approximate number of bits needed to store `values` as differences from their mean.
pub(super) fn spread(values: &[u32]) -> u64 {
    let count = values.len().max(1) as u64;
    let sum: u64 = values.iter().copied().map(u64::from).sum();
    let mean = u32::try_from(sum / count).unwrap_or(u32::MAX);
    values.iter().map(|value| u64::from(u32::BITS - value.abs_diff(mean).leading_zeros())).sum()
}

/// The interval that more than half of the items have; if no interval has a majority, any of them. 0 without items.
pub(super) fn usual(intervals: impl Iterator<Item = i64>) -> i64 {
    let (mut usual, mut lead) = (0, 0_u32);
    for interval in intervals {
        if lead == 0 {
            usual = interval;
        }
        lead = if interval == usual { lead + 1 } else { lead - 1 };
    }
    usual
}

/// The difference `a - b` of two durations modulo 2^32; added to `b` with wrapping, it gives `a` again.
pub(super) fn difference(a: u32, b: u32) -> i64 {
    i64::from(a.wrapping_sub(b).cast_signed())
}
