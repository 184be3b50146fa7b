//! Numbers as bytes: LEB128, zigzag for signed ones, and a reader that never runs past the end.

use super::BlockError;

/// Appends `value` in 1 to 10 bytes.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Bytes that [`put`] needs for a number of `bits` significant bits.
pub(super) const fn length(bits: u32) -> usize {
    if bits == 0 { 1 } else { bits.div_ceil(7) as usize }
}

/// Small absolute values become small numbers.
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The reverse of [`zigzag`].
pub(super) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Reads from the front of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What was not read yet.
    pub(super) const fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn byte(&mut self) -> Result<u8, BlockError> {
        let (byte, rest) = self.0.split_first().ok_or(BlockError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(*byte)
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], BlockError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(BlockError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number that [`put`] has written.
    pub(super) fn number(&mut self) -> Result<u64, BlockError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(BlockError::Malformed("a number is too long"))
    }

    /// A number that counts something: at most `limit`.
    pub(super) fn count(&mut self, limit: usize) -> Result<usize, BlockError> {
        let number = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if number <= limit { Ok(number) } else { Err(BlockError::Malformed("a count is too large")) }
    }

    /// Nothing may be left.
    pub(super) const fn end(self) -> Result<(), BlockError> {
        if self.0.is_empty() { Ok(()) } else { Err(BlockError::Malformed("bytes are left over")) }
    }
}
