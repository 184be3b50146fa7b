//! Tests of deadlines and absences; seconds count from the last ping.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(seconds * 1_000)
}

fn seconds(moment: Timestamp) -> i64 {
    moment.ms() / 1_000
}

fn terms(interval: i64, grace: i64) -> PeriodTerms {
    PeriodTerms { interval_ms: interval * 1_000, grace_ms: grace * 1_000 }
}

/// Judges the deadlines after a ping at 0. Returns the missed deadline, the deadline without data, the next deadline,
/// and the number of periods directly before it that were no data.
fn judged(
    terms: PeriodTerms,
    hearing: ListeningHistory<'_>,
    now: i64,
) -> (Option<i64>, Option<i64>, i64, u8) {
    let OverdueDeadlines { next, unheard_at, missed_at } =
        judge(terms, terms.period_from(at(0)), hearing, at(now));
    (missed_at.map(seconds), unheard_at.map(seconds), seconds(next.deadline), next.excused)
}

fn absences(spans: &[(i64, i64)]) -> Vec<ListeningGap> {
    spans.iter().map(|(from, to)| ListeningGap::new(at(*from), at(*to))).collect()
}

/// The interval is 60 and the grace 10, so the first deadline is at 70. Columns: absences, doubts about the clock, present
/// time, and the result as returned by [`judged`].
#[rstest]
#[case::not_yet(&[], &[], 69, (None, None, 70, 0))]
#[case::missed(&[], &[], 70, (Some(70), None, 130, 0))]
#[case::many_missed_are_one(&[], &[], 500, (Some(70), None, 550, 0))]
#[case::ends_with_the_ping(&[(-5, 0)], &[], 70, (Some(70), None, 130, 0))]
#[case::ongoing_from_a_ping_does_not_count(&[(-5, 1)], &[], 70, (None, Some(70), 71, 0))]
#[case::right_after_the_ping(&[(0, 1)], &[], 70, (None, Some(70), 71, 1))]
#[case::long_before_the_ping_is_expected(&[(20, 30)], &[], 70, (None, Some(70), 100, 1))]
#[case::then_the_next_deadline_decides(&[(20, 30)], &[], 100, (Some(100), Some(70), 160, 0))]
#[case::when_the_ping_is_expected(&[(60, 61)], &[], 70, (None, Some(70), 131, 1))]
#[case::begins_before_the_deadline(&[(69, 200)], &[], 269, (None, Some(70), 270, 1))]
#[case::ongoing(&[(69, 70)], &[], 70, (None, Some(70), 140, 1))]
#[case::begins_at_the_deadline(&[(70, 200)], &[], 70, (Some(70), None, 130, 0))]
#[case::two_in_one_period_count_once(&[(10, 15), (40, 45)], &[], 70, (None, Some(70), 115, 1))]
#[case::two_in_a_row(&[(60, 61), (120, 121)], &[], 131, (None, Some(70), 191, 2))]
#[case::the_third_is_missed(&[(60, 61), (120, 121), (180, 181)], &[], 191, (Some(191), Some(70), 251, 0))]
#[case::one_in_between_is_missed(&[(60, 61), (140, 141)], &[], 131, (Some(131), Some(70), 191, 0))]
#[case::a_long_absence_is_one(&[(60, 500)], &[], 569, (None, Some(70), 570, 1))]
#[case::after_a_long_absence_the_next_deadline_decides(&[(60, 500)], &[], 570, (Some(570), Some(70), 630, 0))]
#[case::another_one_after_a_long_absence(&[(60, 500), (510, 540)], &[], 570, (None, Some(70), 610, 2))]
#[case::a_doubt_that_is_over(&[], &[(60, 65)], 70, (None, Some(70), 135, 1))]
#[case::each_period_of_a_doubt_counts(&[], &[(60, 500)], 140, (None, Some(70), 210, 2))]
#[case::a_doubt_hides_two_periods(&[], &[(60, 500)], 210, (Some(210), Some(70), 270, 0))]
fn a_period_is_missed_unless_its_ping_may_have_been_lost(
    #[case] spans: &[(i64, i64)],
    #[case] doubts: &[(i64, i64)],
    #[case] now: i64,
    #[case] expected: (Option<i64>, Option<i64>, i64, u8),
) {
    let doubts = absences(doubts).into_iter().map(|doubt| ListeningGap { is_doubt: true, ..doubt });
    let absences: Vec<ListeningGap> = absences(spans).into_iter().chain(doubts).collect();
    let hearing = ListeningHistory { absences: &absences, judged_until: None };
    assert_eq!(judged(terms(60, 10), hearing, now), expected);
}

