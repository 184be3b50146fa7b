//! The current state and figures of a service after results, changes and decisions.

use rstest::rstest;

use super::*;
use crate::model::check::{CheckStatus, Measurement, PhaseTimings};
use crate::stats::uptime::Availability;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn result(checked_at: i64, role: ProbeRole) -> CheckRecord {
    CheckRecord {
        service: 1,
        location: "local".parse().unwrap(),
        role,
        scheduled_at: at(checked_at),
        checked_at: at(checked_at),
        attempt: 1,
        measurement: Measurement {
            status: CheckStatus::Up,
            response_time: std::num::NonZeroU32::new(12_340),
            timings: PhaseTimings::default(),
            status_code: None,
            failure: None,
        },
    }
}

fn change(at_ms: i64, to: MeasuredStatus) -> StatusChange {
    StatusChange { service: 1, at: at(at_ms), from: MeasuredStatus::Unknown, to, cause: ChangeCause::Votes }
}

fn up(up_ms: i64) -> DailyStats {
    DailyStats { availability: Availability { up_ms, down_ms: 0 }, ..DailyStats::default() }
}

#[test]
fn the_current_status_counts_only_as_far_as_results_cover_it() {
    let mut live = LiveServiceState::new(at(0));
    live.take_result(&result(100, ProbeRole::Full), Some(at(1_000)));
    live.take_change(&change(100, MeasuredStatus::Up), Verdict::Up);
    assert_eq!(live.snapshot(at(500)).uptime_30d, Some(100.0));
    live.take_result(&result(600, ProbeRole::Full), Some(at(1_500)));
    live.take_change(&change(600, MeasuredStatus::Down), Verdict::Down);
    assert_eq!(live.snapshot(at(1_100)).uptime_30d, Some(50.0));
    assert_eq!(live.snapshot(at(9_999)).uptime_30d, Some(35.714), "500 ms up, 900 ms down, the rest unknown");
}

#[test]
fn an_override_counts_as_stated_and_a_pause_is_left_out() {
    let mut live = LiveServiceState::new(at(0));
    live.take_decision(1, ManualDecision { is_left_out: true, stated: None }, at(0));
    assert_eq!(live.snapshot(at(1_000)).uptime_30d, None);
    live.take_decision(
        2,
        ManualDecision { is_left_out: true, stated: Some(OverrideStatus::Down) },
        at(1_000),
    );
    assert_eq!(live.snapshot(at(2_000)).uptime_30d, Some(0.0));
    live.take_decision(3, ManualDecision { is_left_out: false, stated: Some(OverrideStatus::Up) }, at(2_000));
    live.take_decision(
        2,
        ManualDecision { is_left_out: true, stated: Some(OverrideStatus::Down) },
        at(2_000),
    );
    assert_eq!(live.snapshot(at(3_000)).uptime_30d, Some(50.0));
}

/// The service is down, at first without a known cause; 1,000 ms later the service that it depends on is back.
#[test]
fn unreachable_time_is_left_out_of_uptime() {
    let mut live = LiveServiceState::new(at(0));
    live.take_result(&result(0, ProbeRole::Full), Some(at(9_000)));
    live.take_change(&change(0, MeasuredStatus::Up), Verdict::Up);
    live.take_change(&change(1_000, MeasuredStatus::Down), Verdict::Down);
    live.set_unreachable(true, at(2_000));
    assert_eq!(live.outdated_until(), Some(at(2_000)), "the time since it began");
    let mut before = RollingStats::default();
    before.add(0, up(1_000));
    live.replace_past(at(2_000), &before);
    assert_eq!(live.snapshot(at(2_999)).uptime_30d, Some(100.0));
    live.set_unreachable(true, at(2_999));
    assert_eq!(live.outdated_until(), None, "that is known");
    live.set_unreachable(false, at(3_000));
    live.replace_past(at(3_000), &before);
    assert_eq!(live.snapshot(at(4_000)).uptime_30d, Some(50.0), "its trouble is its own");
}

