//! Gzip (RFC 1952): one or more members, each a header, deflated data and a trailer.
//!
//! As in browsers and gzip(1), other bytes after the last member are ignored, and so is a missing trailer. A checksum
//! that is present must be right. As in curl and browsers, zlib data are decoded too.

use flate2::Decompress;

use super::decoder::{ContentCoding, ContentDecoder, DecodeStep, DecodingError};
use super::deflate::{DeflateDecoder, inflate};

const BROKEN: DecodingError = ContentCoding::Gzip.broken();
const FIXED_BYTES: u16 = 10;
/// Length of a member's trailer: a checksum and the uncompressed length.
const TRAILER_BYTES: usize = 8;

const HAS_CHECKSUM: u8 = 0x02;
const HAS_EXTRA: u8 = 0x04;
const HAS_NAME: u8 = 0x08;
const HAS_COMMENT: u8 = 0x10;

/// The decoder of a sequence of gzip members.
pub(super) struct GzipDecoder {
    inflate: Decompress,
    stage: GzipStage,
    checksum: crc32fast::Hasher,
    has_member: bool,
}

enum GzipStage {
    Header(HeaderReader),
    Data,
    Trailer(Vec<u8>),
    /// Zlib data instead of a member.
    Zlib(DeflateDecoder),
    /// After the last member.
    Ended,
}

impl GzipDecoder {
    pub(super) fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            stage: GzipStage::Header(HeaderReader::default()),
            checksum: crc32fast::Hasher::new(),
            has_member: false,
        }
    }

    fn inflate(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let (step, has_ended) = inflate(&mut self.inflate, coded, room).ok_or(BROKEN)?;
        self.checksum.update(&room[..step.given]);
        if has_ended {
            self.stage = GzipStage::Trailer(Vec::with_capacity(TRAILER_BYTES));
        }
        Ok(step)
    }

    fn end_member(&mut self, trailer: &[u8]) -> Result<(), DecodingError> {
        let checksum = std::mem::take(&mut self.checksum).finalize();
        if trailer[..4] != checksum.to_le_bytes() {
            return Err(BROKEN);
        }
        self.inflate.reset(false);
        self.has_member = true;
        self.stage = GzipStage::Header(HeaderReader::default());
        Ok(())
    }
}

impl ContentDecoder for GzipDecoder {
    fn step(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError> {
        let mut taken = 0;
        loop {
            match &mut self.stage {
                GzipStage::Data => {
                    let step = self.inflate(&coded[taken..], room)?;
                    return Ok(DecodeStep { taken: taken + step.taken, ..step });
                }
                GzipStage::Ended => return Ok(DecodeStep { taken, given: 0 }),
                GzipStage::Zlib(data) => return data.step(coded, room).map_err(|_| BROKEN),
                _ if taken == coded.len() => return Ok(DecodeStep { taken, given: 0 }),
                GzipStage::Header(header) if !self.has_member && header.may_be_zlib(coded[taken]) => {
                    self.stage = GzipStage::Zlib(DeflateDecoder::zlib());
                }
                GzipStage::Header(header) => match header.read(coded[taken]) {
                    Some(is_done) => {
                        taken += 1;
                        if is_done {
                            self.stage = GzipStage::Data;
                        }
                    }
                    None if self.has_member => self.stage = GzipStage::Ended,
                    None => return Err(BROKEN),
                },
                GzipStage::Trailer(trailer) => {
                    trailer.push(coded[taken]);
                    taken += 1;
                    if trailer.len() == TRAILER_BYTES {
                        let trailer = std::mem::take(trailer);
                        self.end_member(&trailer)?;
                    }
                }
            }
        }
    }

    fn is_complete(&self) -> bool {
        match self.stage {
            GzipStage::Header(_) => self.has_member,
            GzipStage::Data => false,
            GzipStage::Zlib(ref data) => data.is_complete(),
            GzipStage::Trailer(_) | GzipStage::Ended => true,
        }
    }
}

/// Reads the header of a member, byte by byte.
#[derive(Default)]
struct HeaderReader {
    flags: u8,
    part: HeaderPart,
}

enum HeaderPart {
    /// Number of received bytes of the ten mandatory ones.
    Fixed(u16),
    /// The length of the extra field; its first byte, once received.
    ExtraLength(Option<u8>),
    /// Number of remaining bytes of the extra field.
    Extra(u16),
    Name,
    Comment,
    /// Number of remaining bytes of the header checksum.
    Checksum(u16),
}

impl Default for HeaderPart {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

impl HeaderReader {
    /// Returns true for the first byte of zlib data (RFC 1950, section 2.2) in place of a header.
    const fn may_be_zlib(&self, byte: u8) -> bool {
        matches!(self.part, HeaderPart::Fixed(0)) && byte & 0x0f == 8
    }

