//! Brotli within bounded memory (RFC 7932).
//!
//! A stream announces its window in its first bits, and the decoder allocates all of it at once: up to 16 MiB, and up
//! to 1 GiB for the "large window" extension that is not in the RFC. No reference reaches further back than the data
//! decoded before it, so a body that is read up to a limit needs no larger window; the announcement is lowered to that.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::decoder::{ContentCoding, ContentDecoder, DecodeStep, DecodingError, WINDOW_GAP_BYTES};

/// The first seven bits of a stream with a window that only the "large window" variant has.
const LARGE_WINDOW: u8 = 0x11;
/// Window sizes (as powers of two) with an announcement of four bits; all other announcements are of smaller
/// windows.
const LOWERED_BITS: std::ops::Range<u32> = 18..24;

pub(super) struct BrotliDecoder {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    /// Maximum number of decoded bytes that are read.
    max_bytes: usize,
    has_begun: bool,
    has_ended: bool,
}

impl BrotliDecoder {
    pub(super) fn new(max_bytes: usize) -> Self {
        let alloc = StandardAlloc::default;
        Self {
            state: BrotliState::new_strict(alloc(), alloc(), alloc()),
            max_bytes,
            has_begun: false,
            has_ended: false,
        }
    }

    /// Returns the first byte, changed to announce a window no larger than the read limit.
    fn admit(&self, first: u8) -> Result<u8, DecodingError> {
        if first & 0x7f == LARGE_WINDOW {
            return Err(DecodingError::Window { max_mebibytes: 16 });
        }
        let announced = (first >> 1) & 7; // Four bits: 1, then 17 less than the window's power of two.
        if first & 1 == 0 || announced == 0 {
            return Ok(first);
        }
        let suffices = |bits: &u32| (1_usize << *bits) - WINDOW_GAP_BYTES >= self.max_bytes;
        let enough = LOWERED_BITS.clone().find(suffices).and_then(|bits| u8::try_from(bits - 17).ok());
        Ok((first & !0x0e) | (announced.min(enough.unwrap_or(announced)) << 1))
    }

    fn decode(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let (mut available, mut taken, mut free, mut given, mut total) = (coded.len(), 0, room.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut available,
            &mut taken,
            coded,
            &mut free,
            &mut given,
            room,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultSuccess => self.has_ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err(ContentCoding::Brotli.broken()),
        }
        Ok(DecodeStep { taken, given })
    }
}

impl ContentDecoder for BrotliDecoder {
    fn step(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        match coded {
            _ if self.has_ended => Ok(DecodeStep::default()),
            [first, ..] if !self.has_begun => {
                self.has_begun = true;
                let first = self.admit(*first)?;
                self.decode(&[first], room)
            }
            _ => self.decode(coded, room),
        }
    }

    fn is_complete(&self) -> bool {
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::four_mebibytes_become_one(0b1011, Ok(0b0111))]
    #[case::sixteen_mebibytes_become_one(0b1111, Ok(0b0111))]
    #[case::the_bits_behind_stay(0b1010_1111, Ok(0b1010_0111))]
    #[case::smaller_ones_stay(0b0011, Ok(0b0011))]
    #[case::sixty_four_kibibytes_in_one_bit(0b0110, Ok(0b0110))]
    #[case::seven_bits(0b010_0001, Ok(0b010_0001))]
    #[case::large_window(0x91, Err(DecodingError::Window { max_mebibytes: 16 }))]
    fn the_window_is_limited_to_the_read_size(
        #[case] first: u8,
        #[case] expected: Result<u8, DecodingError>,
    ) {
        assert_eq!(BrotliDecoder::new(512 << 10).admit(first), expected);
    }
}
