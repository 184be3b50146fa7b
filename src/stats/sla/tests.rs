//! SLA figures compared with an evaluation of every second of small histories around unusual dates.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::budget::ErrorBudget;
use crate::model::sla::business_hours::BusinessHours;
use crate::model::sla::objective::SlaObjective;

const SECOND_MS: i64 = 1_000;

fn at(text: &str) -> Timestamp {
    let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
    Timestamp::from_ms(moment.timestamp_millis())
}

fn change(at: Timestamp, to: MeasuredStatus) -> StatusChange {
    StatusChange { service: 1, at, from: MeasuredStatus::Unknown, to, cause: ChangeCause::Votes }
}

fn window(kind: WindowKind, from: Timestamp, to: Option<Timestamp>) -> ServiceWindow {
    ServiceWindow { service: 1, kind, from, to }
}

/// Overlapping periods between 0 and 100 ms: which one decides.
#[rstest]
#[case::measured(&[], &[], &[], (0, 100, 0))]
#[case::planned(&[(WindowKind::Maintenance, 10, 30)], &[], &[], (0, 80, 20))]
#[case::stated_over_planned(
    &[(WindowKind::Maintenance, 10, 30), (WindowKind::Override(OverrideStatus::Up), 20, 40)], &[], &[], (20, 70, 10)
)]
#[case::incident_over_planned(&[(WindowKind::Maintenance, 10, 30)], &[(20, 25)], &[], (0, 85, 15))]
#[case::incident_over_stated(&[(WindowKind::Override(OverrideStatus::Up), 10, 30)], &[(20, 25)], &[], (15, 85, 0))]
#[case::closed_over_all(&[(WindowKind::Pause, 10, 30)], &[(20, 50)], &[(0, 40)], (0, 60, 0))]
fn overlapping_periods_are_classified_by_precedence(
    #[case] windows: &[(WindowKind, i64, i64)],
    #[case] incidents: &[(i64, i64)],
    #[case] closed: &[(i64, i64)],
    #[case] (up_ms, down_ms, left_out_ms): (i64, i64, i64),
) {
    let at = Timestamp::from_ms;
    let range = |(from, to): &(i64, i64)| TimeRange { from: at(*from), to: at(*to) };
    let windows: Vec<ServiceWindow> =
        windows.iter().map(|(kind, from, to)| window(*kind, at(*from), Some(at(*to)))).collect();
    let past = SlaHistory {
        changes: &[change(at(0), MeasuredStatus::Down)],
        measured_until: at(100),
        windows: &windows,
        incidents: &incidents.iter().map(range).collect::<Vec<_>>(),
    };
    let closed: Vec<TimeRange> = closed.iter().map(range).collect();
    let whole = range(&(0, 100));
    let found = sums(&classify(&past, &closed, whole), whole);
    assert_eq!(found, SlaSums { up_ms, down_ms, unmeasured_ms: 0, left_out_ms });
}

/// A service that is down over a night, with a pause during its outage: the night does not split the outage, the pause
/// does.
#[test]
fn a_night_does_not_end_an_outage_and_a_pause_does() {
    let hours: BusinessHours = "mon,tue,wed,thu,fri 09:00-17:00".parse().unwrap();
    let range = TimeRange { from: at("2026-11-23T00:00:00Z"), to: at("2026-11-26T00:00:00Z") };
    let pause = (at("2026-11-24T12:00:00Z"), Some(at("2026-11-24T13:00:00Z")));
    let past = SlaHistory {
        changes: &[
            change(range.from, MeasuredStatus::Up),
            change(at("2026-11-23T16:00:00Z"), MeasuredStatus::Down),
            change(at("2026-11-24T14:00:00Z"), MeasuredStatus::Up),
        ],
        measured_until: range.to,
        windows: &[window(WindowKind::Pause, pause.0, pause.1)],
        incidents: &[],
    };
    let zone: IanaZone = "UTC".parse().unwrap();
    let found = runs(&classify(&past, &hours.closed(zone, range), range), range);
    let down: Vec<(String, String, i64)> = found
        .iter()
        .filter(|run| run.time == SlaTimeClass::Down)
        .map(|run| (run.from.to_string(), run.to.to_string(), run.ms / 60_000))
        .collect();
    let expected = [
        ("2026-11-23T16:00:00.000Z", "2026-11-24T12:00:00.000Z", 240),
        ("2026-11-24T13:00:00.000Z", "2026-11-24T14:00:00.000Z", 60),
    ];
    assert_eq!(down, expected.map(|(from, to, minutes)| (from.to_owned(), to.to_owned(), minutes)));
}

