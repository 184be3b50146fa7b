//! The integer types that columns are decoded into: `u32` for most columns, `u64` for times.

use super::error::BlockError;

/// An integer type that a column can be decoded into.
pub(super) trait ColumnInteger: Copy + Default + TryFrom<u64> + Into<u64> {
    /// The low bits of a number that is known to fit into the type.
    fn low(value: u64) -> Self;
    /// Converts a decoded column of 32-bit numbers.
    fn from_narrow(values: Vec<u32>) -> Result<Vec<Self>, BlockError>;
    /// Converts a decoded column of 64-bit numbers; fails if the type has only 32 bits.
    fn from_wide(values: Vec<u64>) -> Result<Vec<Self>, BlockError>;
}

impl ColumnInteger for u32 {
    fn low(value: u64) -> Self {
        let [a, b, c, d, ..] = value.to_le_bytes();
        Self::from_le_bytes([a, b, c, d])
    }

    fn from_narrow(values: Vec<u32>) -> Result<Vec<Self>, BlockError> {
        Ok(values)
    }

    fn from_wide(_values: Vec<u64>) -> Result<Vec<Self>, BlockError> {
        Err(BlockError::Malformed("a number is too large"))
    }
}

impl ColumnInteger for u64 {
    fn low(value: u64) -> Self {
        value
    }

    fn from_narrow(values: Vec<u32>) -> Result<Vec<Self>, BlockError> {
        Ok(values.into_iter().map(Self::from).collect())
    }

    fn from_wide(values: Vec<u64>) -> Result<Vec<Self>, BlockError> {
        Ok(values)
    }
}

/// Converts a decoded number; fails if it does not fit into the type.
pub(super) fn narrow<T: ColumnInteger>(value: u64) -> Result<T, BlockError> {
    T::try_from(value).map_err(|_| BlockError::Malformed("a number is too large"))
}
