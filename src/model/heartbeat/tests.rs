//! Tests with sequences of pings and times; seconds count from an arbitrary zero.

use rstest::rstest;

use super::*;
use crate::model::verdict::LocationVote;

const INTERVAL: i64 = 60;
const GRACE: i64 = 10;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(1_000_000_000 + seconds * 1_000)
}

fn seconds(moment: Timestamp) -> i64 {
    moment.ms_since(at(0)) / 1_000
}

fn plan(last: Option<(i64, bool)>, counts_from: Option<i64>) -> HeartbeatPlan {
    let last = last.map(|(seconds, has_failed)| HeartbeatPing { at: at(seconds), has_failed });
    let stored = StoredPings { last, counts_from: counts_from.map(at) };
    HeartbeatPlan {
        interval_ms: INTERVAL * 1_000,
        grace_ms: GRACE * 1_000,
        stored,
        flapping: FlappingRule::default(),
    }
}

/// Effects as text: `up@5` is an entry of the history at second 5, `>up@5` a change of the status.
fn text(effects: &[WatchEffect]) -> String {
    let lines: Vec<String> = effects
        .iter()
        .map(|effect| match effect {
            WatchEffect::Record(finished) => {
                let failure = finished.measurement.failure.as_deref();
                let word =
                    failure.map_or("up", |failure| failure.code.as_str().trim_start_matches("heartbeat_"));
                format!("{word}@{}", seconds(finished.checked_at))
            }
            WatchEffect::Change(change) => format!(">{}@{}", change.to.as_str(), seconds(change.at)),
            other => format!("{other:?}"),
        })
        .collect();
    lines.join(" ")
}

/// Contract 4.3.11. Columns: steps (a ping, a reported failure or the passing of time; the second; the effects) and the
/// next deadline.
#[rstest]
#[case(&[("WAKE", 1_000, "")], None)]
#[case(&[("PING", 5, "up@5 >up@5"), ("PING", 9, "up@9"), ("WAKE", 78, ""), ("WAKE", 79, "missed@79 >down@79")], Some(139))]
#[case(&[("PING", 0, "up@0 >up@0"), ("WAKE", 70, "missed@70 >down@70"), ("WAKE", 130, "missed@130")], Some(190))]
#[case(&[("PING", 0, "up@0 >up@0"), ("WAKE", 72, "missed@70 >down@70"), ("PING", 75, "up@75 >up@75")], Some(145))]
#[case(&[("FAIL", 0, "fail@0 >down@0"), ("WAKE", 70, "missed@70"), ("FAIL", 80, "fail@80")], Some(150))]
#[case(&[("PING", 0, "up@0 >up@0"), ("PING", 71, "missed@70 >down@70 up@71 >up@71")], Some(141))]
#[case(&[("PING", 0, "up@0 >up@0"), ("WAKE", 500, ">no_data@70 missed@500 >down@500")], Some(550))]
#[case(&[("PING", 5, "up@5 >up@5"), ("PING", 4, "up@4")], Some(75))]
fn pings_and_deadlines_make_entries_and_changes(
    #[case] moves: &[(&str, i64, &str)],
    #[case] next: Option<i64>,
) {
    let (mut heartbeat, effects) = Heartbeat::begin(plan(None, None), WatchMemory::default(), at(0), &[]);
    assert_eq!(text(&effects), "");
    for (word, when, expected) in moves {
        let effects = match *word {
            "WAKE" => heartbeat.wake(at(*when), &[]),
            word => {
                heartbeat.ping(HeartbeatPing { at: at(*when), has_failed: word == "FAIL" }, at(*when), &[])
            }
        };
        assert_eq!(text(&effects), *expected, "{word} {when}");
    }
    assert_eq!(heartbeat.next_wake().map(seconds), next);
}

/// A ping that arrived before the deadline but was stored after it still counts, and the next deadline follows from it.
#[rstest]
#[case::success(false, "up@69 >up@70")]
#[case::failure(true, "fail@69")]
fn a_ping_that_was_stored_after_its_deadline_counts(#[case] has_failed: bool, #[case] expected: &str) {
    let (mut heartbeat, _) =
        Heartbeat::begin(plan(Some((0, false)), None), WatchMemory::default(), at(1), &[]);
    assert_eq!(text(&heartbeat.wake(at(70), &[])), "missed@70 >down@70");
    let ping = HeartbeatPing { at: at(69), has_failed };
    assert_eq!(text(&heartbeat.ping(ping, at(71), &[])), expected);
    assert_eq!(heartbeat.next_wake().map(seconds), Some(139));
    assert_eq!(heartbeat.ping(ping, at(73), &[]), [], "it is heard again");
}