/// No process listens from 60 to 250. At each judgement before 250 the known absence ends at the present time. The absence
/// counts once, however often it is judged.
#[test]
fn an_ongoing_absence_counts_once() {
    let terms = terms(60, 10);
    let mut next = terms.period_from(at(0));
    for (now, deadline) in [(70, 140), (140, 210), (210, 280), (280, 320)] {
        let known = absences(&[(60, now.min(250))]);
        let overdue = judge(terms, next, ListeningHistory { absences: &known, judged_until: None }, at(now));
        next = overdue.next;
        assert_eq!(
            (overdue.missed_at, seconds(next.deadline), next.excused),
            (None, deadline, 1),
            "at {now}"
        );
    }
}

/// A deadline was missed at 70, and the next deadline is at 130. It is not missed if its ping may have been lost.
#[rstest]
#[case::received(&[], 130, (Some(130), 190))]
#[case::before_the_deadline_that_was_missed(&[(60, 70)], 130, (Some(130), 190))]
#[case::after_it(&[(80, 90)], 130, (None, 160))]
#[case::and_then(&[(80, 90)], 160, (Some(160), 220))]
fn after_a_missed_deadline_absences_count_as_well(
    #[case] spans: &[(i64, i64)],
    #[case] now: i64,
    #[case] expected: (Option<i64>, i64),
) {
    let hearing = ListeningHistory { absences: &absences(spans), judged_until: None };
    let overdue = judge(terms(60, 10), terms(60, 10).period_after(at(70), 1), hearing, at(now));
    assert_eq!((overdue.missed_at.map(seconds), seconds(overdue.next.deadline)), expected);
}

/// Deadlines judged by an earlier process are not judged again, but its periods without data count.
#[rstest]
#[case::all_were_judged(&[], 500, 490, (None, 550, 0))]
#[case::since_then_one_was_missed(&[], 500, 560, (Some(550), 610, 0))]
#[case::a_period_without_data_before(&[(480, 481)], 500, 545, (None, 551, 1))]
#[case::two_of_them(&[(420, 421), (480, 481)], 500, 545, (None, 551, 2))]
#[case::long_ago(&[(60, 61), (120, 121)], 500, 545, (None, 551, 0))]
fn reported_deadlines_are_not_reported_again(
    #[case] spans: &[(i64, i64)],
    #[case] judged_until: i64,
    #[case] now: i64,
    #[case] expected: (Option<i64>, i64, u8),
) {
    let hearing = ListeningHistory { absences: &absences(spans), judged_until: Some(at(judged_until)) };
    let (missed_at, _, deadline, excused) = judged(terms(60, 10), hearing, now);
    assert_eq!((missed_at, deadline, excused), expected);
}

/// The simple model of the tests: examines every second of every period.
fn naive(
    (interval, grace): (i64, i64),
    absences: &[(i64, i64)],
    now: i64,
) -> (Option<i64>, Option<i64>, i64, u8) {
    let of = |second: i64| absences.iter().position(|(from, to)| (*from..*to).contains(&second));
    let (mut from, mut excused, mut unheard) = (0, 0, None);
    loop {
        let deadline = from + interval + grace;
        if deadline > now {
            return (None, unheard, deadline, excused);
        }
        let absent: Vec<i64> = (from..deadline).filter(|second| of(*second).is_some()).collect();
        let begins = absent.iter().any(|second| of(second - 1) != of(*second));
        match absent.last() {
            Some(last) if !begins || excused < EXCUSED_MAX => {
                excused += u8::from(begins);
                unheard = unheard.or(Some(deadline));
                from = (*last..).find(|second| of(*second) != of(*last)).expect("it ends");
            }
            _ => {
                let passed = (now - deadline) / interval + 1;
                return (Some(deadline), unheard, deadline + passed * interval, 0);
            }
        }
    }
}

