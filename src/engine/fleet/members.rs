//! The services of the fleet, divided into slices; the sweep reads one slice per second.
//!
//! The slice of a service is a hash of its id, so a sweep of one slice reads none of the others: with 100,000 services
//! that is the difference between 1,700 and 100,000 a second.

use std::collections::HashMap;

use crate::id::Id;

/// Slices that all services are divided into.
pub(super) const SLICES: u32 = 60;

pub(super) struct MemberSlices<M> {
    slices: Box<[HashMap<Id, M>]>,
}

impl<M> Default for MemberSlices<M> {
    fn default() -> Self {
        Self { slices: (0..SLICES).map(|_| HashMap::new()).collect() }
    }
}

impl<M> MemberSlices<M> {
    fn index(id: &Id) -> usize {
        usize::try_from(id.stable_hash() % u64::from(SLICES)).unwrap_or_default()
    }

    pub(super) fn get(&self, id: &Id) -> Option<&M> {
        self.slices[Self::index(id)].get(id)
    }

    pub(super) fn get_mut(&mut self, id: &Id) -> Option<&mut M> {
        self.slices[Self::index(id)].get_mut(id)
    }

    pub(super) fn insert(&mut self, id: Id, member: M) {
        self.slices[Self::index(&id)].insert(id, member);
    }

    pub(super) fn remove(&mut self, id: &Id) -> Option<M> {
        self.slices[Self::index(id)].remove(id)
    }

    /// Removes and returns the members for which `is_taken` returns true.
    pub(super) fn take(&mut self, is_taken: impl Fn(&M) -> bool) -> Vec<M> {
        let taken = self.slices.iter_mut().flat_map(|slice| slice.extract_if(|_, member| is_taken(member)));
        taken.map(|(_, member)| member).collect()
    }

    /// Returns the members of one slice; the slice number is taken modulo the number of slices.
    pub(super) fn of_slice(&self, slice: u32) -> impl Iterator<Item = &M> {
        self.slices[(slice % SLICES) as usize].values()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Id, &M)> {
        self.slices.iter().flatten()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &M> {
        self.slices.iter().flat_map(HashMap::values)
    }

    pub(super) fn len(&self) -> usize {
        self.slices.iter().map(HashMap::len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slices.iter().all(HashMap::is_empty)
    }
}
