//! Encoding of facts as bytes, and decoding: results and status changes that are sent to another process or written to
//! disk.
//!
//! Every fact is encoded separately, as its length, a CRC32 and its fields as varints, so that a damaged fact affects no
//! other. Decoding returns exactly the encoded fact; bytes that are not a fact are refused. A change of the layout
//! needs a new version of the file or message that contains the facts.

use crate::clock::Timestamp;
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, Micros};
use crate::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use crate::model::location::LocationCode;
use crate::model::service::ProbeRole;
use crate::model::varint;

/// Maximum length of an encoded fact in bytes; the longest fact has 500 characters of text and some numbers.
const FACT_MAX_BYTES: usize = 4_096;
const CHECK: u8 = 1;
const CHANGE: u8 = 2;
const HAS_CODE: u8 = 1;
const HAS_FAILURE: u8 = 2;
/// Position of the code of the role in the flags, in bits.
const ROLE_SHIFT: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordedFact {
    Check(CheckRecord),
    /// A change of the measured status.
    Change(StatusChange),
}

/// Appends all facts to `out`: first the checks, then the changes.
pub(crate) fn encode(checks: &[CheckRecord], changes: &[StatusChange], out: &mut Vec<u8>) {
    let mut fact = Vec::with_capacity(256);
    for check in checks {
        put_check(check, &mut fact);
        put_framed(&mut fact, out);
    }
    for change in changes {
        put_change(change, &mut fact);
        put_framed(&mut fact, out);
    }
}

fn put_framed(fact: &mut Vec<u8>, out: &mut Vec<u8>) {
    varint::put(out, fact.len() as u64);
    out.extend(crc32fast::hash(fact).to_le_bytes());
    out.append(fact);
}

fn put_check(check: &CheckRecord, out: &mut Vec<u8>) {
    let found = &check.measurement;
    let mut flags = check.role.code() << ROLE_SHIFT;
    if found.status_code.is_some() {
        flags |= HAS_CODE;
    }
    if found.failure.is_some() {
        flags |= HAS_FAILURE;
    }
    out.extend([CHECK, flags, found.status as u8, check.attempt]);
    put_signed(check.service, out);
    put_signed(check.checked_at.ms(), out);
    put_signed(check.scheduled_at.ms().wrapping_sub(check.checked_at.ms()), out);
    put_text(check.location.as_str(), out);
    // A measured time is never zero, so zero encodes `None`.
    for duration in found.durations() {
        varint::put(out, duration.map_or(0, |us| u64::from(us.get())));
    }
    if let Some(code) = found.status_code {
        varint::put(out, code.into());
    }
    if let Some(failure) = &found.failure {
        out.push(failure.code as u8);
        put_text(&failure.message, out);
    }
}

