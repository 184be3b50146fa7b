//! Figures of rows, rollups and slivers together are what all results say, whatever has been sealed and merged by then.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::{CheckRecord, CheckSample};
use watchkeeper::model::history_range::HistoryRange;
use watchkeeper::model::service::ProbeRole;
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::stats::histogram::ResponseTimeSummary;
use watchkeeper::stats::rollup::{CheckSums, RollupLevel, RollupQuery, RollupRoot, TimeBuckets};
use watchkeeper::store::history::History;
use watchkeeper::store::history::figure_parts::{self, FigureParts, ResultScope};
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::sealed::combined_reads;
use watchkeeper::store::history::segments::{self, RetentionClass, Segment};

use crate::support::Backend;
use crate::support::chance::Chance;
use crate::support::rows::{append_checks, at, check};

const SERVICE: i64 = 3;
/// One that shares its bucket, and one that does not.
const NEIGHBOURS: [i64; 2] = [SERVICE + 1_024, SERVICE + 1];
const START_MS: i64 = 20_000 * DAY_MS;
const MINUTE_MS: i64 = 60_000;
const PERCENTS: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

fn compaction(history: &History) -> Compaction {
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let limits = CompactionLimits { rows_per_bucket: 40, ..CompactionLimits::default() };
    Compaction::new(history.clone(), retention, limits, Arc::default())
}

/// A result, and when it is delivered first.
type Delivery = (i64, CheckRecord);

/// Results of some days with both roles, with and without answers; most arrive at once, some hours or days late.
fn deliveries(chance: &mut Chance, days: i64) -> Vec<Delivery> {
    let mut taken = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for turn in 0..days * 60 {
        let at_ms =
            START_MS + turn * 24 * MINUTE_MS + chance.below(24) * chance.pick(&[1_000, 59_999, MINUTE_MS]);
        let service = chance.pick(&[SERVICE, SERVICE, SERVICE, SERVICE, NEIGHBOURS[0], NEIGHBOURS[1]]);
        let location = chance.pick(&["a", "b", "c"]);
        if !taken.insert((service, location, at_ms)) {
            continue;
        }
        let mut row = check(service, location, at_ms, chance.pick(&CheckStatus::ALL));
        row.role = chance.pick(&[ProbeRole::Full, ProbeRole::Full, ProbeRole::Reachability]);
        let spread = chance.pick(&[3_000, 60_000, 4_000_000_000]);
        let response_us = u32::try_from(1 + chance.below(spread).min(i64::from(i32::MAX) - 1)).unwrap();
        row.measurement.response_time =
            NonZeroU32::new(response_us).filter(|_| row.measurement.status != CheckStatus::Down);
        let delay_ms = match chance.below(20) {
            0 => chance.below(4 * DAY_MS),
            1 | 2 => chance.below(3 * 60 * MINUTE_MS),
            _ => chance.below(5_000),
        };
        found.push((at_ms + delay_ms, row));
    }
    found.sort_by_key(|(delivered_ms, _)| *delivered_ms);
    found
}

fn sample(numbers: &LocationNumbers, row: &CheckRecord) -> CheckSample {
    let response_time = row.measurement.response_time.filter(|_| row.role == ProbeRole::Full);
    CheckSample {
        checked_at: row.checked_at,
        location: numbers.numbers(&[row.location.to_string()])[0],
        is_down: row.measurement.status == CheckStatus::Down,
        response_us: response_time.map(NonZeroU32::get),
    }
}

/// Figures shown of sums.
type Shown = (u64, u64, Option<ResponseTimeSummary>, [Option<u32>; 4]);

fn shown(buckets: BTreeMap<Timestamp, CheckSums>) -> BTreeMap<Timestamp, Shown> {
    let show = |sums: CheckSums| {
        let percentiles = PERCENTS.map(|percent| sums.times.percentile_us(percent));
        (sums.checks, sums.failed, sums.times.summary(), percentiles)
    };
    buckets.into_iter().map(|(start, sums)| (start, show(sums))).collect()
}

async fn read(history: &History, wanted: &RollupQuery, locations: Option<&[i32]>) -> FigureParts {
    let slivers = |level, start| wanted.slivers(level, start).iter().collect();
    let scope = ResultScope { span: wanted.range(), locations, slivers: &slivers };
    figure_parts::of_service(history, SERVICE, &scope).await.unwrap()
}

fn add_up(wanted: RollupQuery, parts: &FigureParts) -> TimeBuckets {
    let mut buckets = TimeBuckets::new(wanted);
    for (level, rollup) in &parts.rollups {
        buckets.add_rollup(RollupRoot { level: *level, start: rollup.start }, &rollup.body).unwrap();
    }
    parts.samples.iter().for_each(|sample| buckets.add_sample(sample));
    buckets
}

fn questions(now: Timestamp) -> impl Iterator<Item = RollupQuery> {
    let (to, all) = (now.plus_ms(1), HistoryRange::ALL);
    all.into_iter().flat_map(move |range| {
        let of = |bucket_ms| RollupQuery { from: range.start(now), to, bucket_ms };
        [of(None), of(Some(range.bucket_seconds() * 1_000))]
    })
}

