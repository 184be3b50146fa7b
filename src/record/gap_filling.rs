//! Filling: results that arrive late turn a no-data period into measured time.
//!
//! A location that was cut off reports its results later. In a time without any data the status is then decided by these
//! results, by the usual rule; a time with data keeps its recorded status. Repeating the filling, with the same or with
//! more results, gives the outcome of all results together.

use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::model::verdict::{LocationVote, freshness_ms};
use crate::record::status_sweep::StatusSweep;
use crate::store::HistoryError;
use crate::store::history::{History, append, changes, votes};

/// A service for which late results were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateResults {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Milliseconds between two checks.
    pub interval_ms: i64,
    /// The time span of the late results.
    pub span: TimeRange,
}

/// Fills the no-data periods that late results overlap; returns true if there were any such periods.
///
/// # Errors
///
/// When the history database fails; nothing has changed then.
pub async fn fill(history: &History, late: LateResults, now: Timestamp) -> Result<bool, HistoryError> {
    let LateResults { service, interval_ms, span } = late;
    let fresh_ms = freshness_ms(interval_ms);
    let snapshot = history.snapshot().await?;
    let mut status_changes = changes::since(&snapshot.rows, service, span.from.plus_ms(-fresh_ms)).await?;
    status_changes.retain(|change| change.cause != ChangeCause::Filled);
    let mut filled = Vec::new();
    for gap in gaps(&status_changes, now).into_iter().filter(|gap| gap.from < span.to && gap.to > span.from) {
        let around = TimeRange { from: gap.from.plus_ms(-fresh_ms), to: gap.to };
        let votes = votes::of_span(&snapshot, service, around).await?;
        filled.push((
            gap,
            changes_in_gap(gap, &votes, StatusSweep::new(service, interval_ms, ChangeCause::Filled)),
        ));
    }
    drop(snapshot);
    if filled.is_empty() {
        return Ok(false);
    }
    let transaction = history.begin().await?;
    for (gap, filled_changes) in filled {
        changes::remove_filled(&transaction, service, gap).await?;
        append::changes(&transaction, &filled_changes).await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// Returns the no-data periods; the last one may be open.
fn gaps(status_changes: &[StatusChange], now: Timestamp) -> Vec<TimeRange> {
    let ends = status_changes.iter().skip(1).map(|change| change.at).chain([now]);
    let spans = status_changes.iter().zip(ends).filter(|(change, _)| change.to == MeasuredStatus::NoData);
    let gap = spans.map(|(change, to)| TimeRange { from: change.at, to });
    gap.filter(|gap| gap.from < gap.to).collect()
}

/// Returns the status changes that the results give within a no-data period. Both ends of the period are already recorded,
/// so the changes are strictly inside.
fn changes_in_gap(
    gap: TimeRange,
    votes: &[(i32, LocationVote)],
    mut sweep: StatusSweep,
) -> Vec<StatusChange> {
    let Some((_, first)) = votes.iter().find(|(_, vote)| vote.checked_at >= gap.from) else {
        return Vec::new();
    };
    let begins_at = first.checked_at.max(gap.from.plus_ms(1));
    sweep.take(votes);
    let all = sweep.finish(None, gap.to);
    let before = all.iter().rev().find(|change| change.at <= begins_at).copied();
    let first = before.map(|change| StatusChange { at: begins_at, ..change });
    let later = all.into_iter().filter(|change| change.at > begins_at);
    let mut filled_changes: Vec<StatusChange> = Vec::new();
    let ends_at = gap.to.plus_ms(-1);
    for change in first.into_iter().chain(later).filter(|change| change.at < ends_at) {
        let from = filled_changes.last().map_or(MeasuredStatus::NoData, |last| last.to);
        if from != change.to {
            filled_changes.push(StatusChange { from, ..change });
        }
    }
    if let Some(last) = filled_changes.last().copied().filter(|last| last.to != MeasuredStatus::NoData) {
        filled_changes.push(StatusChange { at: ends_at, from: last.to, to: MeasuredStatus::NoData, ..last });
    }
    filled_changes
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::record::status_sweep::tests::votes;

    /// A service that is checked every minute; nothing was known from second 120 to second 900.
    #[rstest]
    #[case::nothing_came("a60u", "")]
    #[case::all_of_it(
        "a60u a120u a180u a240u a300u a360u a420u a480u a540u a600u a660u a720u a780u a840u",
        "120up 899no_data"
    )]
    #[case::its_beginning("a60u a120u a180u a240u", "120up 300no_data")]
    #[case::its_end("a60u a780u a840u", "780up 899no_data")]
    #[case::an_unreported_outage("a60u a120u a180d a240d a300u", "120up 180down 300up 360no_data")]
    #[case::two_that_disagree("a60u b60u a120u b121d", "120up 121degraded 181no_data")]
    #[case::two_pieces("a60u a120u a700u a760u", "120up 180no_data 700up 820no_data")]
    fn late_results_fill_a_no_data_period(#[case] story: &str, #[case] expected: &str) {
        let at = |second: i64| Timestamp::from_ms(second * 1_000);
        let gap = TimeRange { from: at(120), to: at(900) };
        let filled_changes =
            changes_in_gap(gap, &votes(story), StatusSweep::new(1, 60_000, ChangeCause::Filled));
        let shown: Vec<String> = filled_changes
            .iter()
            .map(|change| format!("{}{}", change.at.ms() / 1_000, change.to.as_str()))
            .collect();
        assert_eq!(shown.join(" "), expected);
        assert!(filled_changes.iter().all(|change| change.at > gap.from && change.at < gap.to));
        let mut status = MeasuredStatus::NoData;
        for change in filled_changes {
            assert_eq!(std::mem::replace(&mut status, change.to), change.from);
        }
    }
}
