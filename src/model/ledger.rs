//! Ownership of partitions, and the steps by which nodes reach even shares.
//!
//! Every node reads the same ledger and the same list of living nodes, and decides by the same rules about itself: it
//! releases its surplus, and takes partitions without an owner. A change is stored only if no other node has changed
//! the ledger meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::node::NodeName;
use crate::model::partition::{PARTITIONS, Partition, PartitionSet};

/// A number that the owner of a partition sends with every write. A later owner of the same partition has a larger
/// token, so that late writes of an earlier owner can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FencingToken {
    /// The creation time of the ledger's store, in seconds. It is compared first, because revisions start again in a store
    /// that was lost and created again.
    pub epoch: i64,
    /// The revision of the ledger in which the partition was taken.
    pub revision: i64,
}

/// The owner of each partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionLedger {
    /// The partitions of each node that has at least one.
    pub owners: BTreeMap<NodeName, PartitionSet>,
    /// Nodes that are about to end, and therefore get no partitions.
    pub leaving: BTreeSet<NodeName>,
}

/// The next changes of a node on the way to its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RebalanceStep {
    /// Partitions to stop and release.
    pub release: PartitionSet,
    /// Partitions to take over.
    pub take: PartitionSet,
}

impl PartitionLedger {
    /// The owner of a partition; `None` = no node owns it.
    #[must_use]
    pub fn owner_of(&self, partition: Partition) -> Option<&NodeName> {
        let mut owners = self.owners.iter();
        owners.find(|(_, owned)| owned.contains(partition)).map(|(node, _)| node)
    }

    /// The partitions of a node.
    #[must_use]
    pub fn of(&self, node: &NodeName) -> PartitionSet {
        self.owners.get(node).copied().unwrap_or_default()
    }

    /// Returns the next changes of the node `me`, which must be in `living`. Partitions of dead nodes are free to take.
    /// Partitions to move are chosen from the whole range of numbers, so that even a few services with consecutive keys
    /// are shared between nodes.
    #[must_use]
    pub fn plan_step(&self, me: &NodeName, living: &BTreeSet<NodeName>) -> RebalanceStep {
        let staying: Vec<&NodeName> = living.difference(&self.leaving).collect();
        let mine = self.of(me);
        let Some(share) = self.share(me, &staying) else {
            return RebalanceStep { release: mine, take: PartitionSet::NONE };
        };
        let has = mine.len() as usize;
        let owned = living.iter().fold(PartitionSet::NONE, |owned, node| owned.union(self.of(node)));
        let free = PartitionSet::ALL.without(owned);
        let spread = |some: PartitionSet| {
            let mut spread: Vec<Partition> = some.iter().collect();
            spread.sort_by_key(|partition| partition.number().reverse_bits());
            spread
        };
        RebalanceStep {
            release: spread(mine).into_iter().rev().take(has.saturating_sub(share)).collect(),
            take: spread(free).into_iter().take(share.saturating_sub(has)).collect(),
        }
    }

    /// Returns the ledger with these nodes marked as leaving, so that they are to release all their partitions.
    #[must_use]
    pub fn without_nodes(&self, nodes: &BTreeSet<NodeName>) -> Self {
        let mut after = self.clone();
        after.leaving.extend(nodes.iter().cloned());
        after
    }

    /// The number of partitions that a node is to have; `None` for a node that is not in `staying`. The nodes with the
    /// most partitions get the remainder, so that few partitions move.
    fn share(&self, me: &NodeName, staying: &[&NodeName]) -> Option<usize> {
        let mut by_size: Vec<&NodeName> = staying.to_vec();
        by_size.sort_by_key(|node| std::cmp::Reverse(self.of(node).len()));
        let index = by_size.iter().position(|node| *node == me)?;
        let (each, remainder) =
            (usize::from(PARTITIONS) / by_size.len(), usize::from(PARTITIONS) % by_size.len());
        Some(each + usize::from(index < remainder))
    }

    /// Returns the ledger after `me` has taken these partitions, which other nodes lose. `me` is then no longer leaving.
    #[must_use]
    pub fn taken(&self, me: &NodeName, partitions: PartitionSet) -> Self {
        let mut after = self.released(partitions);
        after.leaving.remove(me);
        let mine = after.owners.entry(me.clone()).or_default();
        *mine = mine.union(partitions);
        after
    }

    /// Returns the ledger after these partitions were released by their owners.
    #[must_use]
    pub fn released(&self, partitions: PartitionSet) -> Self {
        let mut after = self.clone();
        after.owners.values_mut().for_each(|owned| *owned = owned.without(partitions));
        after.owners.retain(|_, owned| !owned.is_empty());
        after
    }