fn memory(status: MeasuredStatus, entry: Option<(i64, CheckStatus)>) -> WatchMemory {
    let vote = |(seconds, status)| (0, LocationVote { status, checked_at: at(seconds) });
    let votes = entry.map(vote).into_iter().collect();
    WatchMemory { votes, status, status_since: Some(at(0)), ..WatchMemory::default() }
}

/// A restart at 1000 s. Columns: newest stored ping, `counts_from`, status and newest entry of the history, effects, next
/// deadline.
#[rstest]
#[case::never_pinged(None, None, (MeasuredStatus::Unknown, None), "", None)]
#[case::in_time(Some((950, false)), None, (MeasuredStatus::Up, Some((950, CheckStatus::Up))), "", Some(1_020))]
#[case::passed(Some((900, false)), None, (MeasuredStatus::Up, Some((900, CheckStatus::Up))), ">no_data@970 missed@1000 >down@1000", Some(1_030))]
#[case::long_passed(Some((10, false)), None, (MeasuredStatus::Up, Some((10, CheckStatus::Up))), ">no_data@80 missed@1000 >down@1000", Some(1_040))]
#[case::recorded_before(Some((900, false)), None, (MeasuredStatus::Down, Some((970, CheckStatus::Down))), "", Some(1_030))]
#[case::lost_by_the_history(Some((950, false)), None, (MeasuredStatus::Unknown, None), "up@950 >up@950", Some(1_020))]
#[case::lost_failure(Some((950, true)), None, (MeasuredStatus::Up, Some((940, CheckStatus::Up))), "fail@950 >down@950", Some(1_020))]
#[case::an_old_view_of_the_store(Some((10, false)), None, (MeasuredStatus::Up, Some((950, CheckStatus::Up))), "", Some(1_020))]
#[case::resumed(Some((10, false)), Some(980), (MeasuredStatus::Unknown, Some((10, CheckStatus::Up))), "", Some(1_050))]
#[case::resumed_without_history(Some((10, false)), Some(980), (MeasuredStatus::Unknown, None), "", Some(1_050))]
#[case::resumed_but_never_pinged(None, Some(980), (MeasuredStatus::Unknown, None), "", None)]
fn a_restart_continues_from_the_stored_state(
    #[case] last: Option<(i64, bool)>,
    #[case] counts_from: Option<i64>,
    #[case] (status, entry): (MeasuredStatus, Option<(i64, CheckStatus)>),
    #[case] expected: &str,
    #[case] next: Option<i64>,
) {
    let (heartbeat, effects) =
        Heartbeat::begin(plan(last, counts_from), memory(status, entry), at(1_000), &[]);
    assert_eq!((text(&effects).as_str(), heartbeat.next_wake().map(seconds)), (expected, next));
}

#[test]
fn a_ping_from_the_store_is_not_counted_twice() {
    let (mut heartbeat, effects) =
        Heartbeat::begin(plan(Some((5, false)), None), WatchMemory::default(), at(6), &[]);
    assert_eq!(text(&effects), "up@5 >up@5");
    assert_eq!(heartbeat.ping(HeartbeatPing { at: at(5), has_failed: false }, at(6), &[]), []);
}

#[test]
fn a_pause_ends_the_reported_status() {
    let (mut heartbeat, _) =
        Heartbeat::begin(plan(Some((0, false)), None), WatchMemory::default(), at(1), &[]);
    assert_eq!(text(&heartbeat.end(ChangeCause::Paused, at(5), &[])), ">unknown@5");
    assert_eq!(heartbeat.next_wake(), None);
}

#[test]
fn new_settings_count_from_their_change() {
    let (mut heartbeat, _) =
        Heartbeat::begin(plan(Some((0, false)), None), WatchMemory::default(), at(1), &[]);
    let effects = heartbeat.change_plan(
        HeartbeatPlan { interval_ms: 20_000, ..plan(Some((0, false)), Some(50)) },
        at(50),
        &[],
    );
    assert_eq!((text(&effects).as_str(), heartbeat.next_wake().map(seconds)), ("", Some(80)));
    assert_eq!(heartbeat.shift(3_600_000, at(3_655)).len(), 2, "what was skipped is a gap");
    assert_eq!(heartbeat.next_wake().map(seconds), Some(3_680));
}