fn put_change(change: &StatusChange, out: &mut Vec<u8>) {
    out.extend([CHANGE, change.from as u8, change.to as u8, change.cause as u8]);
    put_signed(change.service, out);
    put_signed(change.at.ms(), out);
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    varint::put(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn put_signed(number: i64, out: &mut Vec<u8>) {
    varint::put(out, varint::zigzag(number));
}

/// Decodes facts. Location codes are cached, because few different ones occur.
#[derive(Debug, Default)]
pub(crate) struct FactDecoder {
    codes: Vec<LocationCode>,
}

impl FactDecoder {
    /// Passes the readable facts to `take`, and returns the number of bytes that are not part of a readable fact.
    pub(crate) fn read(&mut self, bytes: &[u8], mut take: impl FnMut(RecordedFact)) -> usize {
        let mut rest = bytes;
        let mut lost_bytes = 0;
        while !rest.is_empty() {
            // After damage, the next fact starts at the next byte from which a whole fact can be read.
            if let Some((fact, after)) = self.read_one(rest) {
                take(fact);
                rest = after;
            } else {
                lost_bytes += 1;
                rest = &rest[1..];
            }
        }
        lost_bytes
    }

    /// Passes facts to `take` until `take` returns false. Returns true if `take` accepted all facts and `bytes` contains
    /// nothing else. Unlike [`Self::read`], this function does not search for facts after damage, because the search
    /// takes long and the bytes may come from an untrusted sender.
    pub(crate) fn read_whole(&mut self, bytes: &[u8], mut take: impl FnMut(RecordedFact) -> bool) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some((fact, after)) = self.read_one(rest) else { return false };
            if !take(fact) {
                return false;
            }
            rest = after;
        }
        true
    }

    /// The fact at the start of `bytes`, and the rest; `None` if no fact can be read there.
    fn read_one<'a>(&mut self, bytes: &'a [u8]) -> Option<(RecordedFact, &'a [u8])> {
        let mut cursor = FactFieldReader(bytes);
        let length = usize::try_from(cursor.number()?).ok()?;
        if length == 0 || length > FACT_MAX_BYTES {
            return None;
        }
        let sum = u32::from_le_bytes(cursor.take(4)?.try_into().ok()?);
        let fact = cursor.take(length)?;
        if crc32fast::hash(fact) != sum {
            return None;
        }
        let mut fields = FactFieldReader(fact);
        let fact = match fields.byte()? {
            CHECK => RecordedFact::Check(self.check(&mut fields)?),
            CHANGE => RecordedFact::Change(change(&mut fields)?),
            _ => return None,
        };
        Some((fact, cursor.0))
    }

    fn check(&mut self, fields: &mut FactFieldReader<'_>) -> Option<CheckRecord> {
        let (flags, status, attempt) = (fields.byte()?, fields.byte()?, fields.byte()?);
        let (service, checked_at, due) = (fields.signed()?, fields.signed()?, fields.signed()?);
        let location = self.code(fields.text()?)?;
        let mut durations = [None; Measurement::DURATIONS];
        for duration in &mut durations {
            *duration = Micros::new(u32::try_from(fields.number()?).ok()?);
        }
        let (response_time, timings) = Measurement::split_durations(durations);
        let status_code = match flags & HAS_CODE {
            0 => None,
            _ => Some(u16::try_from(fields.number()?).ok()?),
        };
        let failure = match flags & HAS_FAILURE {
            0 => None,
            _ => Some(Box::new(CheckFailure {
                code: ErrorCode::from_code(fields.byte()?.into())?,
                message: fields.text()?.into(),
            })),
        };
        fields.0.is_empty().then_some(CheckRecord {
            service,
            location,
            role: ProbeRole::from_code(flags >> ROLE_SHIFT)?,
            scheduled_at: Timestamp::from_ms(checked_at.wrapping_add(due)),
            checked_at: Timestamp::from_ms(checked_at),
            attempt,
            measurement: Measurement {
                status: CheckStatus::from_code(status.into())?,
                response_time,
                timings,
                status_code,
                failure,
            },
        })
    }

    fn code(&mut self, text: &str) -> Option<LocationCode> {
        if let Some(known) = self.codes.iter().find(|code| code.as_str() == text) {
            return Some(known.clone());
        }
        let code: LocationCode = text.parse().ok()?;
        self.codes.push(code.clone());
        Some(code)
    }
}

fn change(fields: &mut FactFieldReader<'_>) -> Option<StatusChange> {
    let (from, to, cause) = (fields.byte()?, fields.byte()?, fields.byte()?);
    let change = StatusChange {
        from: MeasuredStatus::from_code(from.into())?,
        to: MeasuredStatus::from_code(to.into())?,
        cause: ChangeCause::from_code(cause.into())?,
        service: fields.signed()?,
        at: Timestamp::from_ms(fields.signed()?),
    };
    fields.0.is_empty().then_some(change)
}

/// Reads the fields of a fact, one after the other, from the bytes that have not been read yet.
struct FactFieldReader<'a>(&'a [u8]);