    /// Returns the ledger after `me` has released all its partitions and is marked as leaving.
    #[must_use]
    pub fn without_leaving_node(&self, me: &NodeName) -> Self {
        let mut after = self.released(self.of(me));
        after.leaving.insert(me.clone());
        after
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn name(number: usize) -> NodeName {
        format!("n{number}").parse().unwrap()
    }

    fn nodes(numbers: impl IntoIterator<Item = usize>) -> BTreeSet<NodeName> {
        numbers.into_iter().map(name).collect()
    }

    /// Carries out the steps of the living nodes, one node after the other, until the ledger no longer changes. Returns
    /// the number of rounds that changed it.
    fn settle(ledger: &mut PartitionLedger, living: &BTreeSet<NodeName>) -> usize {
        for round in 0..20 {
            let before = ledger.clone();
            for node in living {
                let step = ledger.plan_step(node, living);
                if !step.release.is_empty() {
                    *ledger = ledger.released(step.release);
                }
                if !step.take.is_empty() {
                    *ledger = ledger.taken(node, step.take);
                }
            }
            if *ledger == before {
                return round;
            }
        }
        panic!("never settled: {ledger:?}");
    }

    fn sizes(ledger: &PartitionLedger) -> Vec<u32> {
        ledger.owners.values().map(|owned| owned.len()).collect()
    }

    #[rstest]
    #[case::alone(1, &[64])]
    #[case::two(2, &[32, 32])]
    #[case::three(3, &[22, 21, 21])]
    #[case::five(5, &[13, 13, 13, 13, 12])]
    fn nodes_that_start_together_share_evenly(#[case] count: usize, #[case] expected: &[u32]) {
        let mut ledger = PartitionLedger::default();
        settle(&mut ledger, &nodes(0..count));
        assert_eq!(sizes(&ledger), expected);
    }

    #[test]
    fn a_joining_node_gets_its_share_and_others_keep_theirs() {
        let mut ledger = PartitionLedger::default();
        settle(&mut ledger, &nodes([0]));
        let before = ledger.of(&name(0));
        settle(&mut ledger, &nodes([0, 1]));
        assert_eq!(sizes(&ledger), [32, 32]);
        assert_eq!(
            ledger.of(&name(0)).without(before),
            PartitionSet::NONE,
            "nothing has moved back and forth"
        );
        assert_eq!(ledger.plan_step(&name(0), &nodes([0, 1])), RebalanceStep::default());
    }

    #[test]
    fn a_few_services_are_shared_as_well() {
        let mut ledger = PartitionLedger::default();
        settle(&mut ledger, &nodes([0]));
        settle(&mut ledger, &nodes([0, 1]));
        let first: PartitionSet = (1..=8).map(Partition::of).collect();
        assert_eq!([0, 1].map(|node| ledger.of(&name(node)).common(first).len()), [4, 4]);
    }

    #[test]
    fn a_leaving_node_loses_its_partitions_at_once() {
        let mut ledger = PartitionLedger::default();
        settle(&mut ledger, &nodes([0, 1]));
        ledger = ledger.without_leaving_node(&name(1));
        settle(&mut ledger, &nodes([0, 1]));
        assert_eq!((ledger.of(&name(0)), ledger.of(&name(1))), (PartitionSet::ALL, PartitionSet::NONE));
        ledger = ledger.taken(&name(1), PartitionSet::NONE);
        settle(&mut ledger, &nodes([0, 1]));
        assert_eq!(sizes(&ledger), [32, 32], "it is back");
    }

    #[test]
    fn a_drained_node_releases_partitions_before_others_take_them() {
        let (mut ledger, living) = (PartitionLedger::default(), nodes([0, 1, 2]));
        settle(&mut ledger, &living);
        let (cut_off, had) = (nodes([2]), ledger.of(&name(2)));
        let seen = ledger.without_nodes(&cut_off);
        assert_eq!(seen.plan_step(&name(0), &living), RebalanceStep::default(), "it still has them");
        assert_eq!(
            seen.plan_step(&name(2), &living),
            RebalanceStep { release: had, take: PartitionSet::NONE }
        );
        let given_back = ledger.released(had).without_nodes(&cut_off);
        assert_eq!(given_back.plan_step(&name(2), &living), RebalanceStep::default());
        let takes = [0, 1].map(|node| given_back.plan_step(&name(node), &living).take.len());
        assert_eq!(takes.iter().sum::<u32>(), had.len());
    }

    #[test]
    fn partitions_of_a_dead_node_are_taken_by_the_others() {
        let mut ledger = PartitionLedger::default();
        settle(&mut ledger, &nodes([0, 1, 2]));
        let before = ledger.of(&name(0));
        settle(&mut ledger, &nodes([0, 2]));
        assert_eq!(sizes(&ledger), [32, 32]);
        assert_eq!(before.without(ledger.of(&name(0))), PartitionSet::NONE);
    }

    proptest! {
        /// Nodes start and end at random. Afterwards each partition has one owner, the shares differ by at most one, and the
        /// ledger changes in at most three rounds.
        #[test]
        fn any_change_settles(lives in proptest::collection::vec(proptest::collection::btree_set(0..6_usize, 1..6), 1..8)) {
            let mut ledger = PartitionLedger::default();
            for living in lives {
                let living = nodes(living);
                prop_assert!(settle(&mut ledger, &living) <= 3);
                let sizes: Vec<u32> = living.iter().map(|node| ledger.of(node).len()).collect();
                prop_assert_eq!(sizes.iter().sum::<u32>(), u32::from(PARTITIONS));
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{:?}", sizes);
                for partition in Partition::all() {
                    let owners = ledger.owners.values().filter(|owned| owned.contains(partition)).count();
                    prop_assert_eq!(owners, 1);
                }
            }
        }
    }
}
