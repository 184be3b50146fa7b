//! Results and status changes as bytes, and back.
//!
//! Every fact stands on its own: its length, a CRC32, and fields as varints, so that a damaged one costs nothing but
//! itself. What was written reads back exactly; bytes that are no fact are refused, whatever they are. Another layout is
//! another version of the segment.

use std::num::NonZeroU32;

use crate::clock::Timestamp;
use crate::engine::aggregator::Batch;
use crate::model::check::{CheckStatus, ErrorCode, Failure, Measurement, Timings};
use crate::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use crate::model::location::LocationCode;
use crate::model::service::ProbeRole;

/// Longer than the longest fact: 500 characters of text and some numbers.
const FACT_MAX_BYTES: usize = 4_096;
const CHECK: u8 = 1;
const CHANGE: u8 = 2;
const HAS_CODE: u8 = 1;
const HAS_FAILURE: u8 = 2;
const IS_REACHABILITY: u8 = 4;

/// Appends all facts, changes last.
pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let mut fact = Vec::with_capacity(256);
    for check in &batch.checks {
        put_check(check, &mut fact);
        put_framed(&mut fact, out);
    }
    for change in &batch.changes {
        put_change(change, &mut fact);
        put_framed(&mut fact, out);
    }
}

fn put_framed(fact: &mut Vec<u8>, out: &mut Vec<u8>) {
    put_number(fact.len() as u64, out);
    out.extend(crc32fast::hash(fact).to_le_bytes());
    out.append(fact);
}

