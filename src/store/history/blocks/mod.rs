//! A block: many checks of one series (service and location) in one small, sealed value.
//!
//! [`CheckBlock::seal`] turns checks into columns of numbers and chooses a codec for each column; [`BlockBody`] reads them
//! back, decoding only the columns that a query needs. Encoding is lossless: every microsecond, code and text, for
//! any values. A damaged body is an error, never wrong data. Pure: independent of the database, the series and the
//! clock.
//!
//! ```text
//! body = version u8 | checks | prediction u8 | first scheduled_at | usual interval | columns u16 | (length, column)… | CRC-32
//! ```
//!
//! Lengths and counts are LEB128 numbers. A column of zeros only is left out. Values that vary are stored relative to
//! a prediction:
//!
//! - `scheduled_at` is the one before plus the usual interval plus a deviation; `checked_at` is `scheduled_at` plus a
//!   lateness.
//! - Attempt, role, status, status code, error code and which timings exist are one of few combinations: a kind.
//! - The phase that varies most is implied by the total and the other phases; only the overhead between them is
//!   stored.
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

/// Checks of one series, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBlock {
    /// `checked_at` of the oldest check.
    pub first_at: Timestamp,
    /// `checked_at` of the newest check.
    pub last_at: Timestamp,
    /// Checks that were up.
    pub up: u32,
    /// Checks that were degraded.
    pub degraded: u32,
    /// Checks that were down.
    pub down: u32,
    /// The checks themselves; [`BlockBody::open`] reads them.
    pub body: Vec<u8>,
}

impl CheckBlock {
    /// Number of checks in the block.
    #[must_use]
    pub const fn checks(&self) -> u32 {
        self.up + self.degraded + self.down
    }
}
