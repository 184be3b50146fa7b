//! The locations that the engine knows, and what it keeps of each: counts, suspicion, and the lanes that run its checks.
//!
//! A location is named by a key that no other ever gets while the process runs, so the roster may grow while services
//! are watched. Whoever holds a key of a location that is not known here finds nothing.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use crate::engine::counters::Count;
use crate::engine::definition::Definition;
use crate::engine::location::LocationActor;
use crate::model::check::{CheckStatus, CheckType};
use crate::model::location::{Location, LocationCode, LocationKey};
use crate::model::service::Settings;
use crate::model::suspicion::Suspicion;
use crate::supervise::Handle;
use crate::telemetry::{Collect, Exposition, Family};

/// All locations, in the order in which they became known.
#[derive(Debug, Default)]
pub struct Roster {
    known: RwLock<Vec<Arc<KnownLocation>>>,
}

/// One location, as all shards share it.
#[derive(Debug)]
pub struct KnownLocation {
    /// Its number within this process.
    pub key: LocationKey,
    /// Code, name and place.
    pub location: Location,
    /// Finished checks by type and result.
    finished: [[Count; CheckStatus::ALL.len()]; CheckType::ALL.len()],
    suspicion: Mutex<Suspicion>,
    /// One lane per shard; unset before the engine starts.
    lanes: OnceLock<Box<[Handle<LocationActor>]>>,
}

impl Roster {
    /// A roster of these locations.
    #[must_use]
    pub fn new(locations: Vec<Location>) -> Self {
        let numbered = (0..).map(LocationKey::new).zip(locations);
        let known = numbered.map(|(key, location)| Arc::new(KnownLocation::new(key, location)));
        Self { known: RwLock::new(known.collect()) }
    }

    /// Returns every location.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<KnownLocation>> {
        self.lock().clone()
    }

    /// Returns the codes of all locations.
    #[must_use]
    pub fn codes(&self) -> Vec<LocationCode> {
        self.lock().iter().map(|known| known.location.code.clone()).collect()
    }

    /// Returns the location with this key.
    #[must_use]
    pub fn get(&self, key: LocationKey) -> Option<Arc<KnownLocation>> {
        self.lock().get(key.index()).map(Arc::clone)
    }

    /// Returns the key of the location with this code.
    #[must_use]
    pub fn key_of(&self, code: &str) -> Option<LocationKey> {
        let known = self.lock();
        known.iter().find(|known| known.location.code.as_str() == code).map(|known| known.key)
    }

    /// Returns the locations that check the service: the assigned ones that are known, or all.
    pub(super) fn chosen(&self, settings: &Settings) -> Vec<Arc<KnownLocation>> {
        match &settings.assigned_probes {
            Some(codes) => {
                let keys = codes.iter().filter_map(|code| self.key_of(code));
                keys.filter_map(|key| self.get(key)).collect()
            }
            None => self.all(),
        }
    }

    fn lock(&self) -> RwLockReadGuard<'_, Vec<Arc<KnownLocation>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownLocation {
    fn new(key: LocationKey, location: Location) -> Self {
        Self {
            key,
            location,
            finished: Default::default(),
            suspicion: Mutex::default(),
            lanes: OnceLock::new(),
        }
    }

    /// Returns the count of finished checks of this type with this result.
    #[must_use]
    pub const fn finished(&self, check_type: CheckType, status: CheckStatus) -> &Count {
        &self.finished[check_type as usize][status as usize]
    }

    /// Gives it the lanes that run its checks, one per shard. Those that it has already stay.
    pub(super) fn open(&self, lanes: Box<[Handle<LocationActor>]>) {
        let is_first = self.lanes.set(lanes).is_ok();
        debug_assert!(is_first, "one engine opens the lanes of a roster");
    }

    /// Returns its lane on this shard.
    pub(super) fn lane(&self, shard: usize) -> Option<&Handle<LocationActor>> {
        self.lanes.get()?.get(shard)
    }

    /// Notes an opinion of the location; says so when that makes or clears a suspect.
    pub(super) fn note_opinion(&self, service: &Definition, contradicts: bool) {
        let mut suspicion = self.suspicion();
        let before = suspicion.is_suspect(service.organisation);
        suspicion.note(service.organisation, service.key, contradicts);
        let after = suspicion.is_suspect(service.organisation);
        drop(suspicion);
        let (location, organisation) = (self.location.code.as_str(), service.organisation);
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

    /// Returns true if its votes are set aside for this organisation.
    pub(super) fn is_suspect(&self, organisation: i64) -> bool {
        self.suspicion().is_suspect(organisation)
    }

    fn suspicion(&self) -> MutexGuard<'_, Suspicion> {
        self.suspicion.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn collect_finished(&self, checks: &mut Family<'_>) {
        for check_type in CheckType::ALL.into_iter().filter(|check_type| check_type.is_probed()) {
            for status in CheckStatus::ALL {
                let labels = [
                    ("type", check_type.as_str()),
                    ("location", self.location.code.as_str()),
                    ("result", status.as_str()),
                ];
                checks.labelled(&labels, self.finished(check_type, status).get());
            }
        }
    }
}

impl Collect for Roster {
    fn collect(&self, out: &mut Exposition) {
        let known = self.all();
        let mut checks = out.counter("checks_total", "Finished checks by type, location and result.");
        known.iter().for_each(|known| known.collect_finished(&mut checks));
        let mut suspects = out
            .gauge("location_suspect", "Whether the votes of a location are set aside for an organisation.");
        for known in known {
            let is_suspect = known.suspicion().is_suspect_for_any();
            suspects.labelled(&[("location", known.location.code.as_str())], u8::from(is_suspect));
        }
    }
}
