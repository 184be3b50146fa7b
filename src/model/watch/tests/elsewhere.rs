//! Locations with their own schedule: their results arrive without a request, and rechecks are requested instead of
//! started.

use super::*;
use crate::model::schedule::CheckSchedule;

const ELSEWHERE: PlannedLocation = PlannedLocation { round: RoundKeeper::Location, ..HERE };

fn vote(status: CheckStatus, after_s: i64) -> LocationVote {
    LocationVote { status, checked_at: seconds(after_s) }
}

fn seconds(after_s: i64) -> Timestamp {
    Timestamp::from_ms(START + after_s * 1_000)
}

/// A watch over three locations with their own schedule, all of which have seen the service up.
fn all_remote() -> WatchState {
    let plan = WatchPlan { locations: [ELSEWHERE; 3].into(), ..every_minute(3) };
    let (mut watch, effects) = WatchState::begin(plan, WatchMemory::default(), seconds(0));
    assert_eq!(effects, Vec::new());
    for slot in 0..3 {
        watch.take_remote_result(slot, vote(CheckStatus::Up, 1), seconds(1));
    }
    assert_eq!(watch.verdict(), Verdict::Up);
    watch
}

/// The effects of a result that became a vote; none for other results.
fn receive(watch: &mut WatchState, slot: usize, vote: LocationVote, now: Timestamp) -> Vec<WatchEffect> {
    match watch.take_remote_result(slot, vote, now) {
        ArrivalOutcome::Vote(effects) => effects,
        ArrivalOutcome::Late | ArrivalOutcome::Nothing => Vec::new(),
    }
}

fn requests(effects: &[WatchEffect]) -> Vec<RecheckRequest> {
    let request = |effect: &WatchEffect| match effect {
        WatchEffect::RequestRecheck(request) => Some(*request),
        _ => None,
    };
    effects.iter().filter_map(request).collect()
}

#[test]
fn remote_locations_get_no_run_effects() {
    let mut watch = all_remote();
    while let Some(at) = watch.next_wake().filter(|at| *at < seconds(3_600)) {
        let effects = watch.wake(at);
        assert!(!effects.iter().any(|effect| matches!(effect, WatchEffect::Run(_) | WatchEffect::Missed(_))));
    }
    assert_eq!(watch.verdict(), Verdict::Unknown, "a silence is noticed all the same");
}

#[test]
fn a_contradicting_remote_location_requests_rechecks_of_the_others() {
    let mut watch = all_remote();
    let now = seconds(61);
    let effects = receive(&mut watch, 0, vote(CheckStatus::Down, 61), now);
    let fast_rechecks_until = seconds(61 + 120);
    let expected = [(0, false), (1, true), (2, true)].map(|(slot, check_now)| RecheckRequest {
        slot,
        check_now,
        fast_rechecks_until,
    });
    assert_eq!(requests(&effects), expected);
    assert_eq!(watch.verdict(), Verdict::Up, "one of three");
    let effects = receive(&mut watch, 1, vote(CheckStatus::Down, 62), seconds(62));
    assert_eq!(watch.verdict(), Verdict::Down);
    let asked: Vec<usize> =
        requests(&effects).iter().filter(|request| request.check_now).map(|request| request.slot).collect();
    assert_eq!(asked, [0, 2], "whoever has not looked since");
    let effects = receive(&mut watch, 2, vote(CheckStatus::Down, 63), seconds(63));
    assert!(
        requests(&effects).iter().all(|request| request.fast_rechecks_until <= seconds(63)),
        "calm again: {effects:?}"
    );
    assert_eq!(requests(&effects).len(), 3);
}

/// The variants of [`ArrivalOutcome`], without effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    Vote,
    Late,
    Nothing,
}

impl Worth {
    fn of(outcome: &ArrivalOutcome) -> Self {
        match outcome {
            ArrivalOutcome::Vote(_) => Self::Vote,
            ArrivalOutcome::Late => Self::Late,
            ArrivalOutcome::Nothing => Self::Nothing,
        }
    }
}

