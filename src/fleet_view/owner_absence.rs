//! The partitions of services that no node monitors, each with the time since which this node knows that.

use crate::clock::Timestamp;
use crate::model::partition::{PARTITIONS, Partition, PartitionSet};
use crate::model::service::ServiceKey;

/// The partitions without an owner.
#[derive(Clone, Debug)]
pub(super) struct OwnerAbsence {
    unwatched: PartitionSet,
    since: [Timestamp; PARTITIONS as usize],
}

/// The difference between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnershipChange {
    /// Partitions that have lost their owner.
    pub(super) lost: PartitionSet,
    /// Partitions that have an owner again.
    pub(super) regained: PartitionSet,
}

impl Default for OwnerAbsence {
    fn default() -> Self {
        let since = [Timestamp::from_ms(0); PARTITIONS as usize];
        Self { unwatched: PartitionSet::NONE, since }
    }
}

impl OwnerAbsence {
    /// The partitions without an owner.
    pub(super) const fn unwatched(&self) -> PartitionSet {
        self.unwatched
    }

    /// Takes the partitions that have no owner at present.
    pub(super) fn update(&mut self, unwatched: PartitionSet, now: Timestamp) -> OwnershipChange {
        let lost = unwatched.without(self.unwatched);
        let regained = self.unwatched.without(unwatched);
        self.unwatched = unwatched;
        for partition in lost.iter() {
            self.since[usize::from(partition.number())] = now;
        }
        OwnershipChange { lost, regained }
    }

    /// The time since which the service has no owner; `None` while it has one.
    pub(super) fn since(&self, service: ServiceKey) -> Option<Timestamp> {
        let partition = Partition::of(service);
        self.unwatched.contains(partition).then(|| self.since[usize::from(partition.number())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u8]) -> PartitionSet {
        numbers.iter().copied().filter_map(Partition::new).collect()
    }

    #[test]
    fn the_time_of_a_loss_stays_until_the_owner_is_back() {
        let at = Timestamp::from_ms;
        let mut absence = OwnerAbsence::default();
        let change = absence.update(set(&[1, 2]), at(10));
        assert_eq!(change, OwnershipChange { lost: set(&[1, 2]), regained: set(&[]) });
        let change = absence.update(set(&[2, 3]), at(20));
        assert_eq!(change, OwnershipChange { lost: set(&[3]), regained: set(&[1]) });
        assert_eq!(
            [1, 2, 3, 66].map(|key| absence.since(key)),
            [None, Some(at(10)), Some(at(20)), Some(at(10))]
        );
    }
}