/// A restart at 1000 s after a stop. Columns: newest stored ping, status and newest entry of the history, start of the
/// stop, effects, next deadline.
#[rstest]
#[case::no_deadline_passed(Some(940), (MeasuredStatus::Up, Some((940, CheckStatus::Up))), 960, "", Some(1_010))]
#[case::it_may_have_pinged(Some(920), (MeasuredStatus::Up, Some((920, CheckStatus::Up))), 960, ">no_data@990", Some(1_070))]
#[case::it_may_have_pinged_early(Some(925), (MeasuredStatus::Up, Some((925, CheckStatus::Up))), 930, ">no_data@995", Some(1_070))]
#[case::many_passed(Some(10), (MeasuredStatus::Up, Some((10, CheckStatus::Up))), 60, ">no_data@80", Some(1_070))]
#[case::it_had_died_before(Some(10), (MeasuredStatus::Down, Some((80, CheckStatus::Down))), 90, ">no_data@140", Some(1_070))]
#[case::it_was_found_dead_later_than_it_was_expected(Some(10), (MeasuredStatus::Down, Some((970, CheckStatus::Down))), 980, "", Some(1_030))]
#[case::the_stop_began_before_the_deadline(Some(915), (MeasuredStatus::Up, Some((915, CheckStatus::Up))), 984, ">no_data@985", Some(1_070))]
#[case::the_stop_began_at_the_deadline(Some(915), (MeasuredStatus::Up, Some((915, CheckStatus::Up))), 985, "missed@1000", Some(1_045))]
fn pings_lost_during_a_stop_are_not_counted_as_missed(
    #[case] last: Option<i64>,
    #[case] (status, entry): (MeasuredStatus, Option<(i64, CheckStatus)>),
    #[case] stopped: i64,
    #[case] expected: &str,
    #[case] next: Option<i64>,
) {
    let stop = [ListeningGap::new(at(stopped), at(1_000))];
    let plan = plan(last.map(|last| (last, false)), None);
    let (heartbeat, effects) = Heartbeat::begin(plan, memory(status, entry), at(1_000), &stop);
    let expected = expected.replace("missed@1000", ">no_data@985 missed@1000 >down@1000");
    assert_eq!((text(&effects), heartbeat.next_wake().map(seconds)), (expected, next));
}

/// A restart at 1000 s. The earlier process listened until 990 s, long after the deadline at 80 s. The deadline is judged
/// again only if its result was not stored.
#[rstest]
#[case::stored((MeasuredStatus::Down, 80), Some((980, CheckStatus::Down)), "")]
#[case::stored_without_its_entries((MeasuredStatus::Down, 80), Some((10, CheckStatus::Up)), "")]
#[case::stored_as_no_data((MeasuredStatus::NoData, 80), Some((10, CheckStatus::Up)), "")]
#[case::not_stored((MeasuredStatus::Up, 10), Some((10, CheckStatus::Up)), ">no_data@80 missed@1000 >down@1000")]
#[case::the_history_is_away((MeasuredStatus::Unknown, 0), None, "up@10 >up@10 >no_data@80 missed@1000 >down@1000")]
#[case::the_clock_was_set_ahead((MeasuredStatus::Up, 985), Some((10, CheckStatus::Up)), "")]
fn a_deadline_without_stored_result_is_reported_again(
    #[case] (status, since): (MeasuredStatus, i64),
    #[case] entry: Option<(i64, CheckStatus)>,
    #[case] expected: &str,
) {
    let stop = [ListeningGap::new(at(990), at(1_000))];
    let memory = WatchMemory { status_since: Some(at(since)), ..memory(status, entry) };
    let (heartbeat, effects) = Heartbeat::begin(plan(Some((10, false)), None), memory, at(1_000), &stop);
    assert_eq!((text(&effects).as_str(), heartbeat.next_wake().map(seconds)), (expected, Some(1_040)));
}

/// The process is restarted in each period. The third period is judged nevertheless, and deadlines that an earlier process
/// has judged are not judged again.
#[test]
fn repeated_restarts_hide_a_dead_job_for_at_most_two_periods() {
    let stops = [55, 115, 175].map(|from| ListeningGap::new(at(from), at(from + 10)));
    let mut status = memory(MeasuredStatus::Up, Some((0, CheckStatus::Up)));
    for (count, expected, deadline, next, is_unheard) in [
        (1, ">no_data@70", 70, 135, false),
        (2, "", 135, 195, true),
        (3, "missed@195 >down@195", 195, 255, false),
    ] {
        let now = stops[count - 1].to;
        let (mut heartbeat, effects) =
            Heartbeat::begin(plan(Some((0, false)), None), status.clone(), now, &stops[..count]);
        assert_eq!(text(&effects), "", "start {count}");
        let effects = heartbeat.wake(at(deadline), &stops[..count]);
        assert_eq!(text(&effects), expected, "start {count}");
        assert_eq!(heartbeat.next_wake().map(seconds), Some(next), "start {count}");
        assert_eq!(heartbeat.has_used_excuses(), is_unheard, "start {count}");
        status = memory(MeasuredStatus::NoData, Some((0, CheckStatus::Up)));
        status.status_since = Some(at(70));
    }
}