/// Contract 4.5 and 4.6, for every range: counts, sums, extremes and percentiles of every bucket.
async fn assert_exact(history: &History, known: &[CheckSample], now: Timestamp) {
    for wanted in questions(now) {
        for locations in [None, Some(&[2_i32, 99][..]), Some(&[])] {
            let mut expected: BTreeMap<Timestamp, CheckSums> = BTreeMap::new();
            let is_wanted = |sample: &&CheckSample| {
                (wanted.from..wanted.to).contains(&sample.checked_at)
                    && locations.is_none_or(|numbers| numbers.contains(&sample.location))
            };
            for sample in known.iter().filter(is_wanted) {
                let start = wanted
                    .bucket_ms
                    .map_or(wanted.from, |length_ms| at(sample.checked_at.ms() / length_ms * length_ms));
                expected.entry(start).or_default().add_sample(sample);
            }
            let found = add_up(wanted, &read(history, &wanted, locations).await).into_sums();
            assert_eq!(shown(found), shown(expected), "{wanted:?} of {locations:?} at {now}");
        }
    }
}

#[rstest]
#[tokio::test]
async fn figures_of_every_range_equal_those_of_all_results(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 2, 3)] seed: u64,
) {
    const DAYS: i64 = 40;
    let Some(store) = backend.open().await else { return };
    let mut chance = Chance(seed);
    let all = deliveries(&mut chance, DAYS);
    let mut delivered = 0;
    let mut known = Vec::new();
    let mut compaction = compaction(&store.history);
    let mut now = START_MS;
    while now < START_MS + DAYS * DAY_MS {
        now += chance.pick(&[7 * MINUTE_MS, 3_700_001, 6 * 3_600_000, DAY_MS + 1]);
        let due = all.partition_point(|(delivered_ms, _)| *delivered_ms <= now);
        let mut rows: Vec<CheckRecord> = all[delivered..due].iter().map(|(_, row)| row.clone()).collect();
        // Some come again, together with new ones.
        let again = 0..chance.below(20).min(i64::try_from(delivered).unwrap());
        rows.extend(again.map(|_| {
            let index = chance.below(i64::try_from(delivered).unwrap());
            all[usize::try_from(index).unwrap()].1.clone()
        }));
        let numbers = append_checks(&store.history, &rows).await;
        let new = all[delivered..due].iter().filter(|(_, row)| row.service == SERVICE);
        known.extend(new.map(|(_, row)| sample(&numbers, row)));
        delivered = due;
        if chance.below(3) > 0 {
            compaction.pass(JudgedTime::trusted(at(now))).await.unwrap();
        }
        if chance.below(12) == 0 {
            assert_exact(&store.history, &known, at(now)).await;
        }
    }
    let levels = segments::visible(store.history.reader()).await.unwrap();
    let of_level = |level| levels.iter().filter(|segment| segment.purpose.level == level).count();
    assert!(of_level(segments::SegmentLevel::Day) > 0 && of_level(segments::SegmentLevel::Period) > 2);
    assert_exact(&store.history, &known, at(now)).await;
    assert_exact(&store.history, &known, at(now + 3 * DAY_MS + 1_234)).await;
}

/// The requested slivers, with the segments' kind of rollups.
type Asked = Mutex<Vec<(RollupLevel, TimeRange)>>;

/// Blocks whose bodies these slivers make a reader decode.
async fn decoded_bodies(history: &History, asked: &Asked) -> usize {
    let mut bodies = 0;
    let visible: Vec<Segment> = segments::visible(history.reader()).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    for segment in visible {
        let open = history.storage().open(&[segment]).await.unwrap();
        for (_, span) in asked.iter().filter(|(level, _)| *level == segment.purpose.level.rollups()) {
            bodies += combined_reads::summaries(&open, SERVICE, *span, &[]).await.unwrap().len();
        }
    }
    bodies
}

/// Three locations, a result every two minutes: what it takes to answer grows with the days, not with the results.
#[rstest]
#[tokio::test]
async fn a_range_needs_a_few_hundred_merges_and_few_blocks(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const DAYS: i64 = 32;
    let Some(store) = backend.open().await else { return };
    let limits = CompactionLimits::default();
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction = Compaction::new(store.history.clone(), retention, limits, Arc::default());
    for day in 0..DAYS {
        let start = START_MS + day * DAY_MS;
        let of_turn = |turn: i64| {
            ["a", "b", "c"].map(|location| check(SERVICE, location, start + turn * 120_000, CheckStatus::Up))
        };
        let rows: Vec<CheckRecord> = (0..720).flat_map(of_turn).collect();
        append_checks(&store.history, &rows).await;
        compaction.pass(JudgedTime::trusted(at(start + DAY_MS + 700_000))).await.unwrap();
    }
    // Within an hour, a minute and a second.
    let now = at(START_MS + DAYS * DAY_MS - 1_234_567);
    for (wanted, most_merges) in questions(now).zip([60, 200, 90, 250, 120, 350, 200, 600, 250, 600]) {
        let asked = Asked::default();
        let slivers = |level, start| {
            let spans: Vec<_> = wanted.slivers(level, start).iter().collect();
            asked.lock().unwrap().extend(spans.iter().map(|span| (level, *span)));
            spans
        };
        let scope = ResultScope { span: wanted.range(), locations: None, slivers: &slivers };
        let parts = figure_parts::of_service(&store.history, SERVICE, &scope).await.unwrap();
        let merges = add_up(wanted, &parts).merges();
        let bodies = decoded_bodies(&store.history, &asked).await;
        assert!(merges <= most_merges && bodies <= 6, "{wanted:?}: {merges} merges, {bodies} bodies");
        let checks: u64 = add_up(wanted, &parts).into_sums().values().map(|sums| sums.checks).sum();
        let expected = (wanted.to.ms() - 1) / 120_000 - (wanted.from.ms() - 1).div_euclid(120_000);
        assert_eq!(checks, u64::try_from(expected * 3).unwrap());
    }
}
