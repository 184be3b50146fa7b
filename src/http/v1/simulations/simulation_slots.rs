//! Limits concurrent simulations, which take a lot of memory: few in total, and one per organisation, so that no
//! organisation takes all slots.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of concurrent simulations: each holds up to half a million results, about 20 MB.
const AT_A_TIME: usize = 2;

/// The organisations with running simulations.
#[derive(Debug, Default)]
pub(in crate::http::v1) struct SimulationSlots {
    running: Mutex<Vec<i64>>,
}

/// The slot of a running simulation, which is released on drop.
#[derive(Debug)]
pub(super) struct SimulationSlot<'a> {
    simulations: &'a SimulationSlots,
    organisation: i64,
}

impl SimulationSlots {
    /// Takes a slot; `None` while no slot is free for this organisation.
    pub(super) fn take(&self, organisation: i64) -> Option<SimulationSlot<'_>> {
        let mut running = self.running();
        if running.len() >= AT_A_TIME || running.contains(&organisation) {
            return None;
        }
        running.push(organisation);
        Some(SimulationSlot { simulations: self, organisation })
    }

    fn running(&self) -> MutexGuard<'_, Vec<i64>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SimulationSlot<'_> {
    fn drop(&mut self) {
        self.simulations.running().retain(|organisation| *organisation != self.organisation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organisation_runs_one_simulation_at_a_time() {
        let simulations = SimulationSlots::default();
        let first = simulations.take(1);
        assert!(first.is_some() && simulations.take(1).is_none());
        let second = simulations.take(2);
        assert!(second.is_some() && simulations.take(3).is_none(), "that is all there is");
        drop(first);
        assert!(simulations.take(2).is_none() && simulations.take(1).is_some());
    }
}
