//! The fence: refuses a node's facts about partitions that another node has taken over.
//!
//! A check that was made before another node took over is kept as history. A later check is refused, because the new owner
//! checks the service. Only the owner writes status changes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::aggregator::RecordBatch;
use crate::model::ledger::FencingToken;
use crate::model::partition::{Partition, PartitionSet};
use crate::service_router::ownership::{NodeIdentity, Ownership};
use crate::store::history::holds::PartitionHold;
use crate::telemetry::{Exposition, MetricCollector};

/// Numbers of facts that were refused because their partition has another owner.
#[derive(Debug, Default)]
pub struct FenceCounters {
    /// Number of refused checks.
    pub results: AtomicU64,
    /// Number of refused status changes.
    pub changes: AtomicU64,
}

impl MetricCollector for FenceCounters {
    fn collect(&self, out: &mut Exposition) {
        let help = "Facts that were refused because another node had taken their partition.";
        let mut fenced = out.counter("fenced_total", help);
        fenced.labelled(&[("kind", "results")], self.results.load(Ordering::Relaxed));
        fenced.labelled(&[("kind", "changes")], self.changes.load(Ordering::Relaxed));
    }
}

/// Returns the partitions of the facts of a batch.
#[must_use]
pub(super) fn partitions_of(batch: &RecordBatch) -> PartitionSet {
    let checks = batch.checks.iter().map(|check| check.service);
    checks.chain(batch.changes.iter().map(|change| change.service)).map(Partition::of).collect()
}

/// Returns the part of a batch that may be written under these holds; the rest is counted as refused.
#[must_use]
pub(super) fn permitted(
    batch: &RecordBatch,
    ownership: &Ownership,
    holds: &BTreeMap<Partition, PartitionHold>,
    counters: &FenceCounters,
) -> RecordBatch {
    let (Some(member), Some(owned)) = (ownership.member(), ownership.owned()) else { return batch.clone() };
    let others: BTreeMap<Partition, &PartitionHold> = holds
        .iter()
        .filter(|(partition, hold)| !is_ours(member, owned.fences.get(partition), hold))
        .map(|(partition, hold)| (*partition, hold))
        .collect();
    let lost: PartitionSet = others.keys().filter(|lost| owned.fences.contains_key(lost)).copied().collect();
    if !lost.is_empty() {
        tracing::warn!(
            partitions = lost.len(),
            "partitions of this node held by another node, according to the database"
        );
        ownership.note_overtaken(lost);
    }
    let mut permitted = batch.clone();
    permitted.checks.retain(|check| {
        let taken = others.get(&Partition::of(check.service));
        taken.is_none_or(|hold| check.checked_at < hold.taken_at)
    });
    permitted.changes.retain(|change| !others.contains_key(&Partition::of(change.service)));
    let count = |counter: &AtomicU64, before: usize, after: usize| {
        counter.fetch_add((before - after) as u64, Ordering::Relaxed);
    };
    count(&counters.results, batch.checks.len(), permitted.checks.len());
    count(&counters.changes, batch.changes.len(), permitted.changes.len());
    permitted
}

/// Facts of an earlier process of this node have no valid token; they are accepted if no other node has taken the
/// partition since.
fn is_ours(member: &NodeIdentity, fence: Option<&FencingToken>, hold: &PartitionHold) -> bool {
    hold.holder == Some(member.folder) && fence.is_none_or(|fence| *fence == hold.fence)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::Timestamp;
    use crate::id::Id;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
    use crate::model::service::ProbeRole;

    const TAKEN: Timestamp = Timestamp::from_ms(1_000);

    fn batch(checked_at_ms: i64) -> RecordBatch {
        let at = Timestamp::from_ms(checked_at_ms);
        let check = CheckRecord {
            service: 7,
            location: "a".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: at,
            checked_at: at,
            attempt: 1,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", PhaseTimings::default()),
        };
        let (from, to) = (MeasuredStatus::Up, MeasuredStatus::Down);
        let change = StatusChange { service: 7, at, from, to, cause: ChangeCause::Votes };
        RecordBatch { checks: vec![check], changes: vec![change] }
    }

    /// Cases: whether the stored hold is this node's, its revision, the time of the check; the number of checks and
    /// changes that are written.
    #[rstest]
    #[case::ours(true, 5, 2_000, (1, 1))]
    #[case::taken_back_later(true, 6, 2_000, (0, 0))]
    #[case::another_has_it(false, 6, 2_000, (0, 0))]
    #[case::made_before_another_took_it(false, 6, 999, (1, 0))]
    fn facts_with_a_stale_fence_are_refused(
        #[case] is_ours: bool,
        #[case] revision: i64,
        #[case] checked_at_ms: i64,
        #[case] written: (usize, usize),
    ) {
        let member = NodeIdentity { name: "a".parse().unwrap(), folder: Id::random() };
        let holder = if is_ours { member.folder } else { Id::random() };
        let ownership = Ownership::clustered(member);
        let partition = Partition::of(7);
        ownership.hold([partition].into_iter().collect(), FencingToken { epoch: 1, revision: 5 });
        let hold = PartitionHold {
            holder: Some(holder),
            fence: FencingToken { epoch: 1, revision },
            taken_at: TAKEN,
        };
        let counters = FenceCounters::default();
        let whole = batch(checked_at_ms);
        let left = permitted(&whole, &ownership, &[(partition, hold)].into(), &counters);
        assert_eq!((left.checks.len(), left.changes.len()), written);
        let counted = |count: &AtomicU64| usize::try_from(count.load(Ordering::Relaxed)).unwrap();
        assert_eq!((1 - counted(&counters.results), 1 - counted(&counters.changes)), written);
    }

    #[test]
    fn facts_of_an_earlier_process_of_this_node_are_written() {
        let member = NodeIdentity { name: "a".parse().unwrap(), folder: Id::random() };
        let hold = PartitionHold {
            holder: Some(member.folder),
            fence: FencingToken { epoch: 1, revision: 5 },
            taken_at: TAKEN,
        };
        let ownership = Ownership::clustered(member);
        let left = permitted(
            &batch(2_000),
            &ownership,
            &[(Partition::of(7), hold)].into(),
            &FenceCounters::default(),
        );
        assert_eq!((left.checks.len(), left.changes.len()), (1, 1));
    }
}
