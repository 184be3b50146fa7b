//! The codings `deflate` and raw deflate. Their windows are 32 KiB by definition.
//!
//! Some servers send raw deflate data where the zlib format is meant (RFC 9110, section 8.4.1.2). The first two bytes
//! distinguish them.

use flate2::{Decompress, FlushDecompress, Status};

use super::decoder::{ContentCoding, ContentDecoder, DecodeStep, DecodingError};

const BROKEN: DecodingError = ContentCoding::Deflate.broken();

/// A stream of zlib or raw deflate data.
#[derive(Default)]
pub(super) struct DeflateDecoder {
    /// Created when the format is known.
    inflate: Option<Decompress>,
    /// The first byte, until the second one arrives.
    first: Option<u8>,
    has_ended: bool,
    /// True if raw deflate data are an error.
    must_be_zlib: bool,
}

impl DeflateDecoder {
    /// Creates a stream of zlib data.
    pub(super) fn zlib() -> Self {
        Self { must_be_zlib: true, ..Self::default() }
    }

    fn inflate_some(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let Some(decoder) = self.inflate.as_mut().filter(|_| !self.has_ended) else {
            return Ok(DecodeStep::default());
        };
        let (step, has_ended) = inflate(decoder, coded, room).ok_or(BROKEN)?;
        self.has_ended = has_ended;
        Ok(step)
    }
}

impl ContentDecoder for DeflateDecoder {
    fn step(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let Some(&next) = coded.first() else {
            return self.inflate_some(coded, room);
        };
        match (&self.inflate, self.first) {
            (Some(_), _) => self.inflate_some(coded, room),
            (None, None) => {
                self.first = Some(next);
                Ok(DecodeStep { taken: 1, given: 0 })
            }
            (None, Some(first)) => {
                let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, next]) % 31 == 0;
                if self.must_be_zlib && !is_zlib {
                    return Err(BROKEN);
                }
                self.inflate = Some(Decompress::new(is_zlib));
                let begun = self.inflate_some(&[first], room)?;
                if begun.taken == 1 && begun.given == 0 {
                    self.inflate_some(coded, room)
                } else {
                    Err(BROKEN)
                }
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.has_ended
    }
}

/// Runs one step of an inflater. The flag is true when the data have ended; `None` means that the data are
/// invalid.
pub(super) fn inflate(inflate: &mut Decompress, coded: &[u8], room: &mut [u8]) -> Option<(DecodeStep, bool)> {
    let (taken, given) = (inflate.total_in(), inflate.total_out());
    let status = inflate.decompress(coded, room, FlushDecompress::None).ok()?;
    let step = DecodeStep {
        taken: usize::try_from(inflate.total_in() - taken).ok()?,
        given: usize::try_from(inflate.total_out() - given).ok()?,
    };
    Some((step, status == Status::StreamEnd))
}
