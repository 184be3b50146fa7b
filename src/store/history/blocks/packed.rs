//! Numbers with a fixed count of bits each; the high bits of the few larger ones are listed separately ("patched frame of
//! reference").
//!
//! Cheap to write and to read, and needs no table: used for short columns and columns with rare outliers.
//!
//! ```text
//! packed = least | width u8 | exceptions | (distance, high bits)… | low bits of every number above the least
//! ```

use super::error::BlockError;
use super::integer::{ColumnInteger, narrow};
use super::wire::ByteReader;
use crate::model::varint;

/// Maximum width in bits. Wider numbers are stored with 64 bits, so that eight bytes always hold a whole number.
const WIDEST: u32 = 56;

/// The parameters with which some values are packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitPacking {
    least: u64,
    width: u32,
    exceptions: usize,
    /// Estimated size in bytes.
    pub(super) bytes: usize,
}

impl BitPacking {
    /// The parameters that give the smallest size for `values`, which must not be empty.
    pub(super) fn of(values: &[u64]) -> Self {
        let least = values.iter().copied().min().unwrap_or_default();
        let mut lengths = [0_usize; 65];
        for value in values {
            lengths[bits(value - least) as usize] += 1;
        }
        let longest = (0..=64).rev().find(|length| lengths[*length as usize] != 0).unwrap_or_default();
        let head = 2 + varint::length(bits(least));
        let mut best = Self { least, width: 64, exceptions: 0, bytes: head + values.len() * 8 };
        for width in 0..=longest.min(WIDEST) {
            let mut exceptions = 0;
            let mut apart = 0;
            for length in width + 1..=longest {
                let count = lengths[length as usize];
                exceptions += count;
                apart += count * (1 + varint::length(length - width));
            }
            let bytes = head + apart + (values.len() * width as usize).div_ceil(8);
            if bytes < best.bytes {
                best = Self { least, width, exceptions, bytes };
            }
        }
        best
    }

    pub(super) fn write(self, values: &[u64], out: &mut Vec<u8>) {
        varint::put(out, self.least);
        out.push(self.width.to_le_bytes()[0]);
        varint::put(out, self.exceptions as u64);
        let mut expected = 0;
        for (at, value) in values.iter().enumerate() {
            let high = (value - self.least).checked_shr(self.width).unwrap_or_default();
            if high != 0 {
                varint::put(out, (at - expected) as u64);
                varint::put(out, high);
                expected = at + 1;
            }
        }
        write_bits(values.iter().map(|value| (value - self.least) & mask(self.width)), self.width, out);
    }
}

/// Decodes `count` numbers from the rest of the reader; fails if bytes are left over.
pub(super) fn read<T: ColumnInteger>(mut reader: ByteReader<'_>, count: usize) -> Result<Vec<T>, BlockError> {
    let least = reader.number()?;
    let width = u32::from(reader.byte()?);
    if width > WIDEST && width != 64 {
        return Err(BlockError::Malformed("numbers of an odd width"));
    }
    let exceptions = reader.count(count)?;
    let mut patches = Vec::with_capacity(exceptions);
    let mut at = 0_usize;
    for _ in 0..exceptions {
        at += reader.count(count)?;
        patches.push((at, reader.number()?));
        at += 1;
    }
    let bytes = reader.rest();
    if bytes.len() != (count * width as usize).div_ceil(8) {
        return Err(BlockError::Malformed("packed numbers of another length"));
    }
    let mut values: Vec<T> = read_bits(bytes, width, least, count)?;
    for (at, high) in patches {
        let value = values.get_mut(at).ok_or(BlockError::Malformed("an exception out of place"))?;
        let high = high.checked_shl(width).unwrap_or_default();
        *value = narrow(Into::<u64>::into(*value).wrapping_add(high))?;
    }
    Ok(values)
}

const fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn write_bits(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut pending, mut held) = (0_u128, 0);
    for value in values {
        pending |= u128::from(value) << held;
        held += width;
        if held >= 64 {
            out.extend_from_slice(pending.to_le_bytes().first_chunk::<8>().unwrap_or(&[0; 8]));
            pending >>= 64;
            held -= 64;
        }
    }
    out.extend(pending.to_le_bytes().into_iter().take(held.div_ceil(8) as usize));
}

fn read_bits<T: ColumnInteger>(
    bytes: &[u8],
    width: u32,
    least: u64,
    count: usize,
) -> Result<Vec<T>, BlockError> {
    if width == 0 {
        return Ok(vec![narrow(least)?; count]);
    }
    let mask = mask(width);
    if least.checked_add(mask).is_none_or(|most| T::try_from(most).is_err()) {
        return read_wide_bits(bytes, width, least, count);
    }
    let mut values = vec![T::default(); count];
    for (at, value) in values.iter_mut().enumerate() {
        *value = T::low(least + number(bytes, width, at));
    }
    Ok(values)
}

/// Decodes numbers that may be too large for the type; fails if one is.
#[cold]
fn read_wide_bits<T: ColumnInteger>(
    bytes: &[u8],
    width: u32,
    least: u64,
    count: usize,
) -> Result<Vec<T>, BlockError> {
    (0..count).map(|at| narrow(number(bytes, width, at).wrapping_add(least))).collect()
}

/// The packed number at an index; its width is at most [`WIDEST`], or 64.
fn number(bytes: &[u8], width: u32, at: usize) -> u64 {
    let bit = at * width as usize;
    (window(bytes, bit / 8) >> (bit % 8)) & mask(width)
}

/// The eight bytes from `at` on, padded with zeros after the end.
fn window(bytes: &[u8], at: usize) -> u64 {
    if let Some(Ok(whole)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
        return u64::from_le_bytes(whole);
    }
    let mut padded = [0; 8];
    for (to, from) in padded.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    u64::from_le_bytes(padded)
}
