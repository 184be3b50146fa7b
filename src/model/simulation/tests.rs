//! Stored results as scripts, and their outcome with other settings and another incident policy.

use rstest::rstest;

use super::*;
use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::incident_policy::IncidentRules;
use crate::model::service::{OverrideStatus, ProbeRole};
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::status_rules::{FlappingRule, StatusRules};
use crate::model::time_range::TimeRange;
use crate::model::watch::{PlannedLocation, RoundKeeper, WatchPlan};

const SECOND_MS: i64 = 1_000;
const START: Timestamp = Timestamp::from_ms(1_000_000_000);

const fn at(second: i64) -> Timestamp {
    START.plus_ms(second * SECOND_MS)
}

/// Stored results of locations that are separated by `/`, one result a second: `u` up, `g` degraded, `d` down after all
/// attempts, `r` up at the second attempt, `s` up after 400 ms, `-` none.
fn results(script: &str) -> Vec<Vec<RecordedCheck>> {
    let lines: Vec<&str> = script.split('/').collect();
    let count = i64::try_from(lines.len()).unwrap();
    let of_line = |(slot, line): (i64, &str)| {
        let letters = (0..).zip(line.chars()).filter(|(_, letter)| *letter != '-');
        letters.map(|(second, letter)| seen(at(second).plus_ms(slot * SECOND_MS / count), letter)).collect()
    };
    (0..).zip(lines).map(of_line).collect()
}

fn seen(due_at: Timestamp, letter: char) -> RecordedCheck {
    let (status, attempt, after_ms, took_ms) = match letter {
        'u' => (CheckStatus::Up, 1, 0, 10),
        's' => (CheckStatus::Up, 1, 0, 400),
        'g' => (CheckStatus::Degraded, 1, 0, 10),
        'r' => (CheckStatus::Up, 2, 110, 10),
        _ => (CheckStatus::Down, 1, 0, 10),
    };
    RecordedCheck { due_at, checked_at: due_at.plus_ms(after_ms), status, attempt, took_ms }
}

fn plan(locations: usize) -> WatchPlan {
    let here = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Watch };
    WatchPlan {
        hash: 0,
        interval_ms: SECOND_MS,
        timeout_ms: 500,
        attempts: 1,
        backoff_ms: 100,
        backoff_max_ms: 1_000,
        uncertain_interval_ms: SECOND_MS,
        rules: StatusRules::default(),
        locations: vec![here; locations].into(),
    }
}

/// Applies a word such as `open=4` to the plan or the rules.
fn set(plan: &mut WatchPlan, rules: &mut IncidentRules, word: &str) {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let number = || value.parse::<u32>().unwrap();
    match name {
        "open" => rules.open_after_seconds = number(),
        "resolve" => rules.resolve_after_seconds = value.parse().ok(),
        "quiet" => rules.down_severity = None,
        "recovery" => plan.rules.recovery_checks = value.parse().unwrap(),
        "attempts" => plan.attempts = value.parse().unwrap(),
        "timeout" => plan.timeout_ms = number().into(),
        "quorum" => plan.rules.quorum = value.parse().unwrap(),
        "flapping" => plan.rules.flapping = FlappingRule { changes: value.parse().unwrap(), minutes: 30 },
        other => panic!("no such setting: {other}"),
    }
}

/// The simulated outcome as text: changes as `SECOND STATUS`, and incidents as `SEVERITY START-END`.
fn outcome(script: &str, windows: &[ServiceWindow], words: &str) -> String {
    let results = results(script);
    let (mut plan, mut rules) = (plan(results.len()), IncidentRules::default());
    let rhythm = RecordedCadence::of(&plan);
    words.split_whitespace().for_each(|word| set(&mut plan, &mut rules, word));
    let seconds = script.split('/').map(str::len).max().unwrap_or(0);
    let range = TimeRange { from: START, to: at(i64::try_from(seconds).unwrap()) };
    let seen = results.iter().map(Vec::as_slice).collect();
    let known = PriorStatus::default();
    let replay = CheckReplay { service: 1, plan, rhythm, seen, known, breaks: &[] };
    let events = replay.run(range).unwrap().status_changes;
    let incidents =
        IncidentSimulation { service: 1, known, rules: Some(&rules), windows }.incidents(&events, range);
    let second = |at: Timestamp| at.ms_since(START).div_euclid(SECOND_MS);
    let word = |change: &StatusChange| match change.cause {
        ChangeCause::Flapping | ChangeCause::Settled => change.cause.as_str(),
        _ => change.to.as_str(),
    };
    let changes = events.iter().map(|event| &event.change);
    let changes = changes.filter(|change| change.from != MeasuredStatus::Unknown);
    let changes = changes.map(|change| format!("{} {}", second(change.at), word(change)));
    let incidents = incidents.iter().map(|incident| {
        let end = incident.resolved_at.map_or_else(String::new, |end| second(end).to_string());
        format!("{} {}-{end}", incident.severity.as_str(), second(incident.started_at))
    });
    changes.chain(incidents).collect::<Vec<_>>().join(", ")
}

