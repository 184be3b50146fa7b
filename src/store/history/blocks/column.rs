//! One column of numbers: a codec tag and the encoded values. Of the codecs that were tried, the one with the smallest
//! output is used.
//!
//! | codec | made for |
//! |---|---|
//! | no bytes | only zeros |
//! | constant | the same number throughout |
//! | runs | few changes: kinds |
//! | packed | short columns; rare outliers: deviations of the schedule |
//! | pco | widely spread values: lateness, phases, totals |
//!
//! pco (Pcodec) stores a number as an entropy-coded bin and an offset within the bin. Its automatic choice of mode and
//! delta encoding is off: columns are already stored relative to a prediction (`prediction`), and the search costs more
//! time than the rest of the encoding.

use pco::data_types::Number;
use pco::wrapped::{FileCompressor, FileDecompressor};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

use super::error::{BlockError, MAX_CHECKS};
use super::integer::{ColumnInteger, narrow};
use super::packed::{self, BitPacking};
use super::wire::ByteReader;
use crate::model::varint;

const CONSTANT: u8 = 1;
const RUNS: u8 = 2;
const PACKED: u8 = 3;
const PCO_32: u8 = 4;
const PCO_64: u8 = 5;

/// Minimum number of values for pco. In shorter columns its table of bins costs more bytes than it saves, and building
/// the table takes more time than everything else.
pub(super) const PCO_FROM: usize = 192;
/// Minimum number of values for the slower level: blocks of this size are kept for long, so a smaller size is worth
/// twice the time.
const LONG_FROM: usize = 1_024;
/// Compression levels of pco, which go up to 12. Measured on HTTP checks: in short columns no level above 4 is smaller; in
/// long ones level 8 saves 1.7 % against 4, and 12 another 0.1 % for six times the time.
const LEVEL_OF_SHORT: usize = 4;
const LEVEL_OF_LONG: usize = 8;

/// Appends the encoded `values`; appends nothing if all of them are zero.
pub(super) fn write(values: &[u64], out: &mut Vec<u8>) {
    let Some(first) = values.first() else { return };
    if values.iter().all(|value| value == first) {
        if *first != 0 {
            out.push(CONSTANT);
            varint::put(out, *first);
        }
        return;
    }
    let start = out.len();
    let packing = BitPacking::of(values);
    out.push(PACKED);
    packing.write(values, out);
    replace_if_shorter(out, start, |other| write_runs(values, other));
    if values.len() >= PCO_FROM && packing.bytes > values.len() / 4 {
        replace_if_shorter(out, start, |other| write_pco(values, other));
    }
}

/// Decodes `count` numbers.
pub(super) fn read<T: ColumnInteger>(bytes: &[u8], count: usize) -> Result<Vec<T>, BlockError> {
    debug_assert!(count <= MAX_CHECKS, "the count of a body is bounded");
    let mut reader = ByteReader::new(bytes);
    if bytes.is_empty() {
        return Ok(vec![T::default(); count]);
    }
    match reader.byte()? {
        CONSTANT => {
            let value = narrow(reader.number()?)?;
            reader.end()?;
            Ok(vec![value; count])
        }
        RUNS => read_runs(reader, count),
        PACKED => packed::read(reader, count),
        PCO_32 => T::from_narrow(read_pco(reader.rest(), count)?),
        PCO_64 => T::from_wide(read_pco(reader.rest(), count)?),
        _ => Err(BlockError::Malformed("an unknown codec")),
    }
}

/// Encodes the values again with `write`, and replaces the bytes from `start` on if the result is shorter. `write` returns
/// false if the codec cannot encode the values.
fn replace_if_shorter(out: &mut Vec<u8>, start: usize, write: impl FnOnce(&mut Vec<u8>) -> bool) {
    let end = out.len();
    if write(out) && out.len() - end < end - start {
        out.drain(start..end);
    } else {
        out.truncate(end);
    }
}

fn write_runs(values: &[u64], out: &mut Vec<u8>) -> bool {
    let runs = values.chunk_by(PartialEq::eq);
    if runs.clone().nth(values.len() / 8 + 1).is_some() {
        return false;
    }
    out.push(RUNS);
    for run in runs {
        varint::put(out, run.first().copied().unwrap_or_default());
        varint::put(out, run.len() as u64);
    }
    true
}

fn read_runs<T: ColumnInteger>(mut reader: ByteReader<'_>, count: usize) -> Result<Vec<T>, BlockError> {
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let value = narrow(reader.number()?)?;
        let length = reader.count(count - values.len())?;
        values.resize(values.len() + length, value);
    }
    reader.end()?;
    Ok(values)
}

fn write_pco(values: &[u64], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let narrow: Result<Vec<u32>, _> = values.iter().map(|value| u32::try_from(*value)).collect();
    let written = match narrow {
        Ok(narrow) => {
            out.push(PCO_32);
            compress(&narrow, out)
        }
        Err(_) => {
            out.push(PCO_64);
            compress(values, out)
        }
    };
    if written.is_err() {
        out.truncate(start);
    }
    written.is_ok()
}

fn compress<T: Number>(values: &[T], out: &mut Vec<u8>) -> pco::errors::PcoResult<()> {
    let level = if values.len() < LONG_FROM { LEVEL_OF_SHORT } else { LEVEL_OF_LONG };
    let config = ChunkConfig::default()
        .with_compression_level(level)
        .with_mode_spec(ModeSpec::Classic)
        .with_delta_spec(DeltaSpec::NoOp)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(MAX_CHECKS));
    let file = FileCompressor::default();
    file.write_header(&mut *out)?;
    let mut chunk = file.chunk_compressor(values, &config)?;
    chunk.write_meta(&mut *out)?;
    chunk.write_page(0, &mut *out)?;
    Ok(())
}

fn read_pco<T: Number + Default>(bytes: &[u8], count: usize) -> Result<Vec<T>, BlockError> {
    let broken = |_| BlockError::Malformed("pco cannot read it");
    let (file, rest) = FileDecompressor::new(bytes).map_err(broken)?;
    let (mut chunk, rest) = file.chunk_decompressor::<T, _>(rest).map_err(broken)?;
    let mut values = vec![T::default(); count];
    let mut page = chunk.page_decompressor(rest, count).map_err(broken)?;
    page.read(&mut values).map_err(broken)?;
    ByteReader::new(page.into_src()).end()?;
    Ok(values)
}
