//! Properties of rollups: for any rollups and ranges, nodes plus the samples of uncovered edges give the same sums as all
//! samples.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::clock::Timestamp;
use crate::model::history::CheckSample;

const EPOCH_DAY: i64 = 20_000;
const PERCENTS: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(EPOCH_DAY * RollupLevel::Day.ms() + ms)
}

fn sample(ms: i64, is_down: bool, response_us: Option<u32>) -> CheckSample {
    CheckSample { checked_at: at(ms), location: 1, is_down, response_us }
}

/// Response times that are mostly alike, as those of one target are.
fn response_us() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![
        8 => (40_000_u32..60_000).prop_map(Some),
        1 => Just(None),
        1 => any::<u32>().prop_map(Some),
    ]
}

/// Samples from two days, in bunches and single.
fn samples() -> impl Strategy<Value = Vec<CheckSample>> {
    let moment =
        prop_oneof![0..2 * RollupLevel::Day.ms(), (0..48_i64).prop_map(|hour| hour * RollupLevel::Hour.ms())];
    let bunch = (moment, 1_i64..200_000, prop::collection::vec((any::<bool>(), response_us()), 1..40));
    prop::collection::vec(bunch, 0..8).prop_map(|bunches| {
        let spread = |(from, step, checks): (i64, i64, Vec<(bool, Option<u32>)>)| {
            let numbered = (0_i64..).zip(checks);
            numbered
                .map(move |(number, (is_down, us))| sample(from + number * step, is_down, us))
                .collect::<Vec<_>>()
        };
        bunches.into_iter().flat_map(spread).collect()
    })
}

/// A segment: samples, and their rollups with one kind of root. Each sample is in one rollup.
struct Segment {
    samples: Vec<CheckSample>,
    rollups: Vec<(RollupLevel, Timestamp, Vec<u8>)>,
}

/// Distributes samples to a segment with rollups of hours and one with rollups of days. In each, a sample goes to the
/// first, second or third rollup of its span, as if samples had come late.
fn segments(samples: &[CheckSample], deal: &[Index]) -> Vec<Segment> {
    let mut dealt: BTreeMap<(RollupLevel, Timestamp, usize), Vec<CheckSample>> = BTreeMap::new();
    for (number, sample) in samples.iter().enumerate() {
        let lot = deal[number % deal.len()].index(6);
        let root = if lot.is_multiple_of(2) { RollupLevel::Hour } else { RollupLevel::Day };
        dealt.entry((root, root.start_of(sample.checked_at), lot / 2)).or_default().push(*sample);
    }
    let segment = |root| Segment {
        samples: dealt
            .iter()
            .filter(|(key, _)| key.0 == root)
            .flat_map(|(_, samples)| samples.clone())
            .collect(),
        rollups: dealt
            .iter()
            .filter(|(key, _)| key.0 == root)
            .map(|((root, start, _), samples)| (*root, *start, encode(*root, *start, samples)))
            .collect(),
    };
    vec![segment(RollupLevel::Hour), segment(RollupLevel::Day)]
}

type Buckets = BTreeMap<i64, CheckSums>;

fn bucket_of(wanted: &RollupQuery, moment: Timestamp) -> i64 {
    wanted.bucket_ms.map_or(0, |bucket_ms| moment.ms().div_euclid(bucket_ms))
}

/// Computes a query as a reader does: from nodes, and once for each span from the samples of uncovered edges.
fn answer(segments: &[Segment], wanted: &RollupQuery) -> Buckets {
    let mut buckets = Buckets::new();
    for segment in segments {
        let mut slivers = BTreeMap::new();
        for (root, start, body) in &segment.rollups {
            let mut sink = |start: Timestamp, node: &RollupNode<'_>| {
                buckets.entry(bucket_of(wanted, start)).or_default().merge(node);
            };
            slivers.insert(
                *start,
                cover(RollupRoot { level: *root, start: *start }, body, wanted, &mut sink).unwrap(),
            );
        }
        for sample in &segment.samples {
            if slivers.values().any(|slivers| slivers.contain(sample.checked_at)) {
                buckets.entry(bucket_of(wanted, sample.checked_at)).or_default().add_sample(sample);
            }
        }
    }
    buckets
}

fn brute_force(samples: &[CheckSample], wanted: &RollupQuery) -> Buckets {
    let mut buckets = Buckets::new();
    for sample in
        samples.iter().filter(|sample| wanted.from <= sample.checked_at && sample.checked_at < wanted.to)
    {
        buckets.entry(bucket_of(wanted, sample.checked_at)).or_default().add_sample(sample);
    }
    buckets
}

