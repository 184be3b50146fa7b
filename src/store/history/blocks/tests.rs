//! Tests that a block returns the same checks for any values, and an error for any damage.

use std::num::NonZeroU32;

use proptest::prelude::*;
use rstest::rstest;

use super::{BlockBody, BlockError, BlockFilter, CheckBlock, CheckEntry, MAX_CHECKS};
use crate::clock::Timestamp;
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, PhaseTimings};
use crate::model::service::ProbeRole;

fn entries_of(block: &CheckBlock) -> Result<Vec<CheckEntry>, BlockError> {
    BlockBody::open(&block.body)?.entries()
}

/// Any 32-bit number except 0; often a small or an extreme one.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), Just(u32::MAX), 1..5_000_u32, any::<u32>()]
}

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), 1_790_000_000_000..1_790_000_100_000_i64, any::<i64>()]
}

fn timings() -> impl Strategy<Value = PhaseTimings> {
    let phase = || prop::option::of(number()).prop_map(|us| us.and_then(NonZeroU32::new));
    (phase(), phase(), phase(), phase(), phase(), phase()).prop_map(
        |(dns, connect, tls, ttfb, transfer, total)| PhaseTimings {
            dns,
            connect,
            tls,
            ttfb,
            transfer,
            total,
        },
    )
}

fn failure() -> impl Strategy<Value = CheckFailure> {
    (prop::sample::select(ErrorCode::ALL.to_vec()), prop_oneof![".{0,20}", "[a-c]{0,2}"])
        .prop_map(|(code, message)| CheckFailure { code, message: message.into() })
}

fn measurement() -> impl Strategy<Value = Measurement> {
    let status = prop::sample::select(CheckStatus::ALL.to_vec());
    let response = prop::option::of(number());
    (status, response, timings(), any::<Option<u16>>(), prop::option::of(failure())).prop_map(
        |(status, response, timings, status_code, failure)| Measurement {
            status,
            response_time: response.and_then(NonZeroU32::new),
            timings,
            status_code,
            failure: failure.map(Box::new),
        },
    )
}

fn entry() -> impl Strategy<Value = CheckEntry> {
    let role = prop_oneof![Just(ProbeRole::Full), Just(ProbeRole::Reachability)];
    (instant(), instant(), any::<u8>(), role, measurement()).prop_map(
        |(checked_at, scheduled_at, attempt, role, measurement)| CheckEntry {
            checked_at: Timestamp::from_ms(checked_at),
            scheduled_at: Timestamp::from_ms(scheduled_at),
            attempt,
            role,
            measurement,
        },
    )
}

fn series(most: usize) -> impl Strategy<Value = Vec<CheckEntry>> {
    prop::collection::vec(entry(), 0..most).prop_map(|mut entries| {
        entries.sort_by_key(|entry| entry.checked_at);
        entries.dedup_by_key(|entry| entry.checked_at);
        entries
    })
}

/// Checks of a healthy HTTP target at intervals of one minute; the durations vary by some milliseconds.
fn healthy(checks: usize) -> Vec<CheckEntry> {
    let mut state = 0x9e37_79b9_u32;
    let mut spread = |from: u32, width: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        from + state % width
    };
    let minutes = (0..i64::MAX).map(|minute| Timestamp::from_ms(1_790_000_000_000 + minute * 60_000));
    let check = |scheduled_at: Timestamp| {
        let phases = [spread(2_000, 500), spread(20_000, 900), spread(40_000, 1_900), spread(80_000, 9_000)];
        let [dns, connect, tls, ttfb] = phases.map(NonZeroU32::new);
        let total = NonZeroU32::new(phases.iter().sum::<u32>() + spread(30, 90));
        CheckEntry {
            checked_at: scheduled_at.plus_ms(i64::from(spread(0, 4))),
            scheduled_at,
            attempt: 1,
            role: ProbeRole::Full,
            measurement: Measurement {
                status: CheckStatus::Up,
                response_time: total,
                timings: PhaseTimings { dns, connect, tls, ttfb, transfer: None, total },
                status_code: Some(200),
                failure: None,
            },
        }
    };
    minutes.take(checks).map(check).collect()
}

/// Recomputes the checksum, so that damage reaches the code behind the checksum test.
fn resign(body: &mut Vec<u8>) {
    body.truncate(body.len().saturating_sub(4));
    let checksum = crc32fast::hash(body);
    body.extend_from_slice(&checksum.to_le_bytes());
}

