//! Timelines as text: `10 up` is a change to `up` at second 10; `!` marks a clock that was set back, `*` an imported
//! change.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(seconds * 1_000)
}

fn recorded(text: &str) -> Vec<StatusChange> {
    let mut from = MeasuredStatus::Unknown;
    let change = |entry: &str| {
        let cause = match entry.chars().last() {
            Some('!') => ChangeCause::Clock,
            Some('*') => ChangeCause::Imported,
            _ => ChangeCause::Votes,
        };
        let (seconds, word) = entry.trim_end_matches(['!', '*']).split_once(' ').unwrap();
        let to = MeasuredStatus::ALL.into_iter().find(|status| status.as_str() == word).unwrap();
        let at = at(seconds.parse().unwrap());
        StatusChange { service: 1, at, from: std::mem::replace(&mut from, to), to, cause }
    };
    text.split(", ").map(change).collect()
}

fn text(changes: &[StatusChange]) -> String {
    let entry = |change: &StatusChange| format!("{} {}", change.at.ms() / 1_000, change.to.as_str());
    changes.iter().map(entry).collect::<Vec<_>>().join(", ")
}

#[rstest]
#[case::undisturbed("0 up, 10 down, 20 up", "0 up, 10 down, 20 up")]
#[case::imported_later("100 up, 10 down*, 50 up*, 90 no_data*", "10 down, 50 up, 90 no_data, 100 up")]
#[case::ahead_and_back(
    "0 up, 120 no_data, 3660 up, 3700 down, 3900 no_data!, 300 down!, 400 up",
    "0 up, 120 no_data, 300 down, 400 up"
)]
#[case::back_and_ahead_shows_the_older_line_again(
    "0 up, 5000 down, 5100 up, 7200 no_data!, 3600 up!, 3760 no_data, 7300 up",
    "0 up, 5000 down, 5100 up, 7200 no_data, 7300 up"
)]
#[case::twice_ahead_and_back(
    "0 up, 9000 down, 9100 no_data!, 100 down!, 8000 up, 8500 no_data!, 200 up!",
    "0 up, 100 down, 200 up"
)]
#[case::closed_without_data("0 up, 60 no_data, 9000 unknown!, 30 no_data!, 40 up", "0 up")]
fn the_newest_line_with_a_status_decides(#[case] lines: &str, #[case] expected: &str) {
    let found = in_time_order(recorded(lines));
    assert!(found.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
    assert_eq!(text(&found), expected);
}

#[rstest]
#[case::nothing_has_changed(None, "")]
#[case::changed_before(Some(50), "")]
#[case::changed_right_now(Some(100), "")]
#[case::changed_in_the_future(Some(3_000), "3600 no_data, 100 up")]
fn a_line_ends_at_a_clock_setback(#[case] since: Option<i64>, #[case] expected: &str) {
    let mut current = CurrentStatus::new(MeasuredStatus::Up, since.map(at));
    let changes = current.set_back(at(3_600), at(100));
    let rows = changes.iter().map(|change| {
        let MeasuredStatusChange { at, from, to, cause } = *change;
        StatusChange { service: 1, at, from, to, cause }
    });
    assert_eq!(text(&rows.collect::<Vec<_>>()), expected);
    let since = if expected.is_empty() { since } else { Some(100) };
    assert_eq!(current, CurrentStatus::new(MeasuredStatus::Up, since.map(at)));
}

/// The status at a second while that second was the present, and the timeline that recorded it.
struct Seen {
    line: usize,
    status: MeasuredStatus,
}

proptest! {
    /// For each second under a clock that is set at random: the merged timeline has the status that was recorded last for
    /// that second.
    #[test]
    fn the_last_recorded_status_of_a_moment_counts(
        steps in prop::collection::vec((1_i64..50, 0_usize..4, prop::option::weighted(0.2, -400_i64..400)), 1..40),
    ) {
        let statuses = [MeasuredStatus::Up, MeasuredStatus::Down, MeasuredStatus::Degraded, MeasuredStatus::Up];
        let (mut current, mut now, mut rows) = (CurrentStatus::default(), 1_000_i64, Vec::new());
        let mut seen: std::collections::BTreeMap<i64, Seen> = std::collections::BTreeMap::new();
        let mut lines = 0_usize;
        for (passes, status, jump) in steps {
            let mut changes: Vec<MeasuredStatusChange> = current.change_to(statuses[status], ChangeCause::Votes, at(now)).into_iter().collect();
            for second in now + 1..now + passes {
                seen.insert(second, Seen { line: lines, status: current.status() });
            }
            now += passes;
            // A second in which one step ends and the next begins has no single status.
            seen.remove(&now);
            if let Some(jump) = jump {
                let before = at(now);
                now += jump;
                seen.remove(&now);
                if jump < 0 {
                    let closed = current.set_back(before, at(now));
                    if closed.is_empty() {
                        // The same timeline continues from here and repeats the later changes.
                        seen.retain(|second, seen| seen.line != lines || *second < now);
                    } else {
                        lines += 1;
                        // The new timeline begins with this second, whatever an older timeline has there.
                        seen.insert(now, Seen { line: lines, status: current.status() });
                    }
                    changes.extend(closed);
                } else if jump > 0 {
                    // Time skipped by the clock was not monitored.
                    let status = current.status();
                    changes.extend(current.change_to(MeasuredStatus::NoData, ChangeCause::Gap, before));
                    changes.extend(current.change_to(status, ChangeCause::Votes, at(now)));
                }
            }
            rows.extend(changes.into_iter().map(|MeasuredStatusChange { at, from, to, cause }| StatusChange { service: 1, at, from, to, cause }));
        }
        let found = in_time_order(rows);
        prop_assert!(found.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
        // Seconds after a clock setback are compared only when the clock reaches them again.
        for (second, seen) in seen.into_iter().filter(|(second, _)| *second <= now) {
            let later = found.partition_point(|change| change.at <= at(second));
            prop_assert_eq!(found[later - 1].to, seen.status, "at second {} of {:?}", second, found);
        }
    }
}