/// Results that were measured while their location was cut off change neither the verdict nor the status timeline.
#[rstest::rstest]
#[case::in_time(61, 61, Worth::Vote)]
#[case::as_long_on_its_way_as_may_be(61, 81, Worth::Vote)]
#[case::late(61, 82, Worth::Late)]
#[case::of_a_clock_that_is_a_little_ahead(62, 60, Worth::Vote)]
#[case::of_the_future(63, 60, Worth::Nothing)]
#[case::older_than_the_known_vote(0, 2, Worth::Nothing)]
#[case::known_already(1, 2, Worth::Nothing)]
#[case::known_for_long(1, 61, Worth::Nothing)]
fn a_late_result_changes_nothing(#[case] checked_s: i64, #[case] arrived_s: i64, #[case] expected: Worth) {
    let mut watch = all_remote();
    for slot in 0..2 {
        let outcome = watch.take_remote_result(slot, vote(CheckStatus::Down, checked_s), seconds(arrived_s));
        assert_eq!(Worth::of(&outcome), expected);
        let again = watch.take_remote_result(slot, vote(CheckStatus::Down, checked_s), seconds(arrived_s));
        assert_eq!(again, ArrivalOutcome::Nothing);
    }
    let verdict = if expected == Worth::Vote { Verdict::Down } else { Verdict::Up };
    assert_eq!(watch.verdict(), verdict);
}

/// Regression: a result that arrived 7 s after the time-out of its check was accepted, but still left a no-data period.
#[test]
fn a_result_that_is_in_time_leaves_no_gap() {
    let mut watch = all_remote();
    let is_change = |effect: &WatchEffect| matches!(effect, WatchEffect::Change(_));
    let effects = watch.wake(seconds(81));
    assert!(!effects.iter().any(is_change), "what was due after a minute may be on its way: {effects:?}");
    let effects = receive(&mut watch, 0, vote(CheckStatus::Up, 61), seconds(81));
    assert!(!effects.iter().any(is_change), "{effects:?}");
    assert!(watch.wake(seconds(61 + 120)).iter().any(is_change), "and not for ever");
}

#[test]
fn a_remote_schedule_follows_recheck_requests() {
    let (mut watch, _) = WatchState::begin(every_minute(1), WatchMemory::default(), seconds(0));
    let check = |watch: &mut WatchState, at: Timestamp| {
        let effects = watch.wake(at);
        let run = |effect: &WatchEffect| match effect {
            WatchEffect::Run(attempt) => Some(*attempt),
            _ => None,
        };
        let attempt = effects.iter().find_map(run).expect("it is due");
        watch.finish(attempt, at, CheckOutcome::Measured(measurement(CheckStatus::Up)), at);
    };
    check(&mut watch, seconds(0));
    assert_eq!(watch.next_wake(), Some(seconds(60)));
    watch.apply_recheck_request(false, 20_000, seconds(10));
    assert_eq!(watch.next_wake(), Some(seconds(22)), "what was planned for later comes sooner");
    watch.apply_recheck_request(true, 20_000, seconds(10));
    assert_eq!(watch.next_wake(), Some(seconds(10)));
    check(&mut watch, seconds(10));
    assert_eq!(watch.next_wake(), Some(seconds(22)), "five times as often");
    check(&mut watch, seconds(22));
    check(&mut watch, seconds(34));
    assert_eq!(watch.next_wake(), Some(seconds(60)), "the hurry is over");
    watch.apply_recheck_request(false, i64::MAX, seconds(35));
    check(&mut watch, seconds(47));
    assert_eq!(watch.next_wake(), Some(seconds(59)));
    check(&mut watch, seconds(35 + 120));
    assert_eq!(watch.next_wake(), Some(seconds(180)), "two intervals are the longest hurry");
}

proptest! {
    /// A location that is alone in its plan has the same due times as among the others.
    #[test]
    fn a_location_keeps_its_due_times(plan in plans(), slot in 0_usize..5, now in 0_i64..4_000_000_000_000) {
        let Some(alone) = plan.of_location(slot) else { return Ok(()) };
        let now = Timestamp::from_ms(now);
        let among = CheckSchedule::new(plan.hash, plan.interval_ms, slot, plan.locations.len());
        prop_assert_eq!(CheckSchedule::new(alone.hash, alone.interval_ms, 0, 1).next_after(now), among.next_after(now));
    }
}