fn put_check(check: &CheckRecord, out: &mut Vec<u8>) {
    let found = &check.measurement;
    let mut flags = 0;
    if found.status_code.is_some() {
        flags |= HAS_CODE;
    }
    if found.failure.is_some() {
        flags |= HAS_FAILURE;
    }
    if check.role == ProbeRole::Reachability {
        flags |= IS_REACHABILITY;
    }
    out.extend([CHECK, flags, found.status as u8, check.attempt]);
    put_signed(check.service, out);
    put_signed(check.checked_at.ms(), out);
    put_signed(check.scheduled_at.ms().wrapping_sub(check.checked_at.ms()), out);
    put_text(check.location.as_str(), out);
    // A measured time is never zero, so zero stands for none.
    for phase in phases(found) {
        put_number(phase.map_or(0, |us| u64::from(us.get())), out);
    }
    if let Some(code) = found.status_code {
        put_number(code.into(), out);
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

const fn phases(found: &Measurement) -> [Option<NonZeroU32>; 7] {
    let Timings { dns, connect, tls, ttfb, transfer, total } = found.timings;
    [found.response_time, dns, connect, tls, ttfb, transfer, total]
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend(text.as_bytes());
}

fn put_signed(number: i64, out: &mut Vec<u8>) {
    put_number(((number << 1) ^ (number >> 63)).cast_unsigned(), out);
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Reads facts. Codes of locations that were seen are kept: there are few of them.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    codes: Vec<LocationCode>,
}

impl Decoder {
    /// Adds the facts that can be read to `batch`, and gives the number of bytes that are no fact.
    pub(super) fn read(&mut self, bytes: &[u8], batch: &mut Batch) -> usize {
        let mut rest = bytes;
        let mut lost_bytes = 0;
        while !rest.is_empty() {
            // Behind damage, the next byte from which a whole fact can be read is where one begins.
            if let Some(after) = self.read_one(rest, batch) {
                rest = after;
            } else {
                lost_bytes += 1;
                rest = &rest[1..];
            }
        }
        lost_bytes
    }

    fn read_one<'a>(&mut self, bytes: &'a [u8], batch: &mut Batch) -> Option<&'a [u8]> {
        let mut cursor = Cursor(bytes);
        let length = usize::try_from(cursor.number()?).ok()?;
        if length == 0 || length > FACT_MAX_BYTES {
            return None;
        }
        let sum = u32::from_le_bytes(cursor.take(4)?.try_into().ok()?);
        let fact = cursor.take(length)?;
        if crc32fast::hash(fact) != sum {
            return None;
        }
        let mut fields = Cursor(fact);
        match fields.byte()? {
            CHECK => batch.checks.push(self.check(&mut fields)?),
            CHANGE => batch.changes.push(change(&mut fields)?),
            _ => return None,
        }
        Some(cursor.0)
    }

    fn check(&mut self, fields: &mut Cursor<'_>) -> Option<CheckRecord> {
        let (flags, status, attempt) = (fields.byte()?, fields.byte()?, fields.byte()?);
        let (service, checked_at, due) = (fields.signed()?, fields.signed()?, fields.signed()?);
        let location = self.code(fields.text()?)?;
        let mut phases = [None; 7];
        for phase in &mut phases {
            *phase = NonZeroU32::new(u32::try_from(fields.number()?).ok()?);
        }
        let [response_time, dns, connect, tls, ttfb, transfer, total] = phases;
        let status_code = match flags & HAS_CODE {
            0 => None,
            _ => Some(u16::try_from(fields.number()?).ok()?),
        };
        let failure = match flags & HAS_FAILURE {
            0 => None,
            _ => Some(Box::new(Failure {
                code: ErrorCode::from_code(fields.byte()?.into())?,
                message: fields.text()?.into(),
            })),
        };
        let is_reachability = flags & IS_REACHABILITY != 0;
        fields.0.is_empty().then_some(CheckRecord {
            service,
            location,
            role: if is_reachability { ProbeRole::Reachability } else { ProbeRole::Full },
            scheduled_at: Timestamp::from_ms(checked_at.wrapping_add(due)),
            checked_at: Timestamp::from_ms(checked_at),
            attempt,
            measurement: Measurement {
                status: CheckStatus::from_code(status.into())?,
                response_time,
                timings: Timings { dns, connect, tls, ttfb, transfer, total },
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

fn change(fields: &mut Cursor<'_>) -> Option<StatusChange> {
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

/// What has not been read yet.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            if bits << shift >> shift != bits {
                return None;
            }
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
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

    fn phase() -> impl Strategy<Value = Option<NonZeroU32>> {
        any::<u32>().prop_map(NonZeroU32::new)
    }

    fn failure() -> impl Strategy<Value = Option<Box<Failure>>> {
        let code = proptest::sample::select(ErrorCode::ALL.to_vec());
        proptest::option::of((code, ".{0,600}").prop_map(|(code, text)| Box::new(Failure::new(code, text))))
    }

    prop_compose! {
        fn measurement()(
            status in proptest::sample::select(CheckStatus::ALL.to_vec()),
            phases in proptest::array::uniform7(phase()),
            status_code in proptest::option::of(any::<u16>()),
            failure in failure(),
        ) -> Measurement {
            let [response_time, dns, connect, tls, ttfb, transfer, total] = phases;
            let timings = Timings { dns, connect, tls, ttfb, transfer, total };
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

    prop_compose! {
        fn any_batch()(
            checks in proptest::collection::vec(any_check(), 0..8),
            changes in proptest::collection::vec(any_change(), 0..8),
        ) -> Batch {
            Batch { checks, changes }
        }
    }

    fn read(bytes: &[u8]) -> (Batch, usize) {
        let mut batch = Batch::default();
        let lost_bytes = Decoder::default().read(bytes, &mut batch);
        (batch, lost_bytes)
    }

    proptest! {
        #[test]
        fn every_fact_reads_back_as_it_was_written(batch in any_batch()) {
            let mut bytes = Vec::new();
            encode(&batch, &mut bytes);
            let (found, lost_bytes) = read(&bytes);
            prop_assert_eq!(found.checks, batch.checks);
            prop_assert_eq!(found.changes, batch.changes);
            prop_assert_eq!(lost_bytes, 0);
        }

        #[test]
        fn a_damaged_byte_costs_one_fact_at_most(
            batch in any_batch(),
            place in any::<proptest::sample::Index>(),
            mask in 1_u8..,
        ) {
            let mut bytes = Vec::new();
            encode(&batch, &mut bytes);
            prop_assume!(!bytes.is_empty());
            let at = place.index(bytes.len());
            bytes[at] ^= mask;
            let (found, lost_bytes) = read(&bytes);
            prop_assert!(found.checks.iter().all(|check| batch.checks.contains(check)));
            prop_assert!(found.changes.iter().all(|change| batch.changes.contains(change)));
            let (had, has) = (batch.checks.len() + batch.changes.len(), found.checks.len() + found.changes.len());
            prop_assert!(has + 1 >= had && lost_bytes > 0, "{has} of {had}");
        }

        #[test]
        fn bytes_that_are_no_facts_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            let (found, lost_bytes) = read(&bytes);
            prop_assert_eq!((found.checks.len(), found.changes.len(), lost_bytes), (0, 0, bytes.len()));
        }
    }
}