/// A daily job flaps and then sends no ping until the next day; flapping still ends after its window.
#[test]
fn flapping_ends_by_time() {
    let flapping = FlappingRule { changes: 1, minutes: 1 };
    let daily = HeartbeatPlan { interval_ms: 86_400_000, flapping, ..plan(None, None) };
    let (mut heartbeat, _) = Heartbeat::begin(daily, WatchMemory::default(), at(0), &[]);
    for (second, has_failed) in [(0, false), (1, true), (2, false), (3, true), (4, false)] {
        heartbeat.ping(HeartbeatPing { at: at(second), has_failed }, at(second), &[]);
    }
    assert_eq!(heartbeat.next_wake().map(seconds), Some(64), "the last turn leaves the window");
    let effects = heartbeat.wake(at(64), &[]);
    let causes: Vec<ChangeCause> = effects
        .iter()
        .filter_map(|effect| match effect {
            WatchEffect::Change(change) => Some(change.cause),
            _ => None,
        })
        .collect();
    assert_eq!(causes, [ChangeCause::Settled]);
    assert_eq!(heartbeat.next_wake().map(seconds), Some(4 + 86_400 + GRACE));
}

/// A changed flapping rule does not cause a deadline to be judged again.
#[test]
fn a_missed_deadline_is_reported_once() {
    let plan = plan(Some((0, false)), None);
    let (mut heartbeat, _) = Heartbeat::begin(plan, WatchMemory::default(), at(1), &[]);
    let stop = [ListeningGap::new(at(60), at(65))];
    assert_eq!(text(&heartbeat.wake(at(70), &stop)), ">no_data@70");
    let flapping = FlappingRule { changes: 0, ..plan.flapping };
    assert_eq!(heartbeat.change_plan(HeartbeatPlan { flapping, ..plan }, at(75), &[]), []);
    assert_eq!(heartbeat.next_wake().map(seconds), Some(135));
}

/// The clock was set ahead after a ping. An absence before the ping excuses no deadline; an absence after it does.
#[rstest]
#[case::before_the_ping(3_590, "missed@3670 >down@3670", 3_730)]
#[case::after_it(3_635, ">no_data@3670", 3_710)]
fn a_clock_change_moves_the_start_of_the_period(
    #[case] absent_from: i64,
    #[case] expected: &str,
    #[case] next: i64,
) {
    let (mut heartbeat, _) =
        Heartbeat::begin(plan(Some((0, false)), None), WatchMemory::default(), at(1), &[]);
    heartbeat.shift(3_600_000, at(3_630));
    let absence = [ListeningGap::new(at(absent_from), at(absent_from + 5))];
    assert_eq!(text(&heartbeat.wake(at(3_670), &absence)), expected);
    assert_eq!(heartbeat.next_wake().map(seconds), Some(next));
}

/// The process starts while the clock is ten days ahead and doubted, so deadlines of the skipped days are not missed. A job
/// that pings is up; a silent job is missed at the third deadline.
#[test]
fn a_start_with_a_doubted_clock_reports_nothing_as_missed() {
    let (start, ping) = (864_000, HeartbeatPing { at: at(864_060), has_failed: false });
    let before = memory(MeasuredStatus::Up, Some((0, CheckStatus::Up)));
    let known = |now: i64| {
        let doubt = ListeningGap { is_doubt: true, ..ListeningGap::new(at(start), at(now)) };
        [ListeningGap::new(at(30), at(start)), doubt]
    };
    let (mut silent, effects) =
        Heartbeat::begin(plan(Some((0, false)), None), before, at(start), &known(start));
    assert_eq!((text(&effects).as_str(), silent.next_wake().map(seconds)), (">no_data@70", Some(864_070)));
    let mut alive = silent.clone();
    assert_eq!(text(&alive.ping(ping, ping.at, &known(864_060))), "up@864060 >up@864060");
    assert_eq!(text(&silent.wake(at(864_070), &known(864_070))), "");
    assert_eq!(text(&silent.wake(at(864_140), &known(864_140))), "missed@864140 >down@864140");
}