/// 1,000 ms up; then the clock is an hour ahead for 500 ms, in which the target is down; then it is right again.
#[test]
fn figures_of_undone_time_are_dropped_when_the_past_is_recomputed() {
    const HOUR_MS: i64 = 3_600_000;
    let mut live = LiveServiceState::new(at(0));
    live.take_result(&result(0, ProbeRole::Full), Some(at(1_000)));
    live.take_change(&change(0, MeasuredStatus::Up), Verdict::Up);
    live.take_change(&change(1_000, MeasuredStatus::NoData), Verdict::Up);
    live.take_result(&result(HOUR_MS + 1_000, ProbeRole::Full), Some(at(HOUR_MS + 9_000)));
    live.take_change(&change(HOUR_MS + 1_000, MeasuredStatus::Down), Verdict::Down);
    live.set_back(-HOUR_MS, at(1_500));
    assert_eq!(live.outdated_until(), Some(at(1_500)));
    let shown = live.snapshot(at(1_500));
    assert_eq!((shown.uptime_30d, shown.last_check_at), (Some(66.666), Some(at(1_000))), "as it was");
    for (at_ms, to) in [(HOUR_MS + 1_600, MeasuredStatus::NoData), (1_600, MeasuredStatus::Down)] {
        live.take_change(&StatusChange { cause: ChangeCause::Clock, ..change(at_ms, to) }, Verdict::Down);
    }
    live.take_change(&change(2_500, MeasuredStatus::Up), Verdict::Up);
    let mut before = RollingStats::default();
    before.add(0, up(1_000));
    live.replace_past(at(7), &RollingStats::default());
    live.replace_past(at(1_500), &before);
    assert_eq!(live.outdated_until(), None);
    assert_eq!(live.snapshot(at(3_500)).uptime_30d, Some(66.666), "2,000 ms up, 1,000 ms down");
}

#[test]
fn reachability_results_do_not_enter_the_mean() {
    let mut live = LiveServiceState::new(at(0));
    live.take_result(&result(1, ProbeRole::Reachability), None);
    assert_eq!(live.snapshot(at(2)).avg_response_ms, None);
    assert_eq!(live.snapshot(at(2)).last_check_at, Some(at(1)));
    live.take_result(&result(3, ProbeRole::Full), None);
    assert_eq!(live.snapshot(at(4)).avg_response_ms, Some(12.3));
}

/// `u`, `d`: the status in the newest check of each location, the first one at 1, the next at 2; `-`: up, but
/// long ago.
#[rstest]
#[case::no_checks("", Verdict::Up, None)]
#[case::one("u", Verdict::Up, Some(1))]
#[case::a_verdict_that_waits_for_more("u", Verdict::Down, None)]
#[case::all("ddd", Verdict::Down, Some(1))]
#[case::one_of_three_is_back("udd", Verdict::Up, None)]
#[case::most("udd", Verdict::Down, Some(1))]
#[case::half("ud", Verdict::Up, None)]
#[case::a_silent_location_does_not_count("-ud", Verdict::Down, None)]
#[case::a_location_without_recent_checks_does_not_count("--dd", Verdict::Down, Some(3))]
#[case::unknown_verdict("u", Verdict::Unknown, None)]
fn a_verdict_is_sure_when_most_locations_agree(
    #[case] seen: &str,
    #[case] verdict: Verdict,
    #[case] since: Option<i64>,
) {
    let mut live = LiveServiceState::new(at(0));
    for (number, status) in (1..).zip(seen.chars()) {
        let mut record = result(number, ProbeRole::Full);
        record.location = format!("p{number}").parse().unwrap();
        record.measurement.status = if status == 'd' { CheckStatus::Down } else { CheckStatus::Up };
        record.checked_at = if status == '-' { at(-90) } else { record.checked_at };
        live.take_result(&record, Some(record.checked_at.plus_ms(50)));
    }
    live.take_change(&change(9, MeasuredStatus::Up), verdict);
    assert_eq!(live.snapshot(at(10)).sure_since, since.map(at));
}

/// 100,000 services at 3 locations, after a month, stay within 120 MiB.
#[test]
fn a_month_of_a_service_fits_in_memory() {
    const ALLOCATOR_BYTES: usize = 16;
    let mut live = LiveServiceState::new(at(0));
    let mut record = result(0, ProbeRole::Full);
    for day in 0..40 {
        for location in ["a", "b", "c"] {
            record.location = location.parse().unwrap();
            record.checked_at = at(day * DAY_MS);
            live.take_result(&record, None);
        }
        live.window.add(day, up(1));
    }
    // A hash table holds up to 7/8 of its power of two, and a control byte each.
    let slot = (size_of::<(i64, LiveServiceState)>() + 1) * 131_072 / 100_000;
    let votes = live.votes.capacity() * size_of::<(LocationCode, LocationVote)>() + ALLOCATOR_BYTES;
    let service = slot + votes + live.window.heap_bytes() + ALLOCATOR_BYTES;
    assert!(service * 100_000 <= 120 << 20, "{service} bytes a service");
}

#[test]
fn good_results_are_shown_only_while_the_service_is_down() {
    let mut live = LiveServiceState::new(at(0));
    live.take_change(&change(100, MeasuredStatus::Down), Verdict::Down);
    assert_eq!(live.snapshot(at(200)).good_results, None);
    live.note_good_results(2);
    assert_eq!(live.snapshot(at(200)).good_results, Some(2));
    live.take_change(&change(300, MeasuredStatus::Up), Verdict::Up);
    assert_eq!(live.snapshot(at(400)).good_results, None);
}
