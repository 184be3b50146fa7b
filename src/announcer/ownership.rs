//! What this node owns: the partitions whose services it watches, and the fences that its writes carry.
//!
//! Alone it is everything, for ever. Among several nodes the leases decide, and three sets follow each other: a partition
//! is *held* as long as this node may write what was measured of it, *watched* while its services are looked at or about
//! to be, and *ready* once all of them are. The database has the last word: a node that only believes that it holds
//! something is refused there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::id::Id;
use crate::model::ledger::{Fence, Ledger};
use crate::model::node::NodeName;
use crate::model::partition::{Partition, Partitions};
use crate::model::service::ServiceKey;

/// The partitions of this node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ownership(Option<Arc<Shared>>);

/// Who this node is, among several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name under which others reach it.
    pub name: NodeName,
    /// The data folder that one process at a time works on; the database knows holders by it.
    pub folder: Id,
}

/// The partitions of this node, as they are at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owned {
    /// Their services are looked at, or about to be.
    pub watched: Partitions,
    /// All their services are looked at.
    pub ready: Partitions,
    /// The fences of those that are held.
    pub fences: BTreeMap<Partition, Fence>,
    /// Those that the database knows another holder of.
    pub overtaken: Partitions,
    /// Who owns what, as it was read last.
    pub ledger: Ledger,
    /// The nodes that live, as it was read last.
    pub living: BTreeSet<NodeName>,
    /// Those of them that alone cannot write to the databases, as it was read last.
    pub cut_off: BTreeSet<NodeName>,
}

#[derive(Debug)]
struct Shared {
    member: Member,
    owned: RwLock<Owned>,
    changed: watch::Sender<Partitions>,
}

impl Ownership {
    /// Everything belongs to this node: there is no other.
    #[must_use]
    pub const fn alone() -> Self {
        Self(None)
    }

    /// Nothing yet: the leases will say.
    #[must_use]
    pub fn among_others(member: Member) -> Self {
        let changed = watch::Sender::new(Partitions::NONE);
        Self(Some(Arc::new(Shared { member, owned: RwLock::default(), changed })))
    }

    /// Who this node is among others; `None` = it is alone.
    #[must_use]
    pub fn member(&self) -> Option<&Member> {
        self.0.as_ref().map(|shared| &shared.member)
    }

    /// The partitions as they are now; `None` = all of them, without fences.
    #[must_use]
    pub fn owned(&self) -> Option<Owned> {
        self.read(Owned::clone)
    }

    /// The partitions whose services this node looks at, or is about to.
    #[must_use]
    pub fn watched(&self) -> Partitions {
        self.read(|owned| owned.watched).unwrap_or(Partitions::ALL)
    }

    /// The partitions all of whose services this node looks at.
    #[must_use]
    pub fn ready(&self) -> Partitions {
        self.read(|owned| owned.ready).unwrap_or(Partitions::ALL)
    }

    /// True if this node looks at the service, or is about to.
    #[must_use]
    pub fn watches(&self, service: ServiceKey) -> bool {
        self.watched().contains(Partition::of(service))
    }

    /// True if this node looks at the service, and knows what it is.
    #[must_use]
    pub fn is_ready(&self, service: ServiceKey) -> bool {
        self.ready().contains(Partition::of(service))
    }

