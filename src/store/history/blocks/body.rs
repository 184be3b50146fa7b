//! The layout of a block's body: version, head, columns, checksum.
//!
//! Opening a body verifies its checksum and locates its columns, without decoding them.

use super::error::{BlockError, MAX_CHECKS};
use super::prediction::ColumnPrediction;
use super::wire::ByteReader;
use crate::model::varint;

/// Version of the layout, the first byte of a body; readers refuse any other.
const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 4;

pub(super) const COLUMNS: usize = 13;

/// The columns in their order in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockColumn {
    Deviation = 0,
    Lateness,
    Kinds,
    KindOfCheck,
    /// The first of the five columns of phases: the others follow it.
    Dns,
    Total = 9,
    Response,
    TextOfFailure,
    Texts,
}

/// Names of the columns for statistics, in their order in a body.
const NAMES: [&str; COLUMNS] = [
    "scheduled_at",
    "checked_at",
    "kinds",
    "kind of check",
    "dns",
    "connect",
    "tls",
    "ttfb",
    "transfer",
    "total",
    "response",
    "text of failure",
    "texts",
];

/// The fields of a body that precede the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHead {
    pub(super) checks: usize,
    pub(super) prediction: ColumnPrediction,
    /// `scheduled_at` of the first check, in Unix milliseconds.
    pub(super) first_scheduled: i64,
    /// Usual time from one `scheduled_at` to the next, in milliseconds.
    pub(super) interval: i64,
}

pub(super) fn write(head: BlockHead, columns: &[Vec<u8>; COLUMNS]) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + columns.iter().map(|column| column.len() + 3).sum::<usize>());
    out.push(VERSION);
    varint::put(&mut out, head.checks as u64);
    out.push(head.prediction.byte());
    varint::put(&mut out, varint::zigzag(head.first_scheduled));
    varint::put(&mut out, varint::zigzag(head.interval));
    let present = columns.iter().enumerate().filter(|(_, column)| !column.is_empty());
    let present = present.fold(0_u16, |present, (index, _)| present | 1 << index);
    out.extend_from_slice(&present.to_le_bytes());
    for column in columns.iter().filter(|column| !column.is_empty()) {
        varint::put(&mut out, column.len() as u64);
        out.extend_from_slice(column);
    }
    let checksum = crc32fast::hash(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// The body of a block, opened for reading.
#[derive(Clone, Copy, Debug)]
pub struct BlockBody<'a> {
    pub(super) head: BlockHead,
    columns: [&'a [u8]; COLUMNS],
}

impl<'a> BlockBody<'a> {
    /// Verifies the checksum of the body and locates its columns.
    ///
    /// # Errors
    ///
    /// When the body is damaged, or its version is unknown.
    pub fn open(bytes: &'a [u8]) -> Result<Self, BlockError> {
        let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(BlockError::Checksum)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(BlockError::Checksum);
        }
        let mut reader = ByteReader::new(content);
        let version = reader.byte()?;
        if version != VERSION {
            return Err(BlockError::Version(version));
        }
        let head = BlockHead {
            checks: reader.count(MAX_CHECKS)?,
            prediction: ColumnPrediction::from_byte(reader.byte()?)?,
            first_scheduled: varint::unzigzag(reader.number()?),
            interval: varint::unzigzag(reader.number()?),
        };
        let present = u16::from_le_bytes([reader.byte()?, reader.byte()?]);
        let mut columns: [&[u8]; COLUMNS] = [&[]; COLUMNS];
        for (index, column) in columns.iter_mut().enumerate() {
            if present >> index & 1 == 1 {
                let length = reader.count(content.len())?;
                *column = reader.take(length)?;
            }
        }
        reader.end()?;
        Ok(Self { head, columns })
    }

    /// Number of checks in the body.
    #[must_use]
    pub const fn checks(&self) -> usize {
        self.head.checks
    }

    /// Name and encoded size of each column in bytes, without head, lengths and checksum.
    pub fn column_bytes(&self) -> impl Iterator<Item = (&'static str, usize)> {
        NAMES.into_iter().zip(self.columns.map(<[u8]>::len))
    }

    pub(super) const fn column(&self, column: BlockColumn) -> &'a [u8] {
        self.columns[column as usize]
    }

    /// The column of a phase; for the implied phase, the column holds overheads instead.
    pub(super) fn phase(&self, phase: usize) -> &'a [u8] {
        self.columns[BlockColumn::Dns as usize + phase]
    }
}
