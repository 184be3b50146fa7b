//! Numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit set on all but the last.
//!
//! What cannot be read is `None`: bytes that end too early, and numbers beyond 64 bits.

/// Appends a number.
pub(in crate::stats) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(0x80 | number.to_le_bytes()[0]);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes a number from the front of `bytes`.
pub(in crate::stats) fn take(bytes: &mut &[u8]) -> Option<u64> {
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

/// Takes a number that fits into 32 bits from the front of `bytes`.
pub(in crate::stats) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes).and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_that_is_cut_or_too_long_is_none() {
        assert_eq!(take(&mut [].as_slice()), None);
        assert_eq!(take(&mut [0x80].as_slice()), None);
        assert_eq!(take(&mut [0xff; 10].as_slice()), None);
        assert_eq!(take_u32(&mut [0xff, 0xff, 0xff, 0xff, 0x10].as_slice()), None);
    }

    proptest! {
        #[test]
        fn every_number_comes_back(bits in 0_u32..64, noise in any::<u64>()) {
            let number = noise >> bits;
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(take(&mut rest), Some(number));
            prop_assert_eq!(rest, &[7]);
        }
    }
}
