//! How long two accounts of the same time do not agree.

use crate::clock::Timestamp;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::time_range::TimeRange;
use crate::model::verdict::Verdict;

/// Returns the milliseconds of the range in which two lists of status changes, each in order, say different things. Why nothing
/// is known does not matter.
#[must_use]
pub fn differing_ms(one: &[StatusChange], other: &[StatusChange], range: TimeRange) -> i64 {
    let mut edges: Vec<Timestamp> = one.iter().chain(other).map(|change| change.at).collect();
    edges.retain(|at| range.contains(*at));
    edges.extend([range.from, range.to]);
    edges.sort_unstable();
    edges.dedup();
    let differs = |pair: &&[Timestamp]| verdict_at(one, pair[0]) != verdict_at(other, pair[0]);
    edges.windows(2).filter(differs).map(|pair| pair[1].ms_since(pair[0])).sum()
}

fn verdict_at(changes: &[StatusChange], at: Timestamp) -> Verdict {
    let begun = changes.partition_point(|change| change.at <= at);
    let last = begun.checked_sub(1).and_then(|place| changes.get(place));
    last.map_or(MeasuredStatus::Unknown, |change| change.to).verdict()
}
