//! A block: many checks of one series (service and location), encoded as one small, immutable value.
//!
//! [`CheckBlock::seal`] turns checks into columns of numbers and chooses a codec for each column. [`BlockBody`] reads them,
//! decoding only the columns that a query needs. The encoding is lossless for every microsecond, code and text. A
//! damaged body gives an error, never wrong data. The code is pure: it uses no database and no clock.
//!
//! ```text
//! body = version u8 | checks | prediction u8 | first scheduled_at | usual interval | columns u16 | (length, column)… | CRC-32
//! ```
//!
//! Lengths and counts are LEB128 numbers. A column that holds only zeros is left out. Varying values are stored relative
//! to a prediction:
//!
//! - `scheduled_at` is the previous `scheduled_at` plus the usual interval plus a deviation; `checked_at` is
//!   `scheduled_at` plus a lateness.
//! - Attempt, role, status, status code, error code and the set of measured times form a kind. A block has few kinds.
//! - The phase that varies most is computed from the total and the other phases; only the overhead, the time of the total
//!   that belongs to no phase, is stored for it.
//! - `response_time` is the total plus a difference, which is nearly always zero.

mod body;
mod column;
mod details;
mod entry;
mod error;
mod integer;
mod kind;
mod packed;
mod prediction;
mod read;
mod seal;
mod skeleton;
mod texts;
mod wire;

#[cfg(test)]
mod tests;

pub use body::BlockBody;
pub use entry::CheckEntry;
pub use error::{BlockError, MAX_CHECKS};
pub use read::BlockFilter;

use crate::clock::Timestamp;

/// Sealed checks of one series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBlock {
    /// `checked_at` of the oldest check.
    pub first_at: Timestamp,
    /// `checked_at` of the newest check.
    pub last_at: Timestamp,
    /// Number of checks that were up.
    pub up: u32,
    /// Number of checks that were degraded.
    pub degraded: u32,
    /// Number of checks that were down.
    pub down: u32,
    /// The encoded checks; [`BlockBody::open`] reads them.
    pub body: Vec<u8>,
}

impl CheckBlock {
    /// Number of checks in the block.
    #[must_use]
    pub const fn checks(&self) -> u32 {
        self.up + self.degraded + self.down
    }
}
