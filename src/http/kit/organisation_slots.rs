//! Limits what organisations do at the same time: some in total, and fewer per organisation, so that no organisation takes all
//! slots. Counted by each process for itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The organisations that hold slots, each as often as it holds one.
#[derive(Debug)]
pub(in crate::http) struct OrganisationSlots {
    total: usize,
    per_organisation: usize,
    taken: Mutex<Vec<i64>>,
}

/// A slot, which is released on drop.
#[derive(Debug)]
pub(in crate::http) struct OrganisationSlot<'a> {
    slots: &'a OrganisationSlots,
    organisation: i64,
}

impl OrganisationSlots {
    /// Creates the slots: `total` in this process, at most `per_organisation` for one.
    pub(in crate::http) const fn new(total: usize, per_organisation: usize) -> Self {
        Self { total, per_organisation, taken: Mutex::new(Vec::new()) }
    }

    /// Takes a slot; `None` while no slot is free for this organisation, given by its key.
    pub(in crate::http) fn take(&self, organisation: i64) -> Option<OrganisationSlot<'_>> {
        let mut taken = self.lock();
        let own = taken.iter().filter(|holder| **holder == organisation).count();
        if taken.len() >= self.total || own >= self.per_organisation {
            return None;
        }
        taken.push(organisation);
        Some(OrganisationSlot { slots: self, organisation })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<i64>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OrganisationSlot<'_> {
    fn drop(&mut self) {
        let mut taken = self.slots.lock();
        if let Some(place) = taken.iter().position(|holder| *holder == self.organisation) {
            taken.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organisation_takes_some_of_the_slots() {
        let slots = OrganisationSlots::new(3, 2);
        let first = slots.take(1);
        let second = slots.take(1);
        assert!(first.is_some() && second.is_some() && slots.take(1).is_none());
        let other = slots.take(2);
        assert!(other.is_some() && slots.take(3).is_none(), "that is all there is");
        drop(first);
        assert!(slots.take(1).is_some(), "a released slot is free again");
    }
}
