//! Deadlines and absences; seconds count from the last ping.

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

/// Interval 60, grace 10: the first deadline is at 70, and the ping may come from 54 on. Absences, doubts, the
/// present time; the results: the missed deadline, the excused one, the next one, and the periods before it that were
/// no data.
#[rstest]
#[case::not_yet(&[], &[], 69, (None, None, 70, 0))]
#[case::missed(&[], &[], 70, (Some(70), None, 130, 0))]
#[case::many_missed_are_one(&[], &[], 500, (Some(70), None, 550, 0))]
#[case::ends_when_pings_may_come(&[(0, 54)], &[], 70, (Some(70), None, 130, 0))]
#[case::ends_a_second_later(&[(0, 55)], &[], 70, (None, Some(70), 130, 1))]
#[case::begins_before_the_deadline(&[(69, 200)], &[], 249, (None, Some(70), 250, 1))]
#[case::goes_on(&[(69, 70)], &[], 70, (None, Some(70), 130, 1))]
#[case::begins_at_the_deadline(&[(70, 200)], &[], 70, (Some(70), None, 130, 0))]
#[case::in_the_middle(&[(60, 61)], &[], 70, (None, Some(70), 130, 1))]
#[case::two_in_a_row(&[(60, 61), (120, 121)], &[], 130, (None, Some(70), 190, 2))]
#[case::the_third_is_missed(&[(60, 61), (120, 121), (180, 181)], &[], 190, (Some(190), Some(70), 250, 0))]
#[case::one_in_between_is_missed(&[(60, 61), (180, 181)], &[], 130, (Some(130), Some(70), 190, 0))]
#[case::a_long_absence_is_one(&[(60, 500)], &[], 549, (None, Some(70), 550, 1))]
#[case::the_next_one_decides(&[(60, 500)], &[], 550, (Some(550), Some(70), 610, 0))]
#[case::its_end_reaches_into_the_next_one(&[(60, 540)], &[], 550, (None, Some(70), 610, 2))]
#[case::each_period_of_a_doubt_counts(&[], &[(60, 500)], 130, (None, Some(70), 190, 2))]
#[case::a_doubt_hides_two_periods(&[], &[(60, 500)], 190, (Some(190), Some(70), 250, 0))]
fn a_period_is_missed_unless_its_ping_may_have_been_lost(
    #[case] absences: &[(i64, i64)],
    #[case] doubts: &[(i64, i64)],
    #[case] now: i64,
    #[case] expected: (Option<i64>, Option<i64>, i64, u8),
) {
    let absence =
        |is_doubt| move |(from, to): &(i64, i64)| Absence { from: at(*from), to: at(*to), is_doubt };
    let absences: Vec<Absence> =
        absences.iter().map(absence(false)).chain(doubts.iter().map(absence(true))).collect();
    let hearing = Hearing { absences: &absences, judged_until: None };
    let Overdue { next, unheard_at, missed_at } =
        judge(terms(60, 10), NextDeadline { at: at(70), excused: 0 }, hearing, at(now));
    let found = (missed_at.map(seconds), unheard_at.map(seconds), seconds(next.at), next.excused);
    assert_eq!(found, expected);
}

/// Deadlines judged by an earlier process are not judged again, but its periods without data count.
#[rstest]
#[case::all_were_judged(&[], 500, 490, (None, 550, 0))]
#[case::since_then_one_was_missed(&[], 500, 560, (Some(550), 610, 0))]
#[case::a_period_without_data_before(&[(480, 481)], 500, 545, (None, 550, 1))]
#[case::two_of_them(&[(420, 421), (480, 481)], 500, 545, (None, 550, 2))]
#[case::long_ago(&[(60, 61), (120, 121)], 500, 545, (None, 550, 0))]
fn what_was_judged_before_is_not_judged_again(
    #[case] absences: &[(i64, i64)],
    #[case] judged_until: i64,
    #[case] now: i64,
    #[case] expected: (Option<i64>, i64, u8),
) {
    let absences: Vec<Absence> = absences.iter().map(|(from, to)| Absence::new(at(*from), at(*to))).collect();
    let hearing = Hearing { absences: &absences, judged_until: Some(at(judged_until)) };
    let overdue = judge(terms(60, 10), NextDeadline { at: at(70), excused: 0 }, hearing, at(now));
    let found = (overdue.missed_at.map(seconds), seconds(overdue.next.at), overdue.next.excused);
    assert_eq!(found, expected);
}