fn read_everything(body: &[u8]) -> Result<(), BlockError> {
    let body = BlockBody::open(body)?;
    body.samples(1)?;
    body.entries()?;
    body.matching(&BlockFilter { statuses: &[CheckStatus::Down], ..BlockFilter::default() })?;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_checks_round_trip(entries in series(40)) {
        let block = CheckBlock::seal(&entries);
        prop_assert_eq!(entries_of(&block).unwrap(), entries.clone());
        let samples: Vec<_> = entries.iter().map(|entry| entry.sample(7)).collect();
        prop_assert_eq!(BlockBody::open(&block.body).unwrap().samples(7).unwrap(), samples);
    }

    #[test]
    fn many_checks_of_any_values_round_trip(few in series(12), repeat in 20..40_usize) {
        let entries: Vec<_> = std::iter::repeat_n(few, repeat).flatten().collect();
        prop_assert_eq!(entries_of(&CheckBlock::seal(&entries)).unwrap(), entries);
    }

    #[test]
    fn only_matching_checks_are_found(
        entries in series(60),
        statuses in prop::sample::subsequence(CheckStatus::ALL.to_vec(), 0..=3),
        bounds in prop::array::uniform2(prop::option::of(instant())),
        newest in prop::option::of(0..70_usize),
    ) {
        let [from, to] = bounds.map(|ms| ms.map(Timestamp::from_ms));
        let is_wanted = |entry: &&CheckEntry| {
            (statuses.is_empty() || statuses.contains(&entry.measurement.status))
                && from.is_none_or(|from| entry.checked_at >= from)
                && to.is_none_or(|to| entry.checked_at < to)
        };
        let mut expected: Vec<_> = entries.iter().filter(is_wanted).cloned().collect();
        expected.drain(..newest.map_or(0, |newest| expected.len().saturating_sub(newest)));
        let block = CheckBlock::seal(&entries);
        let wanted = BlockFilter { statuses: &statuses, from, to, newest };
        let found = BlockBody::open(&block.body).unwrap().matching(&wanted);
        prop_assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn a_changed_byte_is_an_error(count in 1..400_usize, at: prop::sample::Index, flip in 1..=u8::MAX) {
        let mut body = CheckBlock::seal(&healthy(count)).body;
        let at = at.index(body.len());
        body[at] ^= flip;
        prop_assert!(read_everything(&body).is_err());
    }

    #[test]
    fn a_hostile_body_is_refused_or_read_but_never_panics(
        entries in prop_oneof![series(20), (0..600_usize).prop_map(healthy)],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut body = CheckBlock::seal(&entries).body;
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        for (at, byte) in changes {
            if !body.is_empty() {
                let at = at.index(body.len());
                body[at] = byte;
            }
        }
        resign(&mut body);
        let _ = read_everything(&body);
    }

    #[test]
    fn random_bytes_never_panic(mut body in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Some(version) = body.first_mut() {
            *version = 1;
        }
        resign(&mut body);
        let _ = read_everything(&body);
    }
}

#[rstest]
#[case::none(0)]
#[case::one(1)]
#[case::an_hour(60)]
#[case::a_day(1_440)]
#[case::the_most(MAX_CHECKS)]
fn a_block_of_any_size_is_read_back(#[case] checks: usize) {
    let entries = healthy(checks);
    let block = CheckBlock::seal(&entries);
    assert_eq!(entries_of(&block).unwrap(), entries);
    assert_eq!(block.checks() as usize, checks);
}

#[test]
fn a_block_has_its_bounds_and_counts() {
    let mut entries = healthy(3);
    entries[1].measurement.status = CheckStatus::Degraded;
    entries[2].measurement.status = CheckStatus::Down;
    let block = CheckBlock::seal(&entries);
    assert_eq!((block.first_at, block.last_at), (entries[0].checked_at, entries[2].checked_at));
    assert_eq!((block.up, block.degraded, block.down), (1, 1, 1));
}

#[test]
fn long_and_many_different_texts_round_trip() {
    let mut entries = healthy(1_000);
    for (number, entry) in entries.iter_mut().enumerate() {
        let message = format!("{number} {}", "ä".repeat(490));
        entry.measurement.failure =
            Some(Box::new(CheckFailure { code: ErrorCode::Internal, message: message.into() }));
    }
    let block = CheckBlock::seal(&entries);
    assert!(block.body.len() < 40_000, "{} bytes", block.body.len());
    assert_eq!(entries_of(&block).unwrap(), entries);
}

#[test]
fn a_newer_version_is_named() {
    let mut body = CheckBlock::seal(&healthy(5)).body;
    body[0] = 9;
    resign(&mut body);
    assert_eq!(read_everything(&body), Err(BlockError::Version(9)));
}

#[test]
fn a_count_larger_than_the_data_is_refused() {
    let mut body = vec![1];
    body.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    resign(&mut body);
    assert_eq!(read_everything(&body), Err(BlockError::Malformed("a count is too large")));
}

/// Columns without variation are small: 60 equal checks of a healthy target.
#[test]
fn repeated_values_take_almost_no_space() {
    let mut entries = healthy(60);
    let first = entries[0].measurement.clone();
    for entry in &mut entries {
        entry.measurement = first.clone();
        entry.checked_at = entry.scheduled_at;
    }
    let block = CheckBlock::seal(&entries);
    assert!(block.body.len() < 60, "{} bytes", block.body.len());
}
