//! The shared judgement of all shards on each location: is it the suspect? See `model::suspicion`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::definition::{Definition, Roster};
use crate::model::suspicion::Suspicion;
use crate::telemetry::{Collect, Exposition};

/// One suspicion per location.
#[derive(Debug)]
pub struct Suspicions {
    roster: Arc<Roster>,
    /// In the roster's order.
    locations: Vec<Mutex<Suspicion>>,
}

impl Suspicions {
    /// No location is a suspect.
    #[must_use]
    pub fn new(roster: Arc<Roster>) -> Self {
        Self { locations: (0..roster.len()).map(|_| Mutex::default()).collect(), roster }
    }

    /// Notes an opinion of the location with this index; says so when that makes or clears a suspect.
    pub fn note(&self, location: usize, service: &Definition, contradicts: bool) {
        let Some(mut suspicion) = self.lock(location) else { return };
        let before = suspicion.is_suspect(service.organisation);
        suspicion.note(service.organisation, service.key, contradicts);
        let after = suspicion.is_suspect(service.organisation);
        drop(suspicion);
        let location = self.roster.code(location).map(ToString::to_string).unwrap_or_default();
        let organisation = service.organisation;
        match (before, after) {
            (false, true) => {
                tracing::warn!(
                    location,
                    organisation,
                    "this location contradicts all others; its votes are set aside"
                );
            }
            (true, false) => {
                tracing::info!(
                    location,
                    organisation,
                    "this location agrees with the others again; its votes count"
                );
            }
            _ => {}
        }
    }

    /// Returns true if the votes of the location with this index are set aside for this organisation.
    #[must_use]
    pub fn is_suspect(&self, location: usize, organisation: i64) -> bool {
        self.lock(location).is_some_and(|suspicion| suspicion.is_suspect(organisation))
    }

    fn lock(&self, location: usize) -> Option<MutexGuard<'_, Suspicion>> {
        Some(self.locations.get(location)?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collect for Suspicions {
    fn collect(&self, out: &mut Exposition) {
        let mut suspects = out
            .gauge("location_suspect", "Whether the votes of a location are set aside for an organisation.");
        for (index, location) in self.roster.locations().iter().enumerate() {
            let is_suspect = self.lock(index).is_some_and(|suspicion| suspicion.is_suspect_for_any());
            suspects.labelled(&[("location", location.code.as_str())], u8::from(is_suspect));
        }
    }
}