/// The statistics that are shown of sums.
type Shown = (u64, u64, Option<crate::stats::histogram::ResponseTimeSummary>, [Option<u32>; 4]);

fn shown(buckets: &Buckets) -> BTreeMap<i64, Shown> {
    let show = |sums: &CheckSums| {
        (
            sums.checks,
            sums.failed,
            sums.times.summary(),
            PERCENTS.map(|percent| sums.times.percentile_us(percent)),
        )
    };
    buckets.iter().map(|(bucket, sums)| (*bucket, show(sums))).collect()
}

fn wanted() -> impl Strategy<Value = RollupQuery> {
    let (hour, day) = (RollupLevel::Hour.ms(), RollupLevel::Day.ms());
    let edge = prop_oneof![
        -day..3 * day,
        (-24..72_i64).prop_map(move |number| number * hour),
        (0..2_880_i64).prop_map(|number| number * 60_000),
        (-1..4_i64).prop_map(move |number| number * day),
    ];
    let lengths =
        [1_000, 60_000, 90_000, 300_000, hour, 5_400_000, 2 * hour, 6 * hour, 12 * hour, day, 2 * day];
    let bucket_ms = prop::option::of(select(lengths.to_vec()));
    (edge.clone(), edge, bucket_ms).prop_map(|(left, right, bucket_ms)| RollupQuery {
        from: at(left.min(right)),
        to: at(left.max(right)),
        bucket_ms,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn sums_of_a_tree_equal_those_of_all_samples(
        samples in samples(),
        deal in prop::collection::vec(any::<Index>(), 1..50),
        questions in prop::collection::vec(wanted(), 1..8),
    ) {
        let segments = segments(&samples, &deal);
        for wanted in questions {
            let (found, expected) = (answer(&segments, &wanted), brute_force(&samples, &wanted));
            prop_assert_eq!(shown(&found), shown(&expected), "{:?}", wanted);
        }
    }

    #[test]
    fn changed_bytes_are_refused(
        samples in samples(),
        (offset, change) in (any::<Index>(), 1..=u8::MAX),
        wanted in wanted(),
    ) {
        let mut body = encode(RollupLevel::Day, at(0), &samples);
        let offset = offset.index(body.len());
        body[offset] ^= change;
        let read = cover(RollupRoot { level: RollupLevel::Day, start: at(0) }, &body, &wanted, &mut |_, _| {});
        prop_assert!(read.is_err());
    }

    /// The checksum is made to fit, so that the code behind it reads bytes that others wrote.
    #[test]
    fn bytes_that_others_wrote_never_panic(
        samples in samples(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        wanted in wanted(),
    ) {
        for root in [RollupLevel::Hour, RollupLevel::Day] {
            let mut body = encode(root, at(0), &samples);
            body.truncate(body.len() - 4);
            for (offset, byte) in &changes {
                let offset = offset.index(body.len());
                body[offset] = *byte;
            }
            body.extend(crc32fast::hash(&body).to_le_bytes());
            let _ = cover(RollupRoot { level: root, start: at(0) }, &body, &wanted, &mut |_, _| {});
        }
    }
}

#[test]
fn the_root_is_read_alone() {
    let samples: Vec<_> = (0..60).map(|minute| sample(minute * 60_000, minute == 7, Some(50_000))).collect();
    let body = encode(RollupLevel::Hour, at(0), &samples);
    let mut sums = CheckSums::default();
    read_total(&body, |node| sums.merge(node)).unwrap();
    assert_eq!(
        (sums.checks, sums.failed, sums.times.summary().map(|sums| sums.sum_us)),
        (60, 1, Some(3_000_000))
    );
}

#[test]
fn cut_bytes_are_refused() {
    let body = encode(RollupLevel::Hour, at(0), &[sample(0, false, Some(1))]);
    for length in 0..body.len() {
        assert!(read_total(&body[..length], |_| {}).is_err());
    }
}

/// The size of a stored rollup. Minutes are kept for two days, days as long as the plan keeps history.
#[test]
fn a_rollup_takes_few_bytes_a_check() {
    let spread = |number: i64| Some(40_000 + u32::try_from(number * 7_919 % 25_000).unwrap());
    let hour: Vec<_> = (0..60).map(|number| sample(number * 60_000, false, spread(number))).collect();
    let day: Vec<_> = (0..1_440).map(|number| sample(number * 60_000, false, spread(number))).collect();
    let length = encode(RollupLevel::Hour, at(0), &hour).len();
    assert!(length <= 400, "{length} bytes an hour");
    let length = encode(RollupLevel::Day, at(0), &day).len();
    assert!(length <= 1_400, "{length} bytes a day");
}
