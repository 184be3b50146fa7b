//! The integers that a column is read into: numbers of 32 bits for most columns, of 64 for times.

use super::error::BlockError;

/// A number that a column is read into.
pub(super) trait ColumnInteger: Copy + Default + TryFrom<u64> + Into<u64> {
    /// The low bits of a number that is known to fit.
    fn low(value: u64) -> Self;
    /// A column of small numbers.
    fn from_narrow(values: Vec<u32>) -> Result<Vec<Self>, BlockError>;
    /// A column of numbers, all of which must fit.
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

/// A number of a column, which must fit.
pub(super) fn narrow<T: ColumnInteger>(value: u64) -> Result<T, BlockError> {
    T::try_from(value).map_err(|_| BlockError::Malformed("a number is too large"))
}
