//! The kind of a check: the fields that most checks of a block share, such as attempt, role, status, codes, and which
//! timings exist.
//!
//! A healthy series has one kind, a failing one a handful. A block lists its kinds once and stores the index of the kind for
//! each check. While nothing changes, these columns together take almost no space.

use std::collections::HashMap;

use super::entry::CheckEntry;
use super::error::BlockError;
use super::wire::ByteReader;
use crate::model::check::{CheckStatus, ErrorCode, PhaseTimings};
use crate::model::service::ProbeRole;
use crate::model::varint;

/// Number of phases of a check, not counting the total.
pub(super) const PHASES: usize = 5;

/// The fields that a check shares with other checks of its block. A block stores their combination as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedFields {
    pub(super) attempt: u8,
    pub(super) role: ProbeRole,
    pub(super) status: CheckStatus,
    pub(super) status_code: Option<u16>,
    pub(super) error: Option<ErrorCode>,
    /// True for each phase that was measured, in the order of the phase columns.
    pub(super) phases: [bool; PHASES],
    pub(super) has_total: bool,
    pub(super) has_response: bool,
}

impl SharedFields {
    pub(super) fn of(entry: &CheckEntry) -> Self {
        let measurement = &entry.measurement;
        Self {
            attempt: entry.attempt,
            role: entry.role,
            status: measurement.status,
            status_code: measurement.status_code,
            error: measurement.failure.as_ref().map(|failure| failure.code),
            phases: phases_of(&measurement.timings).map(|us| us != 0),
            has_total: measurement.timings.total.is_some(),
            has_response: measurement.response_time.is_some(),
        }
    }

    /// Packs the fields into bits: 0-4 phases, 5 total, 6 response, 7-8 status, 9 role, 10-15 error code, 16-23 attempt, 24
    /// has status code, 25-40 status code.
    fn number(self) -> u64 {
        let mut number = 0;
        for (bit, present) in self.phases.into_iter().enumerate() {
            number |= u64::from(present) << bit;
        }
        number |= u64::from(self.has_total) << 5;
        number |= u64::from(self.has_response) << 6;
        number |= u64::from(self.status as u8) << 7;
        number |= u64::from(self.role.code()) << 9;
        number |= self.error.map_or(0, |error| u64::from(error as u8)) << 10;
        number |= u64::from(self.attempt) << 16;
        number | self.status_code.map_or(0, |code| 1 << 24 | u64::from(code) << 25)
    }

    fn from_number(number: u64) -> Result<Self, BlockError> {
        let bit = |index: u32| number >> index & 1 == 1;
        let field = |index: u32, width: u32| number >> index & ((1 << width) - 1);
        let unknown = BlockError::Malformed("an unknown kind of check");
        let byte = |index: u32, width: u32| u8::try_from(field(index, width)).map_err(|_| unknown);
        let error = match byte(10, 6)? {
            0 => None,
            code => Some(ErrorCode::from_code(i16::from(code)).ok_or(unknown)?),
        };
        let kind = Self {
            attempt: byte(16, 8)?,
            role: ProbeRole::from_code(byte(9, 1)?).ok_or(unknown)?,
            status: CheckStatus::from_code(i16::from(byte(7, 2)?)).ok_or(unknown)?,
            status_code: if bit(24) {
                Some(u16::try_from(field(25, 16)).map_err(|_| unknown)?)
            } else {
                None
            },
            error,
            phases: [bit(0), bit(1), bit(2), bit(3), bit(4)],
            has_total: bit(5),
            has_response: bit(6),
        };
        if kind.number() == number { Ok(kind) } else { Err(unknown) }
    }
}

/// The durations of the phases in microseconds, in the order of their columns; 0 for a phase that was not measured.
pub(super) fn phases_of(timings: &PhaseTimings) -> [u32; PHASES] {
    let PhaseTimings { dns, connect, tls, ttfb, transfer, total: _ } = timings;
    [dns, connect, tls, ttfb, transfer].map(|us| us.map_or(0, std::num::NonZeroU32::get))
}

/// The distinct kinds of a block, and for each check the index of its kind.
#[derive(Debug, Default)]
pub(super) struct EntryKinds {
    pub(super) kinds: Vec<SharedFields>,
    pub(super) of_check: Vec<u64>,
}

impl EntryKinds {
    pub(super) fn of(entries: &[CheckEntry]) -> Self {
        let mut numbers: HashMap<u64, u64> = HashMap::new();
        let mut all = Self { kinds: Vec::new(), of_check: Vec::with_capacity(entries.len()) };
        let mut last = None;
        for entry in entries {
            let kind = SharedFields::of(entry);
            let index = match last {
                Some((same, index)) if same == kind => index,
                _ => *numbers.entry(kind.number()).or_insert_with(|| {
                    all.kinds.push(kind);
                    all.kinds.len() as u64 - 1
                }),
            };
            last = Some((kind, index));
            all.of_check.push(index);
        }
        all
    }

    /// Appends the list of kinds.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::put(out, self.kinds.len() as u64);
        self.kinds.iter().for_each(|kind| varint::put(out, kind.number()));
    }
}

/// Reads a list of at most `limit` kinds.
pub(super) fn read(bytes: &[u8], limit: usize) -> Result<Vec<SharedFields>, BlockError> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = ByteReader::new(bytes);
    let count = reader.count(limit)?;
    let kinds = (0..count).map(|_| SharedFields::from_number(reader.number()?)).collect::<Result<_, _>>()?;
    reader.end()?;
    Ok(kinds)
}
