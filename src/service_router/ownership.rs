//! Ownership of partitions: those whose services this node watches, and the fencing tokens of its writes.
//!
//! A single node owns everything, always. Among several nodes the leases decide, and a partition passes three
//! states: it is *held* as long as this node may write its results, *watched* while its services are checked or
//! about to be, and *ready* once all of them are checked. The database decides in the end: it refuses the
//! writes of a node that wrongly believes that it holds a partition.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::id::Id;
use crate::model::ledger::{FencingToken, PartitionLedger};
use crate::model::node::NodeName;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::ServiceKey;

/// The partitions of this node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ownership(Option<Arc<SharedOwnership>>);

/// The identity of this node among several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeIdentity {
    /// The name by which other nodes reach this node.
    pub name: NodeName,
    /// The id of the data folder, which one process at a time uses. The database identifies the holder of a
    /// partition by this id.
    pub folder: Id,
}

/// The partitions of this node at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnershipSnapshot {
    /// Partitions whose services are checked, or about to be.
    pub watched: PartitionSet,
    /// Partitions all of whose services are checked.
    pub ready: PartitionSet,
    /// The fencing tokens of the held partitions.
    pub fences: BTreeMap<Partition, FencingToken>,
    /// Partitions for which the database has another holder.
    pub overtaken: PartitionSet,
    /// The owners of partitions, as last read.
    pub ledger: PartitionLedger,
    /// The living nodes, as last read.
    pub living: BTreeSet<NodeName>,
    /// Living nodes that cannot write to the databases although others can, as last read.
    pub cut_off: BTreeSet<NodeName>,
}

#[derive(Debug)]
struct SharedOwnership {
    member: NodeIdentity,
    owned: RwLock<OwnershipSnapshot>,
    changed: watch::Sender<PartitionSet>,
}

impl Ownership {
    /// Ownership of everything, for a single node.
    #[must_use]
    pub const fn alone() -> Self {
        Self(None)
    }

    /// Ownership of nothing, until the leases are read.
    #[must_use]
    pub fn clustered(member: NodeIdentity) -> Self {
        let changed = watch::Sender::new(PartitionSet::NONE);
        Self(Some(Arc::new(SharedOwnership { member, owned: RwLock::default(), changed })))
    }

    /// The identity of this node among others; `None` if it is the only node.
    #[must_use]
    pub fn member(&self) -> Option<&NodeIdentity> {
        self.0.as_ref().map(|shared| &shared.member)
    }

    /// The current partitions; `None` for a single node, which owns all of them without fencing tokens.
    #[must_use]
    pub fn owned(&self) -> Option<OwnershipSnapshot> {
        self.read(OwnershipSnapshot::clone)
    }

    /// Partitions whose services this node checks, or is about to.
    #[must_use]
    pub fn watched(&self) -> PartitionSet {
        self.read(|owned| owned.watched).unwrap_or(PartitionSet::ALL)
    }

    /// Partitions all of whose services this node checks.
    #[must_use]
    pub fn ready(&self) -> PartitionSet {
        self.read(|owned| owned.ready).unwrap_or(PartitionSet::ALL)
    }

    /// Returns true if this node checks the service, or is about to.
    #[must_use]
    pub fn watches(&self, service: ServiceKey) -> bool {
        self.watched().contains(Partition::of(service))
    }

    /// Returns true if this node checks the service and knows its state.
    #[must_use]
    pub fn is_ready(&self, service: ServiceKey) -> bool {
        self.ready().contains(Partition::of(service))
    }

