//! The newest outage among status changes, and the checks that are shown around its edges.

use std::num::NonZeroU32;

use rstest::rstest;

use super::*;
use crate::model::check::{CheckFailure, ErrorCode, Measurement, PhaseTimings};
use crate::model::history::ChangeCause;
use crate::model::quorum::Quorum;

const INTERVAL_MS: i64 = 60_000;

fn status(letter: char) -> MeasuredStatus {
    match letter {
        'u' => MeasuredStatus::Up,
        'g' => MeasuredStatus::Degraded,
        'd' => MeasuredStatus::Down,
        'n' => MeasuredStatus::NoData,
        _ => MeasuredStatus::Unknown,
    }
}

fn change(at: i64, from: char, to: char) -> StatusChange {
    let cause = if from == to { ChangeCause::Flapping } else { ChangeCause::Votes };
    StatusChange { service: 1, at: Timestamp::from_ms(at), from: status(from), to: status(to), cause }
}

/// A check as `fra 100 d`: location, start, status; it lasts 10 ms.
fn check(text: &str) -> StoredCheck {
    let mut parts = text.split_whitespace();
    let (probe, at) = (parts.next().unwrap(), parts.next().unwrap().parse().unwrap());
    let status = match parts.next().unwrap() {
        "u" => CheckStatus::Up,
        "g" => CheckStatus::Degraded,
        _ => CheckStatus::Down,
    };
    let failure = CheckFailure::new(ErrorCode::ConnectRefused, "refused");
    let checked_at = Timestamp::from_ms(at);
    StoredCheck {
        checked_at,
        probe: probe.into(),
        scheduled_at: checked_at.plus_ms(-2),
        attempt: 1,
        measurement: Measurement {
            status,
            response_time: None,
            timings: PhaseTimings { total: NonZeroU32::new(10_000), ..PhaseTimings::default() },
            status_code: None,
            failure: (status != CheckStatus::Up).then(|| Box::new(failure)),
        },
    }
}

fn checks(text: &str) -> Vec<StoredCheck> {
    text.split(',').filter(|text| !text.trim().is_empty()).map(check).collect()
}

/// The statuses after the first one, at 1, 2, 3 and so on; a time; the starts of the outages that overlap it.
#[rstest]
#[case::both("xuduududu", 1, 9, &[2, 5, 7])]
#[case::the_first("xuduudu", 1, 3, &[2])]
#[case::ends_at_its_start("xuduudu", 3, 4, &[2])]
#[case::one_that_lasts("xudn", 8, 9, &[2])]
#[case::between("xuduuudu", 4, 5, &[])]
fn outages_overlap_a_time(#[case] letters: &str, #[case] from: i64, #[case] to: i64, #[case] starts: &[i64]) {
    let letters: Vec<char> = letters.chars().collect();
    let changes: Vec<StatusChange> =
        letters.windows(2).zip(1..).map(|(pair, at)| change(at, pair[0], pair[1])).collect();
    let outages = OutageEdges::all(&changes);
    let (from, to) = (Timestamp::from_ms(from), Timestamp::from_ms(to));
    let found: Vec<i64> =
        outages.iter().filter(|one| one.is_within(from, to)).map(|one| one.start.at.ms()).collect();
    assert_eq!(found, starts);
}

/// The statuses after the first one, at 1, 2, 3 and so on; the times of start, worsening and end.
#[rstest]
#[case::nothing("xu", None)]
#[case::current("xud", Some((2, None, None)))]
#[case::over("xudu", Some((2, None, Some(3))))]
#[case::the_newest_of_two("xudud", Some((4, None, None)))]
#[case::worse("xugdu", Some((2, Some(3), Some(4))))]
#[case::better_is_no_edge("xudgu", Some((2, None, Some(4))))]
#[case::worse_again("xugdgdu", Some((2, Some(3), Some(6))))]
#[case::a_gap_does_not_end_it("xudndu", Some((2, None, Some(5))))]
#[case::a_gap_at_the_end("xudn", Some((2, None, None)))]
#[case::up_after_a_gap("xudnu", Some((2, None, Some(4))))]
#[case::flapping_is_no_edge("xuddu", Some((2, None, Some(4))))]
#[case::down_from_the_start("xd", Some((1, None, None)))]
fn the_newest_outage_has_its_edges(
    #[case] statuses: &str,
    #[case] expected: Option<(i64, Option<i64>, Option<i64>)>,
) {
    let letters: Vec<char> = statuses.chars().collect();
    let changes: Vec<StatusChange> =
        (1..).zip(letters.windows(2)).map(|(at, pair)| change(at, pair[0], pair[1])).collect();
    let edges = OutageEdges::newest(&changes);
    let at = |change: StatusChange| change.at.ms();
    assert_eq!(edges.map(|edges| (at(edges.start), edges.worse.map(at), edges.end.map(at))), expected);
    let times: Vec<i64> = edges.iter().flat_map(OutageEdges::in_order).map(at).collect();
    assert!(times.is_sorted());
}

