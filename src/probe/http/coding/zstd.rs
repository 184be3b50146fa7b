//! Zstandard within bounded memory (RFC 8878).
//!
//! Each frame announces its window in its header, and the decoder allocates all of it. Windows above 8 MiB, which the
//! RFC recommends decoders to support and browsers take as their limit, are refused before anything is allocated. No
//! reference reaches further back than the data decoded before it, so if less than a window is read, the header is
//! rewritten to announce less.

use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

use super::decoder::{ContentCoding, ContentDecoder, DecodeStep, DecodingError};

const BROKEN: DecodingError = ContentCoding::Zstd.broken();

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const WINDOW_MAX_BYTES: u64 = 8 << 20;
/// Maximum size of a block; blocks are decoded as a whole, so the last one may exceed the limit by this.
const BLOCK_MAX_BYTES: u64 = 128 << 10;

const CHECKSUM: u8 = 0x04;
const SINGLE_SEGMENT: u8 = 0x20;
const DICTIONARY: u8 = 0x03;

/// The decoder of a sequence of frames.
pub(super) struct ZstdDecoder {
    decoder: Decoder<'static>,
    /// Maximum number of decoded bytes that are read.
    max_bytes: usize,
    /// The bytes of an incomplete header.
    header: Vec<u8>,
    /// True within a frame, after its header.
    is_in_frame: bool,
}

impl ZstdDecoder {
    pub(super) fn new(max_bytes: usize) -> Result<Self, DecodingError> {
        let decoder = Decoder::new().map_err(|_| BROKEN)?;
        Ok(Self { decoder, max_bytes, header: Vec::new(), is_in_frame: false })
    }

    /// Starts a frame: one whose header is complete, or one of a kind that has no such header.
    fn begin_frame(&mut self) -> Result<(), DecodingError> {
        let begun = match ZstdFrameHeader::parse(&self.header) {
            ZstdFrameStart::Header(header) => header.admit(self.max_bytes)?,
            // A skippable frame, or no frame at all: the decoder handles both, and neither has a window.
            ZstdFrameStart::Foreign | ZstdFrameStart::Incomplete { .. } => std::mem::take(&mut self.header),
        };
        self.header.clear();
        self.is_in_frame = true;
        // A header produces no output.
        self.decode(&begun, &mut [])?;
        Ok(())
    }

    /// Decodes up to the end of the frame.
    fn decode(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let (mut input, mut output) = (InBuffer::around(coded), OutBuffer::around(room));
        let hint = self.decoder.run(&mut input, &mut output).map_err(|_| BROKEN)?;
        if hint == 0 {
            self.is_in_frame = false;
        }
        Ok(DecodeStep { taken: input.pos(), given: output.pos() })
    }
}

impl ContentDecoder for ZstdDecoder {
    fn step(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        if self.is_in_frame {
            return self.decode(coded, room);
        }
        let taken = match ZstdFrameHeader::parse(&self.header) {
            ZstdFrameStart::Incomplete { missing } => missing.min(coded.len()),
            ZstdFrameStart::Header(_) | ZstdFrameStart::Foreign => 0,
        };
        self.header.extend_from_slice(&coded[..taken]);
        if !ZstdFrameHeader::needs_more(&self.header) {
            self.begin_frame()?;
        }
        Ok(DecodeStep { taken, given: 0 })
    }

    fn is_complete(&self) -> bool {
        !self.is_in_frame && self.header.is_empty()
    }
}

/// The header of a frame.
#[derive(Debug, PartialEq, Eq)]
struct ZstdFrameHeader {
    descriptor: u8,
    window_bytes: u64,
    dictionary: Vec<u8>,
    bytes: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum ZstdFrameStart {
    Header(ZstdFrameHeader),
    /// Not the header of a frame with a window.
    Foreign,
    /// At least this many bytes more are needed.
    Incomplete {
        missing: usize,
    },
}

impl ZstdFrameHeader {
    fn needs_more(bytes: &[u8]) -> bool {
        matches!(Self::parse(bytes), ZstdFrameStart::Incomplete { .. })
    }

