//! What all shards together think of each location: is it the suspect? See `model::suspicion`.

use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::definition::Roster;
use crate::model::service::ServiceKey;
use crate::model::suspicion::Suspicion;
use crate::telemetry::{Collect, Exposition};

/// One suspicion per location.
#[derive(Debug)]
pub struct Suspicions {
    roster: Arc<Roster>,
    by_place: Vec<Mutex<Suspicion>>,
}

impl Suspicions {
    /// No location is a suspect.
    #[must_use]
    pub fn new(roster: Arc<Roster>) -> Self {
        Self { by_place: (0..roster.len()).map(|_| Mutex::default()).collect(), roster }
    }

    /// Notes an opinion of the location at this place; says so when that makes or clears a suspect.
    pub fn note(&self, place: usize, service: ServiceKey, contradicts: bool) {
        let Some(suspicion) = self.by_place.get(place) else { return };
        let mut suspicion = suspicion.lock().unwrap_or_else(PoisonError::into_inner);
        let before = suspicion.is_suspect();
        suspicion.note(service, contradicts);
        let location = self.roster.code(place).map(ToString::to_string).unwrap_or_default();
        match (before, suspicion.is_suspect()) {
            (false, true) => {
                tracing::warn!(location, "this location contradicts all others; its votes are set aside");
            }
            (true, false) => {
                tracing::info!(location, "this location agrees with the others again; its votes count");
            }
            _ => {}
        }
    }

    /// Whether the votes of the location at this place are set aside.
    #[must_use]
    pub fn is_suspect(&self, place: usize) -> bool {
        let suspicion = self.by_place.get(place);
        suspicion
            .is_some_and(|suspicion| suspicion.lock().unwrap_or_else(PoisonError::into_inner).is_suspect())
    }
}

impl Collect for Suspicions {
    fn collect(&self, out: &mut Exposition) {
        let mut suspects = out.gauge("location_suspect", "Whether the votes of a location are set aside.");
        for (place, location) in self.roster.locations().iter().enumerate() {
            suspects.labelled(&[("location", location.code.as_str())], u8::from(self.is_suspect(place)));
        }
    }
}