    /// Reads the next byte. Returns true if the header is complete, `None` if the bytes are not a header.
    fn read(&mut self, byte: u8) -> Option<bool> {
        let next = match self.part {
            HeaderPart::Fixed(at) => {
                match at {
                    0 if byte != 0x1f => return None,
                    1 if byte != 0x8b => return None,
                    2 if byte != 8 => return None,
                    3 => self.flags = byte,
                    _ => {}
                }
                if at + 1 < FIXED_BYTES { Some(HeaderPart::Fixed(at + 1)) } else { self.next_part() }
            }
            HeaderPart::ExtraLength(None) => Some(HeaderPart::ExtraLength(Some(byte))),
            HeaderPart::ExtraLength(Some(low)) => match u16::from_le_bytes([low, byte]) {
                0 => self.next_part(),
                length => Some(HeaderPart::Extra(length)),
            },
            HeaderPart::Extra(left) if left > 1 => Some(HeaderPart::Extra(left - 1)),
            HeaderPart::Name if byte != 0 => Some(HeaderPart::Name),
            HeaderPart::Comment if byte != 0 => Some(HeaderPart::Comment),
            HeaderPart::Checksum(left) if left > 1 => Some(HeaderPart::Checksum(left - 1)),
            HeaderPart::Extra(_) | HeaderPart::Name | HeaderPart::Comment | HeaderPart::Checksum(_) => {
                self.next_part()
            }
        };
        let is_done = next.is_none();
        self.part = next.unwrap_or_default();
        Some(is_done)
    }

    /// Returns the next part announced by the flags; each part occurs once.
    fn next_part(&mut self) -> Option<HeaderPart> {
        for (flag, part) in [
            (HAS_EXTRA, HeaderPart::ExtraLength(None)),
            (HAS_NAME, HeaderPart::Name),
            (HAS_COMMENT, HeaderPart::Comment),
            (HAS_CHECKSUM, HeaderPart::Checksum(2)),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                return Some(part);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};

    use super::*;

    /// Decodes `coded` in pieces of `size` bytes.
    fn decoded(coded: &[u8], size: usize) -> Result<(Vec<u8>, bool), DecodingError> {
        let (mut gzip, mut plain, mut room) = (GzipDecoder::new(), Vec::new(), [0; 64]);
        for mut piece in coded.chunks(size) {
            loop {
                let step = gzip.step(piece, &mut room)?;
                plain.extend_from_slice(&room[..step.given]);
                piece = &piece[step.taken..];
                if step == DecodeStep::default() {
                    break;
                }
            }
        }
        Ok((plain, gzip.is_complete()))
    }

    fn member(text: &str) -> Vec<u8> {
        let builder = GzBuilder::new().extra(b"extra".to_vec()).filename("name").comment("comment");
        let mut encoder = builder.write(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_header_field_is_skipped() {
        let mut checked = member("hello");
        checked[3] |= HAS_CHECKSUM;
        let end = checked.windows(8).position(|window| window == b"comment\0").unwrap() + 8;
        checked.splice(end..end, [1, 2]);
        for size in [1, 7, 1000] {
            assert_eq!(decoded(&member("hello"), size), Ok((b"hello".to_vec(), true)));
            assert_eq!(decoded(&checked, size), Ok((b"hello".to_vec(), true)));
        }
    }

    #[test]
    fn data_after_the_last_member_is_ignored() {
        let members = [member("one "), member("two")].concat();
        for rest in [&[0; 512][..], b"junk", b"\x1f", b"\x1f\x8b\x08", b"\x1f\x8bjunk"] {
            let coded = [&members[..], rest].concat();
            for size in [1, 1000] {
                assert_eq!(decoded(&coded, size), Ok((b"one two".to_vec(), true)), "{rest:?}");
            }
        }
    }

    #[test]
    fn a_member_is_complete_with_its_data() {
        let coded = member("hello");
        let data_end = coded.len() - TRAILER_BYTES;
        assert!(decoded(&coded[..data_end + 3], 1).unwrap().1, "the trailer is cut");
        assert!(!decoded(&coded[..data_end - 1], 1).unwrap().1);
        assert!(!decoded(&coded[..5], 1).unwrap().1);
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut coded = member("hello");
        let at = coded.len() - TRAILER_BYTES;
        coded[at] ^= 1;
        assert_eq!(decoded(&coded, 1000), Err(BROKEN));
        assert_eq!(decoded(b"no gzip at all", 1000), Err(BROKEN));
    }
}