/// The edge at 1,000 as two letters, the rule, and the checks; then the shown checks with their parts.
#[rstest]
#[case::one_location(
    "ud",
    Quorum::Majority,
    1,
    "fra 800 u, fra 900 u, fra 1000 d, fra 1100 d, fra 1200 d",
    "before fra 900, deciding fra 1000, after fra 1100"
)]
#[case::the_majority_decides(
    "ud",
    Quorum::Majority,
    1,
    "fra 900 u, oslo 910 u, rome 920 u, fra 1000 d, oslo 1005 d, rome 1008 d, fra 1100 d, oslo 1105 d",
    "before fra 900, before oslo 910, before rome 920, leading fra 1000, deciding oslo 1005, after rome 1008, after fra 1100, after oslo 1105"
)]
#[case::any_vote_decides(
    "ud",
    Quorum::Any,
    1,
    "fra 900 u, oslo 910 u, fra 1000 d, oslo 1005 u",
    "before fra 900, before oslo 910, deciding fra 1000, after oslo 1005"
)]
#[case::a_good_result_in_between(
    "ud",
    Quorum::All,
    1,
    "fra 900 u, oslo 910 u, fra 1000 d, oslo 1005 u, fra 1010 d, oslo 1020 d",
    "before fra 900, before oslo 910, leading fra 1000, leading oslo 1005, leading fra 1010, deciding oslo 1020"
)]
#[case::the_first_checks_of_a_service(
    "xd",
    Quorum::Majority,
    1,
    "fra 1000 d, oslo 1001 d",
    "deciding fra 1000, after oslo 1001"
)]
#[case::degraded(
    "ug",
    Quorum::Majority,
    1,
    "fra 900 u, oslo 910 u, fra 1000 d, oslo 1005 u",
    "before fra 900, before oslo 910, deciding fra 1000, after oslo 1005"
)]
#[case::recovery_by_one_result(
    "du",
    Quorum::Majority,
    1,
    "fra 900 d, fra 1000 u, fra 1100 u",
    "before fra 900, deciding fra 1000, after fra 1100"
)]
#[case::recovery_by_three_results(
    "du",
    Quorum::Majority,
    3,
    "fra 900 d, oslo 910 d, fra 1000 u, oslo 1010 u, fra 1100 u, oslo 1110 u",
    "before fra 900, before oslo 910, leading fra 1000, leading oslo 1010, deciding fra 1100, after oslo 1110"
)]
#[case::a_stale_vote_does_not_count(
    "ud",
    Quorum::Majority,
    1,
    "oslo -400000 u, fra 900 u, fra 1000 d, oslo 1100 d",
    "before oslo -400000, before fra 900, deciding fra 1000, after oslo 1100"
)]
#[case::excluded_votes_are_not_known(
    "ud",
    Quorum::Majority,
    1,
    "fra 900 u, oslo 910 u, rome 920 u, fra 1000 d, oslo 1005 u, fra 1100 d",
    "before fra 900, before oslo 910, before rome 920, leading fra 1000, leading oslo 1005"
)]
#[case::without_checks("ud", Quorum::Majority, 1, "", "")]
fn the_checks_around_an_edge_have_their_parts(
    #[case] edge: &str,
    #[case] quorum: Quorum,
    #[case] recovery_checks: u8,
    #[case] stored: &str,
    #[case] expected: &str,
) {
    let letters: Vec<char> = edge.chars().collect();
    let rules = StatusRules { quorum, recovery_checks, ..StatusRules::default() };
    let mut stored = checks(stored);
    let select = |stored: &[StoredCheck]| {
        EdgeNeighbourhood::select(change(1_000, letters[0], letters[1]), stored, &rules, INTERVAL_MS)
    };
    let found = select(&stored);
    let shown: Vec<String> = found
        .checks
        .iter()
        .map(|shown| {
            let part = format!("{:?}", shown.part).to_lowercase();
            format!("{part} {} {}", shown.check.probe, shown.check.checked_at.ms())
        })
        .collect();
    assert_eq!((shown.join(", ").as_str(), found.omitted), (expected, 0));
    stored.reverse();
    assert_eq!(select(&stored), found, "the order of the checks does not matter");
}

#[test]
fn a_check_has_its_end_and_its_lateness() {
    let found = EdgeNeighbourhood::select(
        change(1_000, 'u', 'd'),
        &checks("fra 1000 d"),
        &StatusRules::default(),
        INTERVAL_MS,
    );
    assert_eq!((found.checks[0].finished_at().ms(), found.checks[0].lateness_ms()), (1_010, 2));
}

#[test]
fn many_leading_checks_are_cut() {
    let disagreeing = (0..30).map(|number| format!("fra {} d", 1_000 + number * 100));
    let stored: Vec<String> =
        ["fra 900 u".to_owned(), "oslo 910 u".to_owned()].into_iter().chain(disagreeing).collect();
    let stored = checks(&format!("{}, oslo 4000 d", stored.join(", ")));
    let rules = StatusRules { quorum: Quorum::All, ..StatusRules::default() };
    let found = EdgeNeighbourhood::select(change(1_000, 'u', 'd'), &stored, &rules, INTERVAL_MS);
    let leading: Vec<i64> = found
        .checks
        .iter()
        .filter(|shown| shown.part == EdgePart::Leading)
        .map(|shown| shown.check.checked_at.ms())
        .collect();
    assert_eq!((leading.len(), leading.first(), found.omitted), (LEADING_MAX, Some(&2_000), 10));
    assert_eq!(found.checks.iter().filter(|shown| shown.part == EdgePart::Deciding).count(), 1);
}