impl<'a> FactFieldReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn number(&mut self) -> Option<u64> {
        varint::take(&mut self.0)
    }

    fn signed(&mut self) -> Option<i64> {
        self.number().map(varint::unzigzag)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn duration() -> impl Strategy<Value = Option<Micros>> {
        any::<u32>().prop_map(Micros::new)
    }

    fn failure() -> impl Strategy<Value = Option<Box<CheckFailure>>> {
        let code = proptest::sample::select(ErrorCode::ALL.to_vec());
        proptest::option::of(
            (code, ".{0,600}").prop_map(|(code, text)| Box::new(CheckFailure::new(code, text))),
        )
    }

    prop_compose! {
        fn measurement()(
            status in proptest::sample::select(CheckStatus::ALL.to_vec()),
            durations in proptest::array::uniform7(duration()),
            status_code in proptest::option::of(any::<u16>()),
            failure in failure(),
        ) -> Measurement {
            let (response_time, timings) = Measurement::split_durations(durations);
            Measurement { status, response_time, timings, status_code, failure }
        }
    }

    prop_compose! {
        fn any_check()(
            (service, scheduled_at, checked_at, attempt) in any::<(i64, i64, i64, u8)>(),
            location in "[a-z0-9][a-z0-9._-]{0,31}",
            is_full in any::<bool>(),
            measurement in measurement(),
        ) -> CheckRecord {
            CheckRecord {
                service,
                location: location.parse().unwrap(),
                role: if is_full { ProbeRole::Full } else { ProbeRole::Reachability },
                scheduled_at: Timestamp::from_ms(scheduled_at),
                checked_at: Timestamp::from_ms(checked_at),
                attempt,
                measurement,
            }
        }
    }

    prop_compose! {
        fn any_change()(
            (service, at) in any::<(i64, i64)>(),
            from in proptest::sample::select(MeasuredStatus::ALL.to_vec()),
            to in proptest::sample::select(MeasuredStatus::ALL.to_vec()),
            cause in proptest::sample::select(ChangeCause::ALL.to_vec()),
        ) -> StatusChange {
            StatusChange { service, at: Timestamp::from_ms(at), from, to, cause }
        }
    }

    fn any_checks() -> impl Strategy<Value = Vec<CheckRecord>> {
        proptest::collection::vec(any_check(), 0..8)
    }

    fn any_changes() -> impl Strategy<Value = Vec<StatusChange>> {
        proptest::collection::vec(any_change(), 0..8)
    }

    fn all(checks: Vec<CheckRecord>, changes: Vec<StatusChange>) -> Vec<RecordedFact> {
        checks
            .into_iter()
            .map(RecordedFact::Check)
            .chain(changes.into_iter().map(RecordedFact::Change))
            .collect()
    }

    fn read(bytes: &[u8]) -> (Vec<RecordedFact>, usize) {
        let mut found = Vec::new();
        let lost_bytes = FactDecoder::default().read(bytes, |fact| found.push(fact));
        (found, lost_bytes)
    }

    proptest! {
        #[test]
        fn every_fact_reads_back_as_it_was_written(checks in any_checks(), changes in any_changes()) {
            let mut bytes = Vec::new();
            encode(&checks, &changes, &mut bytes);
            prop_assert_eq!(read(&bytes), (all(checks, changes), 0));
        }

        #[test]
        fn a_damaged_byte_costs_one_fact_at_most(
            checks in any_checks(),
            changes in any_changes(),
            index in any::<proptest::sample::Index>(),
            mask in 1_u8..,
        ) {
            let mut bytes = Vec::new();
            encode(&checks, &changes, &mut bytes);
            prop_assume!(!bytes.is_empty());
            let at = index.index(bytes.len());
            bytes[at] ^= mask;
            let (found, lost_bytes) = read(&bytes);
            let written = all(checks, changes);
            prop_assert!(found.iter().all(|fact| written.contains(fact)));
            let (had, has) = (written.len(), found.len());
            prop_assert!(has + 1 >= had && lost_bytes > 0, "{has} of {had}");
        }

        #[test]
        fn bytes_that_are_no_facts_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            prop_assert_eq!(read(&bytes), (Vec::new(), bytes.len()));
        }
    }
}
