//! The codings that are made of deflate: gzip, zlib, and bare deflate. Their windows are 32 KiB by definition.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::plain::Plain;
use super::{Refusal, Undo};

/// One of them.
pub(super) enum Deflate {
    /// One or more members. Boxed: their headers are large.
    Gzip(Box<MultiGzDecoder<Plain>>),
    Zlib(ZlibDecoder<Plain>),
    Bare(DeflateDecoder<Plain>),
}

impl Deflate {
    pub(super) fn gzip(max_bytes: usize) -> Self {
        Self::Gzip(Box::new(MultiGzDecoder::new(Plain::new(max_bytes))))
    }

    /// Some servers send bare deflate data where the zlib format is meant (RFC 9110, section 8.4.1.2).
    pub(super) fn zlib_or_bare(coded: &[u8], max_bytes: usize) -> Self {
        let plain = Plain::new(max_bytes);
        if is_zlib(coded) {
            Self::Zlib(ZlibDecoder::new(plain))
        } else {
            Self::Bare(DeflateDecoder::new(plain))
        }
    }

    fn decoder(&mut self) -> &mut dyn Write {
        match self {
            Self::Gzip(decoder) => decoder,
            Self::Zlib(decoder) => decoder,
            Self::Bare(decoder) => decoder,
        }
    }
}

impl Undo for Deflate {
    fn feed(&mut self, coded: &[u8]) -> Result<(), Refusal> {
        let mut rest = coded;
        while !rest.is_empty() {
            match self.decoder().write(rest)? {
                0 => break, // The stream has ended; what follows belongs to nobody.
                taken => rest = &rest[taken..],
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Bare(decoder) => decoder.try_finish(),
        }
    }

    fn plain(&mut self) -> &mut Plain {
        match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Bare(decoder) => decoder.get_mut(),
        }
    }
}

fn is_zlib(coded: &[u8]) -> bool {
    match coded {
        [method, flags, ..] => method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0,
        _ => false,
    }
}
