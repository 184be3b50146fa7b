//! A reader of bytes and numbers that never reads past the end.

use super::error::BlockError;
use crate::model::varint;

/// Reads from the front of a byte slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn byte(&mut self) -> Result<u8, BlockError> {
        let (byte, rest) = self.0.split_first().ok_or(BlockError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(*byte)
    }

    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], BlockError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(BlockError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number written by [`varint::put`].
    pub(super) fn number(&mut self) -> Result<u64, BlockError> {
        varint::take(&mut self.0).ok_or(BlockError::Malformed("a number is cut or too long"))
    }

    /// Reads a count, which must be at most `limit`.
    pub(super) fn count(&mut self, limit: usize) -> Result<usize, BlockError> {
        let number = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if number <= limit { Ok(number) } else { Err(BlockError::Malformed("a count is too large")) }
    }

    /// Fails if there are unread bytes.
    pub(super) const fn end(self) -> Result<(), BlockError> {
        if self.0.is_empty() { Ok(()) } else { Err(BlockError::Malformed("bytes are left over")) }
    }
}
