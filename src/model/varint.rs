//! Variable-length numbers (LEB128): seven bits a byte, the lowest first, with the top bit set on all bytes but the last.
//!
//! Facts, blocks and rollups all use this implementation. Signed numbers go through [`zigzag`]. Readers return `None` for
//! bytes that end early and for numbers beyond 64 bits.

pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(0x80 | number.to_le_bytes()[0]);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Reads a number from the front of `bytes`, and removes its bytes.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Reads a number from the front of `bytes` as `take` does; `None` if it does not fit into 32 bits.
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes).and_then(|number| u32::try_from(number).ok())
}

/// The number of bytes that [`put`] needs for a number of `bits` significant bits.
pub(crate) const fn length(bits: u32) -> usize {
    if bits == 0 { 1 } else { bits.div_ceil(7) as usize }
}

/// Maps a signed number to an unsigned one, so that small absolute values become small numbers.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The reverse of [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_truncated_or_overlong_number_is_refused() {
        assert_eq!(take(&mut [].as_slice()), None);
        assert_eq!(take(&mut [0x80].as_slice()), None);
        assert_eq!(take(&mut [0xff; 10].as_slice()), None);
        assert_eq!(take_u32(&mut [0xff, 0xff, 0xff, 0xff, 0x10].as_slice()), None);
    }

    proptest! {
        #[test]
        fn every_number_round_trips(bits in 0_u32..64, noise in any::<u64>()) {
            let number = noise >> bits;
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(take(&mut rest), Some(number));
            prop_assert_eq!(rest, &[7]);
            prop_assert_eq!(bytes.len() - 1, length(u64::BITS - number.leading_zeros()));
        }

        #[test]
        fn signed_numbers_round_trip(value in any::<i64>()) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
