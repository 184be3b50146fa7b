//! What the engine did and what it did not do, counted by reason: scheduled = finished + unmeasured + dropped + under way.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::check::{CheckStatus, CheckType, Trouble};

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `amount`.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// The present value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All counts of an engine.
#[derive(Debug)]
pub struct Counters {
    /// Attempts that were handed to a location.
    pub scheduled: Count,
    /// Attempts that ended with a measurement.
    pub measured: Count,
    /// Attempts whose service changed meanwhile: their outcome was dropped.
    pub dropped: Count,
    /// Runs that were due while an earlier one was still under way, or while we slept.
    pub missed: Count,
    /// Finished checks that nobody could take: the batch towards the recorder was full.
    pub unrecorded: Count,
    /// Service actors that panicked and were started again.
    pub restarts: Count,
    unmeasured: [Count; Trouble::ALL.len()],
    finished: Vec<[[Count; 3]; CheckType::ALL.len()]>,
}

impl Counters {
    /// Counters for this many locations.
    #[must_use]
    pub fn new(locations: usize) -> Self {
        Self {
            scheduled: Count::default(),
            measured: Count::default(),
            dropped: Count::default(),
            missed: Count::default(),
            unrecorded: Count::default(),
            restarts: Count::default(),
            unmeasured: Default::default(),
            finished: (0..locations).map(|_| Default::default()).collect(),
        }
    }

    /// Attempts that ended without a measurement for this reason.
    #[must_use]
    pub fn unmeasured(&self, trouble: Trouble) -> &Count {
        &self.unmeasured[trouble as usize]
    }

    /// Finished checks of this type, location and result; `None` for an unknown location.
    #[must_use]
    pub fn finished(&self, location: usize, check_type: CheckType, status: CheckStatus) -> Option<&Count> {
        let by_type = self.finished.get(location)?;
        Some(&by_type[check_type as usize][status as usize])
    }
}