    fn parse(bytes: &[u8]) -> ZstdFrameStart {
        let common = bytes.len().min(MAGIC.len());
        if bytes[..common] != MAGIC[..common] {
            return ZstdFrameStart::Foreign;
        }
        let Some(&descriptor) = bytes.get(MAGIC.len()) else {
            return ZstdFrameStart::Incomplete { missing: MAGIC.len() + 1 - bytes.len() };
        };
        let is_single = descriptor & SINGLE_SEGMENT != 0;
        let window_at = MAGIC.len() + 1;
        let dictionary_at = window_at + usize::from(!is_single);
        let content_at = dictionary_at + [0, 1, 2, 4][usize::from(descriptor & DICTIONARY)];
        let content_size_bytes = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
        let end = content_at + content_size_bytes;
        if bytes.len() < end {
            return ZstdFrameStart::Incomplete { missing: end - bytes.len() };
        }
        let window_bytes =
            if is_single { content_size(&bytes[content_at..end]) } else { window_size(bytes[window_at]) };
        let dictionary = bytes[dictionary_at..content_at].to_vec();
        ZstdFrameStart::Header(Self { descriptor, window_bytes, dictionary, bytes: bytes[..end].to_vec() })
    }

    /// Returns the header for the decoder, with a window that suffices for the first `max_bytes` of the body.
    fn admit(self, max_bytes: usize) -> Result<Vec<u8>, DecodingError> {
        if self.window_bytes > WINDOW_MAX_BYTES {
            return Err(DecodingError::Window { max_mebibytes: 8 });
        }
        let enough = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(BLOCK_MAX_BYTES);
        if self.window_bytes <= enough {
            return Ok(self.bytes);
        }
        let Some(window) = (0..=u8::MAX).find(|byte| window_size(*byte) >= enough) else {
            return Ok(self.bytes);
        };
        // The content size is omitted; it is optional where a window is announced.
        let descriptor = self.descriptor & (CHECKSUM | DICTIONARY);
        Ok([&MAGIC[..], &[descriptor, window], &self.dictionary].concat())
    }
}

/// Decodes a window size (section 3.1.1.1.2): five bits of exponent, three of mantissa.
const fn window_size(byte: u8) -> u64 {
    let base = 1 << (10 + (byte >> 3));
    base + base / 8 * (byte & 7) as u64
}

/// Decodes a content size (section 3.1.1.1.4): 256 is added to a size of two bytes.
fn content_size(bytes: &[u8]) -> u64 {
    let size = bytes.iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
    if bytes.len() == 2 { size + 256 } else { size }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIMIT: usize = 512 << 10;

    fn admitted(header: &[u8]) -> Result<Vec<u8>, DecodingError> {
        match ZstdFrameHeader::parse(&[&MAGIC, header].concat()) {
            ZstdFrameStart::Header(header) => header.admit(LIMIT).map(|bytes| bytes[MAGIC.len()..].to_vec()),
            other => panic!("{other:?}"),
        }
    }

    #[rstest]
    #[case::small_ones_stay(&[0x04, 0x48], Ok(vec![0x04, 0x48]))]
    #[case::two_mebibytes_as_level_three_writes(&[0x04, 0x58], Ok(vec![0x04, 0x4a]))]
    #[case::eight_mebibytes(&[0x00, 0x68], Ok(vec![0x00, 0x4a]))]
    #[case::more_than_eight(&[0x00, 0x69], Err(DecodingError::Window { max_mebibytes: 8 }))]
    #[case::a_hundred(&[0x00, 0x84], Err(DecodingError::Window { max_mebibytes: 8 }))]
    #[case::a_known_small_size(&[0x20, 5], Ok(vec![0x20, 5]))]
    #[case::a_known_size_of_four_mebibytes(&[0xa4, 0, 0, 0x40, 0], Ok(vec![0x04, 0x4a]))]
    #[case::a_known_size_of_a_gibibyte(&[0xa0, 0, 0, 0, 0x40], Err(DecodingError::Window { max_mebibytes: 8 }))]
    #[case::with_a_dictionary(&[0x01, 0x58, 7], Ok(vec![0x01, 0x4a, 7]))]
    fn the_window_is_limited_to_the_read_size(
        #[case] header: &[u8],
        #[case] expected: Result<Vec<u8>, DecodingError>,
    ) {
        assert_eq!(admitted(header), expected);
    }

    #[test]
    fn an_incomplete_header_is_awaited() {
        let header = [&MAGIC[..], &[0xa4, 0, 0, 0x40, 0]].concat();
        for length in 0..header.len() {
            assert!(ZstdFrameHeader::needs_more(&header[..length]), "{length}");
        }
        assert!(!ZstdFrameHeader::needs_more(&header));
        assert_eq!(ZstdFrameHeader::parse(b"PK"), ZstdFrameStart::Foreign);
    }
}