/// Turns steps of (wait, length) into absences (start, end); before each absence `apart` seconds pass and then the wait.
fn apart(steps: &[(i64, i64)], apart: i64) -> Vec<(i64, i64)> {
    let mut end = 0;
    let absence = |(wait, length): &(i64, i64)| {
        let from = end + apart + wait;
        end = from + length;
        (from, end)
    };
    steps.iter().map(absence).collect()
}

proptest! {
    #[test]
    fn any_absences_equal_a_simulation_of_each_second(
        interval in (3_i64..40).prop_map(|tens| tens * 10), grace in 0_i64..100,
        steps in prop::collection::vec((1_i64..300, 1_i64..900), 0..8), now in 0_i64..4_000,
    ) {
        // An absence that has not ended is known up to the present time.
        let spans = apart(&steps, 0).into_iter().filter(|(from, _)| *from < now);
        let spans: Vec<(i64, i64)> = spans.map(|(from, to)| (from, to.min(now))).collect();
        let hearing = ListeningHistory { absences: &absences(&spans), judged_until: None };
        prop_assert_eq!(judged(terms(interval, grace), hearing, now), naive((interval, grace), &spans, now));
    }

    /// A job pings at random times, at most the interval and the grace apart, until it dies. Pings in an absence are lost. A
    /// deadline is judged when it passes, or at the end of the absence in which it passes.
    #[test]
    fn no_living_job_is_missed_and_a_dead_one_is_after_the_interval_and_the_grace(
        interval in (3_i64..40).prop_map(|tens| tens * 10), grace in 0_i64..300,
        steps in prop::collection::vec((1_i64..2_000, 1_i64..2_000), 0..6),
        gaps in prop::collection::vec(1_i64..=1_000, 1..60),
    ) {
        let spans = apart(&steps, interval + grace);
        let away = |second: i64| spans.iter().any(|(from, to)| (*from..*to).contains(&second));
        let (known, terms) = (absences(&spans), terms(interval, grace));
        let mut pings: Vec<i64> = Vec::new();
        for thousandths in gaps {
            pings.push(pings.last().unwrap_or(&0) + ((interval + grace) * thousandths / 1_000).max(1));
        }
        let dies = *pings.last().unwrap();
        let (mut next, mut received) = (terms.period_from(at(0)), 0);
        let missed = (1..100_000).find_map(|now| {
            if pings.binary_search(&now).is_ok() && !away(now) {
                (next, received) = (terms.period_from(at(now)), now);
            }
            if next.deadline > at(now) || away(now) {
                return None;
            }
            let begun = known.iter().copied().filter(|absence| absence.from < at(now));
            let hearing = ListeningHistory { absences: &begun.collect::<Vec<_>>(), judged_until: None };
            let overdue = judge(terms, next, hearing, at(now));
            next = overdue.next;
            overdue.missed_at.map(|missed_at| (now, seconds(missed_at)))
        });
        let (now, missed_at) = missed.expect("a dead job is found");
        prop_assert!(now > dies, "missed at {} although the job pings until {}", now, dies);
        // One that begins when the deadline has passed does not move it, see `begins_at_the_deadline`.
        let moving = spans.iter().filter(|(from, _)| *from < missed_at);
        let listens = moving.map(|(_, to)| *to).max().unwrap_or(0);
        prop_assert_eq!(missed_at, received.max(listens) + interval + grace);
        prop_assert!((missed_at..now).all(away), "missed at {}, known only at {}", missed_at, now);
    }
}
