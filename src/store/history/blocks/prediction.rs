//! The prediction of the columns of a block by each other, chosen by the values of its checks.

use super::error::BlockError;
use super::kind::PHASES;
use crate::model::varint;

/// Columns whose numbers may be negative.
#[derive(Clone, Copy, Debug)]
pub(super) enum SignedColumn {
    Deviation,
    Lateness,
    Overhead,
    Response,
}

/// The choices of one block; one byte of its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnPrediction {
    /// The phase that is the rest of the total after the others and the overhead.
    pub(super) implied: Option<usize>,
    /// The response time is stored directly, not relative to the total.
    pub(super) raw_response: bool,
    /// The signed columns that hold negative numbers: only these pay the bit for the sign.
    negative: u8,
}

/// The value for "no phase" in the three bits of the implied one.
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

    /// `values` as they are stored.
    pub(super) fn store(&mut self, column: SignedColumn, values: Vec<i64>) -> Vec<u64> {
        if values.iter().all(|value| *value >= 0) {
            return values.into_iter().map(i64::cast_unsigned).collect();
        }
        self.negative |= 1 << column as u8;
        values.into_iter().map(varint::zigzag).collect()
    }

    /// A stored value as it was.
    pub(super) const fn restore(self, column: SignedColumn, value: u64) -> i64 {
        if self.negative >> column as u8 & 1 == 1 { varint::unzigzag(value) } else { value.cast_signed() }
    }
}

/// The approximate number of bits needed to store `values`: those of the differences from the mean.
pub(super) fn spread(values: &[u32]) -> u64 {
    let count = values.len().max(1) as u64;
    let sum: u64 = values.iter().copied().map(u64::from).sum();
    let mean = u32::try_from(sum / count).unwrap_or(u32::MAX);
    values.iter().map(|value| u64::from(u32::BITS - value.abs_diff(mean).leading_zeros())).sum()
}

/// The usual interval, from which most checks do not deviate: that of the majority, if there is one.
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

/// `a - b` of two 32-bit durations, so that adding it to `b` with wrapping gives `a` again.
pub(super) fn difference(a: u32, b: u32) -> i64 {
    i64::from(a.wrapping_sub(b).cast_signed())
}
