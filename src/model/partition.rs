//! Partitions of the services; each is monitored by one engine node at a time.

use std::fmt;

use crate::model::service::ServiceKey;

/// The number of partitions. Messages on the bus depend on it, so it never changes.
pub const PARTITIONS: u8 = 64;

/// A partition of the services: all services whose key has this number as the remainder modulo `PARTITIONS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition(u8);

impl Partition {
    /// The partition of a service. Service keys are assigned in sequence, so all partitions are about equally large.
    #[must_use]
    pub fn of(service: ServiceKey) -> Self {
        Self(u8::try_from(service.rem_euclid(i64::from(PARTITIONS))).unwrap_or(0))
    }

    /// The partition with this number; `None` if the number is not below `PARTITIONS`.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (number < PARTITIONS).then_some(Self(number))
    }

    /// Returns all partitions, lowest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PARTITIONS).map(Self)
    }

    /// Number of the partition, from 0.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A set of partitions, stored as one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PartitionSet(u64);

impl PartitionSet {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// The set of all partitions.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns true if the set contains the partition.
    #[must_use]
    pub const fn contains(self, partition: Partition) -> bool {
        self.0 >> partition.0 & 1 == 1
    }

    /// The number of partitions in the set.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the partitions that are in either set.
    #[must_use]
    pub const fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns the partitions that are not in `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Returns the partitions that are in both sets.
    #[must_use]
    pub const fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// The partitions, lowest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Partition> {
        (0..PARTITIONS).map(Partition).filter(move |partition| self.contains(*partition))
    }
}

impl FromIterator<Partition> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = Partition>>(partitions: I) -> Self {
        Self(partitions.into_iter().fold(0, |set, partition| set | 1 << partition.0))
    }
}

impl fmt::Debug for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Partition::number)).finish()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, 0)]
    #[case(1, 1)]
    #[case(63, 63)]
    #[case(64, 0)]
    #[case(i64::MAX, 63)]
    #[case(-1, 63)]
    fn a_service_falls_into_one_part(#[case] service: ServiceKey, #[case] number: u8) {
        assert_eq!(Partition::of(service), Partition(number));
    }

    #[test]
    fn partition_sets_follow_set_algebra() {
        let some: PartitionSet = [3, 0, 63].into_iter().filter_map(Partition::new).collect();
        assert_eq!(some.iter().map(Partition::number).collect::<Vec<_>>(), [0, 3, 63]);
        let rest = PartitionSet::ALL.without(some);
        assert_eq!((some.len(), rest.len(), rest.common(some)), (3, 61, PartitionSet::NONE));
        assert_eq!(rest.union(some), PartitionSet::ALL);
        assert!(Partition::new(PARTITIONS).is_none() && PartitionSet::NONE.is_empty() && !some.is_empty());
    }
}