/// The middle of a history: a change of clocks, the end of a month, a Monday morning.
const MIDDLES: [&str; 6] = [
    "2026-03-29T01:00:00Z",
    "2026-10-25T01:00:00Z",
    "2026-10-25T00:00:00Z",
    "2028-02-29T23:00:00Z",
    "2026-12-31T23:00:00Z",
    "2026-11-23T08:00:00Z",
];
/// Length of a history in seconds.
const LENGTH: i64 = 600;
const HOURS: [&str; 5] = [
    "sun 02:57-03:03",
    "mon,tue,wed,thu,fri 09:00-17:00",
    "sun,mon,tue 00:00-00:04;sun,wed,thu 23:56-24:00",
    "mon,tue,wed,thu,fri,sat,sun 00:00-24:00",
    "sun 01:55-02:05;sun 02:02-02:58",
];

fn kind() -> impl Strategy<Value = WindowKind> {
    let stated =
        [OverrideStatus::Up, OverrideStatus::Degraded, OverrideStatus::Down, OverrideStatus::Maintenance];
    prop_oneof![
        Just(WindowKind::Maintenance),
        Just(WindowKind::Pause),
        Just(WindowKind::Unreachable),
        prop::sample::select(stated.to_vec()).prop_map(WindowKind::Override),
    ]
}

/// The classification of a single moment, without any calculation with intervals.
fn oracle(
    past: &SlaHistory<'_>,
    hours: Option<(&BusinessHours, IanaZone)>,
    moment: Timestamp,
) -> SlaTimeClass {
    if hours.is_some_and(|(hours, zone)| !is_open(hours, zone, moment)) {
        return SlaTimeClass::Closed;
    }
    if past.incidents.iter().any(|open| open.contains(moment)) {
        return SlaTimeClass::Down;
    }
    let holds = |window: &&ServiceWindow| window.from <= moment && window.to.is_none_or(|to| moment < to);
    let is = |kind: WindowKind| past.windows.iter().filter(holds).any(|window| window.kind == kind);
    let stated = past.windows.iter().rev().filter(holds).find_map(|window| match window.kind {
        WindowKind::Override(status) => Some(status),
        WindowKind::Pause | WindowKind::Maintenance | WindowKind::Unreachable => None,
    });
    match stated {
        Some(OverrideStatus::Up | OverrideStatus::Degraded) => return SlaTimeClass::Up,
        Some(OverrideStatus::Down) => return SlaTimeClass::Down,
        Some(OverrideStatus::Maintenance) => return SlaTimeClass::LeftOut(ExclusionReason::Override),
        None if is(WindowKind::Maintenance) => return SlaTimeClass::LeftOut(ExclusionReason::Maintenance),
        None if is(WindowKind::Pause) => return SlaTimeClass::LeftOut(ExclusionReason::Pause),
        None if is(WindowKind::Unreachable) => return SlaTimeClass::LeftOut(ExclusionReason::Unreachable),
        None => {}
    }
    let last = past.changes.iter().rev().find(|change| change.at <= moment);
    match last.filter(|_| moment < past.measured_until).map(|change| change.to) {
        Some(MeasuredStatus::Up | MeasuredStatus::Degraded) => SlaTimeClass::Up,
        Some(MeasuredStatus::Down) => SlaTimeClass::Down,
        Some(MeasuredStatus::Unknown | MeasuredStatus::NoData) | None => SlaTimeClass::Unmeasured,
    }
}