/// Checks every second of every period.
fn naive(
    (interval, grace): (i64, i64),
    absences: &[(i64, i64)],
    now: i64,
) -> (Option<i64>, Option<i64>, i64, u8) {
    let of = |second: i64| absences.iter().position(|(from, to)| (*from..*to).contains(&second));
    let (mut deadline, mut excused, mut unheard) = (interval + grace, 0, None);
    let mut before: Option<usize> = None;
    while deadline <= now {
        let met: Vec<Option<usize>> = (deadline - grace - interval / 10..deadline).map(of).collect();
        let first = met.iter().flatten().min().copied();
        // Nobody was there to see any of it, nor of the period before.
        let is_within = first.is_some() && before == first && met.iter().all(|absence| *absence == first);
        match first {
            Some(_) if is_within => {}
            Some(_) if excused < EXCUSED_MAX => (excused, before) = (excused + 1, first),
            _ => {
                let passed = (now - deadline) / interval + 1;
                return (Some(deadline), unheard, deadline + passed * interval, 0);
            }
        }
        unheard = unheard.or(Some(deadline));
        deadline += interval;
    }
    (None, unheard, deadline, excused)
}

/// Absences that follow each other with at least `apart` seconds between them: (wait, length).
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
    fn any_absences_come_to_what_looking_at_each_second_says(
        interval in (3_i64..40).prop_map(|tens| tens * 10), grace in 0_i64..100,
        steps in prop::collection::vec((1_i64..300, 1_i64..900), 0..8), now in 0_i64..4_000,
    ) {
        // An absence that goes on ends now, as far as is known.
        let spans = apart(&steps, 0).into_iter().filter(|(from, _)| *from < now);
        let spans: Vec<(i64, i64)> = spans.map(|(from, to)| (from, to.min(now))).collect();
        let absences: Vec<Absence> = spans.iter().map(|(from, to)| Absence::new(at(*from), at(*to))).collect();
        let hearing = Hearing { absences: &absences, judged_until: None };
        let next = NextDeadline { at: at(interval + grace), excused: 0 };
        let Overdue { next, unheard_at, missed_at } = judge(terms(interval, grace), next, hearing, at(now));
        let found = (missed_at.map(seconds), unheard_at.map(seconds), seconds(next.at), next.excused);
        prop_assert_eq!(found, naive((interval, grace), &spans, now));
    }

    /// A job pings on time until it dies; pings in an absence are lost. Deadlines are judged when they pass, or at
    /// the end of the absence in which they pass.
    #[test]
    fn no_job_that_pings_is_missed_and_one_that_died_is_found_by_the_third_look(
        interval in (3_i64..40).prop_map(|tens| tens * 10), grace in 0_i64..300,
        steps in prop::collection::vec((1_i64..2_000, 1_i64..2_000), 0..6), dies in 1_i64..12_000,
    ) {
        let spans = apart(&steps, 3 * interval + grace);
        let absences: Vec<Absence> = spans.iter().map(|(from, to)| Absence::new(at(*from), at(*to))).collect();
        let away = |second: i64| spans.iter().find(|(from, to)| (*from..*to).contains(&second));
        let terms = terms(interval, grace);
        let mut next = NextDeadline { at: at(interval + grace), excused: 0 };
        let (mut last, mut looks) = (0, 0);
        for now in 1..30_000 {
            if now % interval == 0 && now <= dies && away(now).is_none() {
                (last, looks) = (now, 0);
                next = NextDeadline { at: at(now + interval + grace), excused: 0 };
            }
            if next.at > at(now) || away(now).is_some() {
                continue;
            }
            looks += 1;
            let known: Vec<Absence> = absences.iter().copied().filter(|absence| absence.from < at(now)).collect();
            let overdue = judge(terms, next, Hearing { absences: &known, judged_until: None }, at(now));
            next = overdue.next;
            if overdue.missed_at.is_some() {
                prop_assert!(now > dies, "missed at {now}, last heard at {last}");
                prop_assert!(looks <= 3, "{looks} looks at {now}, last heard at {last}");
                return Ok(());
            }
        }
        prop_assert!(false, "a job that died at {dies} was not found");
    }
}
