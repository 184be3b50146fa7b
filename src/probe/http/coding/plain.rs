//! The body as it was before it was coded, up to a limit.
//!
//! What a decoder writes beyond the limit is dropped: whoever feeds the decoder asks [`Plain::is_full`] and stops.

use std::io::{self, Write};

use crate::probe::http::bounded::append;

/// Decoded bytes, at most `max_bytes` of them.
#[derive(Debug)]
pub(super) struct Plain {
    bytes: Vec<u8>,
    max_bytes: usize,
}

impl Plain {
    pub(super) const fn new(max_bytes: usize) -> Self {
        Self { bytes: Vec::new(), max_bytes }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes.len() >= self.max_bytes
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Write for Plain {
    fn write(&mut self, decoded: &[u8]) -> io::Result<usize> {
        append(&mut self.bytes, decoded, self.max_bytes);
        Ok(decoded.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