/// Returns true if the wall time, as text, is within the hours.
fn is_open(hours: &BusinessHours, zone: IanaZone, moment: Timestamp) -> bool {
    let wall = zone.wall(moment).unwrap();
    let (day, time) = (wall.format("%a").to_string().to_lowercase(), wall.format("%H:%M").to_string());
    let covers = |from: String, to: String| from <= time && time < to;
    let mut entries = hours.0.iter().filter(|entry| entry.days.iter().any(|known| known.as_str() == day));
    entries.any(|entry| covers(entry.from.to_string(), entry.to.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    /// For ten minutes around an unusual date: sums, outages, excluded time and budget equal those computed for each
    /// second.
    #[test]
    fn figures_equal_a_second_by_second_count(
        middle in prop::sample::select(MIDDLES.to_vec()),
        steps in prop::collection::vec((0_i64..120, prop::sample::select(MeasuredStatus::ALL.to_vec())), 0..10),
        until in 0_i64..LENGTH + 60,
        decided in prop::collection::vec((kind(), 0_i64..LENGTH, prop::option::of(0_i64..200)), 0..6),
        incidents in prop::collection::vec((0_i64..LENGTH, 0_i64..100), 0..3),
        hours in prop::option::of(prop::sample::select(HOURS.to_vec())),
        (first, length) in (0_i64..LENGTH / 2, 0_i64..LENGTH / 2),
        millionths in 500_000_u32..1_000_000,
    ) {
        let second = |number: i64| at(middle).plus_ms((number - LENGTH / 2) * SECOND_MS);
        let mut number = 0;
        let changes: Vec<StatusChange> = steps.iter().map(|(pause, to)| {
            number += pause;
            change(second(number), *to)
        }).collect();
        let windows: Vec<ServiceWindow> = decided.iter().map(|(kind, from, length)| {
            window(*kind, second(*from), length.map(|length| second(from + length)))
        }).collect();
        let incidents: Vec<TimeRange> = incidents.iter().map(|(from, length)| {
            TimeRange { from: second(*from), to: second(from + length) }
        }).collect();
        let measured_until = second(until.max(number));
        let past = SlaHistory { changes: &changes, measured_until, windows: &windows, incidents: &incidents };
        let zone: IanaZone = "Europe/Berlin".parse().unwrap();
        let hours: Option<BusinessHours> = hours.map(|hours| hours.parse().unwrap());
        // The evaluated range is a part of the classified one, as when burn rates look back beyond the period.
        let (whole, range) = (
            TimeRange { from: second(0), to: second(LENGTH) },
            TimeRange { from: second(first), to: second(first + length) },
        );
        let closed = hours.as_ref().map(|hours| hours.closed(zone, whole)).unwrap_or_default();
        let spans = classify(&past, &closed, whole);
        prop_assert!(spans.is_sorted_by(|left, right| left.to == right.from), "they adjoin");

        let (mut expected, mut expected_runs) = (SlaSums::default(), Vec::<SlaInterval>::new());
        for moment in (first..first + length).map(second) {
            let time = oracle(&past, hours.as_ref().map(|hours| (hours, zone)), moment);
            match time {
                SlaTimeClass::Closed => continue,
                SlaTimeClass::Up => expected.up_ms += SECOND_MS,
                SlaTimeClass::Down => expected.down_ms += SECOND_MS,
                SlaTimeClass::Unmeasured => expected.unmeasured_ms += SECOND_MS,
                SlaTimeClass::LeftOut(_) => expected.left_out_ms += SECOND_MS,
            }
            let to = moment.plus_ms(SECOND_MS);
            match expected_runs.last_mut() {
                Some(run) if run.time == time => (run.to, run.ms) = (to, run.ms + SECOND_MS),
                _ => expected_runs.push(SlaInterval { from: moment, to, time, ms: SECOND_MS }),
            }
        }
        prop_assert_eq!(sums(&spans, range), expected);
        prop_assert_eq!(runs(&spans, range), expected_runs);

        // The budget is kept exactly if the share of uptime is at least the objective.
        let objective = SlaObjective::from_millionths(millionths).unwrap();
        let time_ms = expected.up_ms + expected.down_ms;
        let budget = ErrorBudget::new(objective, time_ms, expected.down_ms);
        let is_met = i128::from(expected.up_ms) * 1_000_000 >= i128::from(time_ms) * i128::from(millionths);
        prop_assert_eq!(budget.is_met(), is_met);
        prop_assert_eq!(budget.left_ms() + expected.down_ms, budget.total_ms);
    }
}
