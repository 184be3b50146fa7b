//! For how long two status histories of the same range differ.

use crate::clock::Timestamp;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::time_range::TimeRange;
use crate::model::verdict::Verdict;

/// Comparison of two status histories, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusComparison {
    /// Time in which the two statuses differ.
    pub differing_ms: i64,
    /// Time in which at least one of the two statuses is known.
    pub known_ms: i64,
}

/// Compares two lists of status changes over a range; each list is in order. Different reasons for unknown time do not
/// count.
#[must_use]
pub fn compare(one: &[StatusChange], other: &[StatusChange], range: TimeRange) -> StatusComparison {
    let mut edges: Vec<Timestamp> = one.iter().chain(other).map(|change| change.at).collect();
    edges.retain(|at| range.contains(*at));
    edges.extend([range.from, range.to]);
    edges.sort_unstable();
    edges.dedup();
    let mut comparison = StatusComparison { differing_ms: 0, known_ms: 0 };
    for pair in edges.windows(2) {
        let length_ms = pair[1].ms_since(pair[0]);
        let verdicts = (verdict_at(one, pair[0]), verdict_at(other, pair[0]));
        if verdicts.0 != verdicts.1 {
            comparison.differing_ms += length_ms;
        }
        if verdicts != (Verdict::Unknown, Verdict::Unknown) {
            comparison.known_ms += length_ms;
        }
    }
    comparison
}

fn verdict_at(changes: &[StatusChange], at: Timestamp) -> Verdict {
    let begun = changes.partition_point(|change| change.at <= at);
    let last = begun.checked_sub(1).and_then(|index| changes.get(index));
    last.map_or(MeasuredStatus::Unknown, |change| change.to).verdict()
}
