//! The texts of failures: each distinct text is stored once, and all of them are compressed with zstd if this helps.
//!
//! ```text
//! texts = 0 | (length, UTF-8)…        or        1 | length of the plain form | plain form, compressed with zstd
//! ```

use std::collections::HashMap;

use super::error::BlockError;
use super::wire::ByteReader;
use crate::model::varint;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// Minimum size in bytes for zstd; shorter texts do not get smaller.
const ZSTD_FROM_BYTES: usize = 96;
/// The default level of zstd; higher levels gain nothing on a few kilobytes.
const ZSTD_LEVEL: i32 = 3;
/// Maximum size in bytes for zstd. Larger texts are stored uncompressed, which bounds the allocation for a damaged length.
const ZSTD_MOST_BYTES: usize = 16 * 1024 * 1024;

/// The distinct texts of a block, and for each failure the number of its text.
#[derive(Debug, Default)]
pub(super) struct FailureTexts<'a> {
    different: Vec<&'a str>,
    numbers: HashMap<&'a str, u64>,
    pub(super) of_failure: Vec<u64>,
}

impl<'a> FailureTexts<'a> {
    /// Adds the text of the next failure.
    pub(super) fn push(&mut self, text: &'a str) {
        let number = *self.numbers.entry(text).or_insert_with(|| {
            self.different.push(text);
            self.different.len() as u64 - 1
        });
        self.of_failure.push(number);
    }

    /// Appends the encoded distinct texts; appends nothing if there are none.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.different.is_empty() {
            return;
        }
        let mut plain = Vec::new();
        for text in &self.different {
            varint::put(&mut plain, text.len() as u64);
            plain.extend_from_slice(text.as_bytes());
        }
        if (ZSTD_FROM_BYTES..=ZSTD_MOST_BYTES).contains(&plain.len())
            && let Ok(compressed) = zstd::bulk::compress(&plain, ZSTD_LEVEL)
            && compressed.len() + 4 < plain.len()
        {
            out.push(ZSTD);
            varint::put(out, plain.len() as u64);
            out.extend_from_slice(&compressed);
        } else {
            out.push(PLAIN);
            out.extend_from_slice(&plain);
        }
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Box<str>>, BlockError> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = ByteReader::new(bytes);
    match reader.byte()? {
        PLAIN => split(reader.rest()),
        ZSTD => {
            let length = reader.count(ZSTD_MOST_BYTES)?;
            let plain = zstd::bulk::decompress(reader.rest(), length)
                .map_err(|_| BlockError::Malformed("zstd cannot read it"))?;
            split(&plain)
        }
        _ => Err(BlockError::Malformed("an unknown codec")),
    }
}

fn split(plain: &[u8]) -> Result<Vec<Box<str>>, BlockError> {
    let mut reader = ByteReader::new(plain);
    let mut texts = Vec::new();
    while !reader.rest().is_empty() {
        let length = reader.count(plain.len())?;
        let text = str::from_utf8(reader.take(length)?);
        texts.push(text.map_err(|_| BlockError::Malformed("a text is not UTF-8"))?.into());
    }
    Ok(texts)
}
