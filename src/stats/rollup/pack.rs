//! Compresses the nodes of a rollup with zstd. They take a few hundred bytes, so zstd contexts are kept per thread:
//! creating a context costs more than using it.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

use crate::model::varint;
use crate::stats::rollup::error::RollupError;

const LEVEL: i32 = 3;
/// Maximum size of uncompressed nodes in bytes; even a day with a check each millisecond fits.
const MAX_BYTES: usize = 1 << 20;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Appends `plain` compressed or as it is, whichever is shorter. The result extends to the end of `bytes`.
pub(super) fn put(bytes: &mut Vec<u8>, plain: &[u8]) {
    let packed = COMPRESSOR.with_borrow_mut(|cached| {
        if cached.is_none() {
            *cached = Compressor::new(LEVEL).ok();
        }
        cached.as_mut().and_then(|compressor| compressor.compress(plain).ok())
    });
    match packed.filter(|packed| packed.len() < plain.len() && plain.len() <= MAX_BYTES) {
        Some(packed) => {
            varint::put(bytes, plain.len() as u64);
            bytes.extend(packed);
        }
        None => {
            varint::put(bytes, 0);
            bytes.extend(plain);
        }
    }
}

/// Reads the output of [`put`] into `plain`.
pub(super) fn take(mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<(), RollupError> {
    let length = varint::take(&mut bytes).ok_or(RollupError("it ends early"))?;
    plain.clear();
    if length == 0 {
        plain.extend(bytes);
        return Ok(());
    }
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_BYTES);
    let length = length.ok_or(RollupError("its parts are too long"))?;
    plain.reserve(length);
    let unpacked = DECOMPRESSOR.with_borrow_mut(|cached| {
        if cached.is_none() {
            *cached = Decompressor::new().ok();
        }
        cached.as_mut()?.decompress_to_buffer(bytes, plain).ok()
    });
    if unpacked != Some(length) {
        return Err(RollupError("its parts cannot be unpacked"));
    }
    Ok(())
}