/// Cases: results, and words of [`set`] for the simulated settings; the outcome. An outage ends with the first good check
/// of any location after the last bad one, as in the engine.
#[rstest]
#[case::an_outage("uuuddduuuuuu", "resolve=2", "3 down, 6 up, major 3-6")]
#[case::never_resolved("uuuddduuuuuu", "resolve=never", "3 down, 6 up, major 3-")]
#[case::a_patient_policy("uuuddduuuuuu", "open=4", "3 down, 6 up")]
#[case::one_that_waits_just_long_enough("uuudddduuuuu", "open=3 resolve=1", "3 down, 7 up, major 3-7")]
#[case::no_incident_wanted("uuuddduuuuuu", "quiet", "3 down, 6 up")]
#[case::a_short_return("uudduddduuuuu", "resolve=3", "2 down, 4 up, 5 down, 8 up, major 2-8")]
#[case::more_recovery_checks("uudduddduuuuuu", "recovery=2 resolve=1", "2 down, 8 up, major 2-8")]
#[case::a_blip("uuuduuuuu", "resolve=1", "3 down, 4 up, major 3-4")]
#[case::one_that_was_tried_again("uuuruuuuu", "attempts=2", "")]
#[case::the_same_without_retries("uuuruuuuu", "resolve=1", "3 down, 4 up, major 3-4")]
#[case::the_majority_is_up("uuuddduuuu/uuuuuuuuuu/uuuuuuuuuu", "", "")]
#[case::any_is_enough("uuuddduuuu/uuuuuuuuuu/uuuuuuuuuu", "quorum=any quiet", "3 down, 5 up")]
#[case::most_are_down("uuudddduuu/uuudddduuu/uuuuuuuuuu", "quiet", "3 down, 6 up")]
#[case::all_locations_required("uuudddduuu/uuudddduuu/uuuuuuuuuu", "quorum=all quiet", "")]
#[case::a_degraded_service("uuugguuuu", "", "3 degraded, 5 up")]
#[case::a_slow_one("uuussuuuu", "", "")]
#[case::a_shorter_timeout("uuussuuuu", "timeout=300 quiet", "3 down, 5 up")]
#[case::flapping("uududuuuuuu", "flapping=2 quiet", "2 down, 3 up, 4 down, 4 flapping, 5 up, minor 4-")]
#[case::not_enough_transitions("uududuuuuuu", "quiet", "2 down, 3 up, 4 down, 5 up")]
fn each_setting_has_its_effect(#[case] script: &str, #[case] words: &str, #[case] expected: &str) {
    assert_eq!(outcome(script, &[], words), expected);
}

/// A location that checks every second and then has no results leaves a no-data period from the first missing result.
#[test]
fn unmeasured_time_is_no_data() {
    let gap = format!("uuu{}uuu", "-".repeat(60));
    assert_eq!(outcome(&gap, &[], ""), "3 no_data, 63 up");
}

/// Maintenances and overrides hold incidents back. While a service is unreachable, no incident starts.
#[rstest]
#[case(WindowKind::Maintenance, "3 down, 20 up, major 3-20")]
#[case(WindowKind::Override(OverrideStatus::Up), "3 down, 20 up, major 3-20")]
#[case(WindowKind::Unreachable, "3 down, 20 up, major 10-20")]
fn recorded_windows_are_applied(#[case] kind: WindowKind, #[case] expected: &str) {
    let window = ServiceWindow { service: 1, kind, from: at(2), to: Some(at(10)) };
    let script = format!("uuu{}uuuu", "d".repeat(17));
    assert_eq!(outcome(&script, &[window], "resolve=1"), expected);
    let forever = ServiceWindow { to: None, ..window };
    assert_eq!(outcome(&script, &[forever], "resolve=1"), "3 down, 20 up");
}

/// Results from before a pause or a change of the target do not count.
#[test]
fn a_history_break_resets_the_verdict() {
    let seen = results("uuuddddd------uuuu");
    let plan = plan(1);
    let breaks = [HistoryBreak { at: at(8), cause: ChangeCause::Paused }];
    let replay = CheckReplay {
        service: 1,
        rhythm: RecordedCadence::of(&plan),
        plan,
        seen: vec![&seen[0]],
        known: PriorStatus { status: MeasuredStatus::Up, since: Some(at(-60)) },
        breaks: &breaks,
    };
    let events = replay.run(TimeRange { from: START, to: at(18) }).unwrap().status_changes;
    let steps: Vec<_> = events.iter().map(|event| (event.change.to, event.change.cause)).collect();
    let (votes, paused) = (ChangeCause::Votes, ChangeCause::Paused);
    let expected =
        [(MeasuredStatus::Down, votes), (MeasuredStatus::Unknown, paused), (MeasuredStatus::Up, votes)];
    assert_eq!(steps, expected);
}

#[test]
fn a_period_that_takes_too_long_is_refused() {
    let plan = plan(1);
    let rhythm = RecordedCadence::of(&plan);
    let replay =
        CheckReplay { service: 1, plan, rhythm, seen: vec![&[]], known: PriorStatus::default(), breaks: &[] };
    let month = TimeRange { from: START, to: START.plus_ms(31 * 86_400_000) };
    assert_eq!(replay.run(month), Err(ReplayLimitExceeded));
}

#[test]
fn simulated_periods_differ_where_their_statuses_differ() {
    use MeasuredStatus::{Down, NoData, Unknown, Up};
    let change = |second: i64, to| StatusChange {
        service: 1,
        at: at(second),
        from: Unknown,
        to,
        cause: ChangeCause::Votes,
    };
    let one = [change(0, Up), change(10, Down), change(20, Up), change(30, NoData)];
    let other = [change(-5, Up), change(12, Down), change(19, Up), change(30, Unknown)];
    let range = TimeRange { from: START, to: at(40) };
    let compared = |one: &[StatusChange], other: &[StatusChange], range| {
        let StatusComparison { differing_ms, known_ms } = compare(one, other, range);
        [differing_ms, known_ms]
    };
    assert_eq!(compared(&one, &other, range)[0], 3_000);
    assert_eq!(compared(&one, &one, range)[0], 0);
    assert_eq!(compared(&[], &one, TimeRange { from: START, to: at(5) }), [5_000, 5_000]);
    assert_eq!(compared(&[], &[], range), [0, 0]);
}