    /// Returns true if this node runs the work that is done once for all nodes, that is, if it owns partition 0.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.ready().contains(Partition::of(0))
    }

    /// The node that owns a service, as far as this node knows; `None` if no node does.
    #[must_use]
    pub fn owner_of(&self, service: ServiceKey) -> Option<NodeName> {
        self.read(|owned| owned.ledger.owner_of(Partition::of(service)).cloned()).flatten()
    }

    /// The partitions without a living owner, as far as this node knows: their services are not watched.
    #[must_use]
    pub fn unowned(&self) -> PartitionSet {
        let unowned = self.read(|owned| {
            let of = |node| owned.ledger.of(node);
            owned.living.iter().fold(PartitionSet::ALL, |unowned, node| unowned.without(of(node)))
        });
        unowned.unwrap_or_default()
    }

    /// The living nodes that cannot write to the databases although others can, as far as this node knows.
    #[must_use]
    pub fn cut_off(&self) -> BTreeSet<NodeName> {
        self.read(|owned| owned.cut_off.clone()).unwrap_or_default()
    }

    /// Subscribes to changes of the ready partitions. On a single node they never change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<PartitionSet> {
        match &self.0 {
            Some(shared) => shared.changed.subscribe(),
            None => watch::Sender::new(PartitionSet::ALL).subscribe(),
        }
    }

    /// Stores the owners read from the ledger.
    pub fn note_ledger(&self, ledger: &PartitionLedger) {
        self.change(|owned| owned.ledger = ledger.clone());
    }

    /// Stores which nodes are living.
    pub fn note_living(&self, living: &BTreeSet<NodeName>) {
        self.change(|owned| owned.living.clone_from(living));
    }

    /// Stores the living nodes that cannot write to the databases although others can.
    pub fn note_cut_off(&self, nodes: &BTreeSet<NodeName>) {
        self.change(|owned| owned.cut_off.clone_from(nodes));
    }

    /// Records that these partitions are held from now on, and about to be watched.
    pub fn hold(&self, partitions: PartitionSet, fence: FencingToken) {
        self.change(|owned| {
            owned.watched = owned.watched.union(partitions);
            owned.fences.extend(partitions.iter().map(|partition| (partition, fence)));
        });
    }

    /// Records that the database has another holder of these partitions, for the keeper of this node's share.
    pub fn note_overtaken(&self, partitions: PartitionSet) {
        self.change(|owned| owned.overtaken = owned.overtaken.union(partitions));
    }

    /// Returns and clears the partitions for which the database has another holder.
    #[must_use]
    pub fn take_overtaken(&self) -> PartitionSet {
        let mut overtaken = PartitionSet::NONE;
        self.change(|owned| overtaken = std::mem::take(&mut owned.overtaken));
        overtaken
    }

    /// Records that all services of these partitions are checked.
    pub fn note_ready(&self, partitions: PartitionSet) {
        self.change(|owned| owned.ready = owned.ready.union(partitions.common(owned.watched)));
    }

    /// Stops the watch of these partitions; their results may still be written.
    pub fn stop_watching(&self, partitions: PartitionSet) {
        self.change(|owned| {
            owned.watched = owned.watched.without(partitions);
            owned.ready = owned.ready.without(partitions);
        });
    }

    /// Releases these partitions: this node writes no more results of their services.
    pub fn let_go(&self, partitions: PartitionSet) {
        self.stop_watching(partitions);
        self.change(|owned| {
            owned.fences.retain(|partition, _| !partitions.contains(*partition));
            owned.overtaken = owned.overtaken.without(partitions);
        });
    }

    fn read<T>(&self, view: impl FnOnce(&OwnershipSnapshot) -> T) -> Option<T> {
        let shared = self.0.as_ref()?;
        Some(view(&shared.owned.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn change(&self, change: impl FnOnce(&mut OwnershipSnapshot)) {
        let Some(shared) = &self.0 else { return };
        let mut owned = shared.owned.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut owned);
        let ready = owned.ready;
        drop(owned);
        shared.changed.send_if_modified(|known| std::mem::replace(known, ready) != ready);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_node_owns_every_partition() {
        let alone = Ownership::alone();
        assert!(alone.watches(7) && alone.leads() && alone.owned().is_none());
        alone.let_go(PartitionSet::ALL);
        assert_eq!(alone.watched(), PartitionSet::ALL);
    }

    #[test]
    fn partitions_of_dead_nodes_are_unowned() {
        let member = NodeIdentity { name: "a".parse().unwrap(), folder: Id::random() };
        let ownership = Ownership::clustered(member);
        assert_eq!(ownership.unowned(), PartitionSet::ALL);
        let (a, b): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let some: PartitionSet = [0, 5].into_iter().filter_map(Partition::new).collect();
        ownership.note_ledger(&PartitionLedger::default().taken(&a, PartitionSet::ALL).taken(&b, some));
        ownership.note_living(&BTreeSet::from([a.clone(), b]));
        assert_eq!(ownership.unowned(), PartitionSet::NONE);
        ownership.note_living(&BTreeSet::from([a]));
        assert_eq!(ownership.unowned(), some);
        assert_eq!(Ownership::alone().unowned(), PartitionSet::NONE);
    }

    #[test]
    fn a_partition_is_held_watched_and_ready_in_this_order_and_back() {
        let member = NodeIdentity { name: "a".parse().unwrap(), folder: Id::random() };
        let ownership = Ownership::clustered(member);
        let mut changes = ownership.changes();
        let (some, fence) =
            ([0, 5].into_iter().filter_map(Partition::new).collect(), FencingToken { epoch: 1, revision: 7 });
        ownership.hold(some, fence);
        assert!(ownership.watches(64) && !ownership.watches(1) && !ownership.leads());
        assert!(!changes.has_changed().unwrap(), "not ready yet");
        ownership.note_ready(PartitionSet::ALL);
        assert_eq!(*changes.borrow_and_update(), some);
        assert!(ownership.leads());
        ownership.stop_watching(some);
        assert!(!ownership.watches(64) && ownership.owned().unwrap().fences.len() == 2);
        assert!(changes.borrow_and_update().is_empty());
        ownership.let_go(some);
        assert!(ownership.owned().unwrap().fences.is_empty());
    }
}