    /// True if this node does what is done once for all: it has the first partition.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.ready().contains(Partition::of(0))
    }

    /// The node that owns a service, as far as is known; `None` = nobody does at the moment.
    #[must_use]
    pub fn owner_of(&self, service: ServiceKey) -> Option<NodeName> {
        self.read(|owned| owned.ledger.owner_of(Partition::of(service)).cloned()).flatten()
    }

    /// The partitions that no living node owns, as far as is known: their services are not watched.
    #[must_use]
    pub fn unowned(&self) -> Partitions {
        let unowned = self.read(|owned| {
            let of = |node| owned.ledger.of(node);
            owned.living.iter().fold(Partitions::ALL, |unowned, node| unowned.without(of(node)))
        });
        unowned.unwrap_or_default()
    }

    /// The living nodes that cannot write to the databases although others can, as far as is known.
    #[must_use]
    pub fn cut_off(&self) -> BTreeSet<NodeName> {
        self.read(|owned| owned.cut_off.clone()).unwrap_or_default()
    }

    /// Says whenever the ready partitions have changed. Alone they never do.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Partitions> {
        match &self.0 {
            Some(shared) => shared.changed.subscribe(),
            None => watch::Sender::new(Partitions::ALL).subscribe(),
        }
    }

    /// Takes in what the ledger says.
    pub fn note_ledger(&self, ledger: &Ledger) {
        self.change(|owned| owned.ledger = ledger.clone());
    }

    /// Takes in which nodes live.
    pub fn note_living(&self, living: &BTreeSet<NodeName>) {
        self.change(|owned| owned.living.clone_from(living));
    }

    /// Takes in which living nodes alone cannot write to the databases.
    pub fn note_cut_off(&self, nodes: &BTreeSet<NodeName>) {
        self.change(|owned| owned.cut_off.clone_from(nodes));
    }

    /// These are held from now on, and about to be watched.
    pub fn hold(&self, partitions: Partitions, fence: Fence) {
        self.change(|owned| {
            owned.watched = owned.watched.and(partitions);
            owned.fences.extend(partitions.iter().map(|partition| (partition, fence)));
        });
    }

    /// The database says that another node has taken these: whoever keeps this node's share has to know.
    pub fn note_overtaken(&self, partitions: Partitions) {
        self.change(|owned| owned.overtaken = owned.overtaken.and(partitions));
    }

    /// Takes note of those that others have taken.
    #[must_use]
    pub fn take_overtaken(&self) -> Partitions {
        let mut overtaken = Partitions::NONE;
        self.change(|owned| overtaken = std::mem::take(&mut owned.overtaken));
        overtaken
    }

    /// All services of these are looked at.
    pub fn note_ready(&self, partitions: Partitions) {
        self.change(|owned| owned.ready = owned.ready.and(partitions.common(owned.watched)));
    }

    /// These are not watched any more; what was measured of them may still be written.
    pub fn stop_watching(&self, partitions: Partitions) {
        self.change(|owned| {
            owned.watched = owned.watched.without(partitions);
            owned.ready = owned.ready.without(partitions);
        });
    }

    /// Nothing of these is written any more.
    pub fn let_go(&self, partitions: Partitions) {
        self.stop_watching(partitions);
        self.change(|owned| {
            owned.fences.retain(|partition, _| !partitions.contains(*partition));
            owned.overtaken = owned.overtaken.without(partitions);
        });
    }

    fn read<T>(&self, look: impl FnOnce(&Owned) -> T) -> Option<T> {
        let shared = self.0.as_ref()?;
        Some(look(&shared.owned.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn change(&self, change: impl FnOnce(&mut Owned)) {
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
    fn alone_everything_is_owned() {
        let alone = Ownership::alone();
        assert!(alone.watches(7) && alone.leads() && alone.owned().is_none());
        alone.let_go(Partitions::ALL);
        assert_eq!(alone.watched(), Partitions::ALL);
    }

    #[test]
    fn partitions_of_nodes_that_do_not_live_are_nobodys() {
        let member = Member { name: "a".parse().unwrap(), folder: Id::random() };
        let ownership = Ownership::among_others(member);
        assert_eq!(ownership.unowned(), Partitions::ALL);
        let (a, b): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let some: Partitions = [0, 5].into_iter().filter_map(Partition::new).collect();
        ownership.note_ledger(&Ledger::default().taken(&a, Partitions::ALL).taken(&b, some));
        ownership.note_living(&BTreeSet::from([a.clone(), b]));
        assert_eq!(ownership.unowned(), Partitions::NONE);
        ownership.note_living(&BTreeSet::from([a]));
        assert_eq!(ownership.unowned(), some);
        assert_eq!(Ownership::alone().unowned(), Partitions::NONE);
    }

    #[test]
    fn a_partition_is_held_watched_and_ready_in_this_order_and_back() {
        let member = Member { name: "a".parse().unwrap(), folder: Id::random() };
        let ownership = Ownership::among_others(member);
        let mut changes = ownership.changes();
        let (some, fence) =
            ([0, 5].into_iter().filter_map(Partition::new).collect(), Fence { epoch: 1, revision: 7 });
        ownership.hold(some, fence);
        assert!(ownership.watches(64) && !ownership.watches(1) && !ownership.leads());
        assert!(!changes.has_changed().unwrap(), "not ready yet");
        ownership.note_ready(Partitions::ALL);
        assert_eq!(*changes.borrow_and_update(), some);
        assert!(ownership.leads());
        ownership.stop_watching(some);
        assert!(!ownership.watches(64) && ownership.owned().unwrap().fences.len() == 2);
        assert!(changes.borrow_and_update().is_empty());
        ownership.let_go(some);
        assert!(ownership.owned().unwrap().fences.is_empty());
    }
}
