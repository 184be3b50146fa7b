//! The locations that the engine knows, with the state of each: counters, suspicion, and the recipient of a remote one.
//!
//! The key of a location is never reused while the process runs, so locations can be added while services are watched. A
//! key that is unknown here finds no location.

mod blindness;
mod metrics;
mod outlook;
mod recent_attempts;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use actix::{Message, Recipient};

use crate::clock::Timestamp;
use crate::engine::counters::AtomicCounter;
pub use crate::engine::registry::recent_attempts::BlindLocation;
use crate::engine::registry::recent_attempts::RecentAttempts;
use crate::id::Id;
use crate::model::check::{CheckStatus, CheckType, LocalFault};
use crate::model::location::{Location, LocationCode, LocationKey, LocationReport, LocationStatus};
use crate::model::service::ServiceKey;
use crate::model::suspicion::LocationSuspicion;
use crate::model::watch::RoundKeeper;
use crate::probe::prober::Prober;

/// A location is offline if its last report is older than this, in milliseconds.
const OFFLINE_MS: i64 = 60_000;

/// All locations, in the order in which they became known.
#[derive(Debug, Default)]
pub struct LocationRegistry {
    known: RwLock<Vec<Arc<RegisteredLocation>>>,
}

/// One location, shared by all shards.
#[derive(Debug)]
pub struct RegisteredLocation {
    /// Number of the location within this process.
    pub key: LocationKey,
    /// Code, name and place.
    pub location: Location,
    /// Finished checks by type and result.
    finished: [[AtomicCounter; CheckStatus::ALL.len()]; CheckType::ALL.len()],
    suspicion: Mutex<LocationSuspicion>,
    /// Recent outcomes of the location's attempts.
    recent_attempts: RecentAttempts,
    reach: LocationBackend,
    /// Last report of a remote location about itself.
    last_seen: Mutex<Option<Arc<LocationReport>>>,
    /// Time at which a remote location last reported its recovery from an impairment.
    recovered_at: Mutex<Option<Timestamp>>,
    /// True if the location is no longer in use.
    is_retired: AtomicBool,
}

/// A request to a location to check a service at once, or more often.
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct LocationCheckRequest {
    /// Code of the location.
    pub location: LocationCode,
    /// Public id of the service.
    pub service: Id,
    /// True if the location has to check at once instead of at its scheduled time.
    pub check_now: bool,
    /// Milliseconds for which the location has to check more often; 0 ends that. A duration and not a time,
    /// because clocks differ.
    pub fast_rechecks_ms: i64,
}

/// The way to reach a location.
enum LocationBackend {
    /// In this process. Every shard has a check queue for the location; the prober is known once the engine has
    /// started.
    Here(OnceLock<Arc<dyn Prober>>),
    /// In another process, with its own schedule; requests are sent to this recipient. The actor behind the
    /// recipient may die and be replaced.
    Remote(Mutex<Recipient<LocationCheckRequest>>),
}

impl LocationRegistry {
    /// Creates a registry of these locations of this process.
    #[must_use]
    pub fn new(locations: Vec<Location>) -> Self {
        let numbered = (0..).map(LocationKey::new).zip(locations);
        let known = numbered.map(|(key, location)| {
            Arc::new(RegisteredLocation::new(key, location, LocationBackend::Here(OnceLock::new())))
        });
        Self { known: RwLock::new(known.collect()) }
    }

    /// Adds a location in another process; requests to it are sent through `requests`. If the code is already known, the
    /// location keeps its key and counters and gets the new recipient; a location in this process is not changed.
    pub fn add_remote(&self, location: Location, requests: Recipient<LocationCheckRequest>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(|known| known.location.code == location.code) {
            return known.set_recipient(requests);
        }
        let key = LocationKey::new(u32::try_from(known.len()).unwrap_or(u32::MAX));
        known.push(Arc::new(RegisteredLocation::new(
            key,
            location,
            LocationBackend::Remote(Mutex::new(requests)),
        )));
    }

    /// Sets the probers of the locations in this process, in their order.
    pub(super) fn set_probers(&self, probers: &[Arc<dyn Prober>]) {
        for (known, prober) in self.lock().iter().zip(probers) {
            if let LocationBackend::Here(through) = &known.reach {
                through.get_or_init(|| Arc::clone(prober));
            }
        }
    }

    /// Returns every location that is in use.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RegisteredLocation>> {
        self.lock().iter().filter(|known| known.is_used()).map(Arc::clone).collect()
    }

    /// Returns the codes of all locations that are in use.
    #[must_use]
    pub fn codes(&self) -> Vec<LocationCode> {
        self.lock().iter().filter(|known| known.is_used()).map(|known| known.location.code.clone()).collect()
    }

    /// Disables or enables a remote location; returns true if that is a change.
    pub fn set_used(&self, code: &LocationCode, is_used: bool) -> bool {
        let known = self.lock().iter().find(|known| known.location.code == *code).map(Arc::clone);
        let elsewhere = known.filter(|known| known.is_remote());
        elsewhere.is_some_and(|known| known.is_retired.swap(!is_used, Ordering::Relaxed) == is_used)
    }

    /// Returns the location with this key.
    #[must_use]
    pub fn get(&self, key: LocationKey) -> Option<Arc<RegisteredLocation>> {
        self.lock().get(key.index()).map(Arc::clone)
    }

    /// Returns the location with this code.
    #[must_use]
    pub fn find(&self, code: &str) -> Option<Arc<RegisteredLocation>> {
        self.lock().iter().find(|known| known.location.code.as_str() == code).map(Arc::clone)
    }

    /// Returns the locations that check the service: the assigned ones that are known, or all if none are assigned.
    pub(super) fn locations_for(&self, assigned: Option<&[String]>) -> Vec<Arc<RegisteredLocation>> {
        match assigned {
            Some(codes) => {
                let known = codes.iter().filter_map(|code| self.find(code));
                known.filter(|known| known.is_used()).collect()
            }
            None => self.all(),
        }
    }

    /// Returns true if at least one location that checks the service is within reach: it has reported recently
    /// or never yet, and is not impaired.
    #[must_use]
    pub fn is_any_within_reach(&self, assigned: Option<&[String]>, now: Timestamp) -> bool {
        let is_away = |known: &RegisteredLocation| known.last_seen_at(now).is_some() && !known.is_online(now);
        self.locations_for(assigned).iter().any(|known| !is_away(known) && !known.is_impaired())
    }

    fn lock(&self) -> RwLockReadGuard<'_, Vec<Arc<RegisteredLocation>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegisteredLocation {
    fn new(key: LocationKey, location: Location, reach: LocationBackend) -> Self {
        Self {
            key,
            location,
            finished: Default::default(),
            suspicion: Mutex::default(),
            recent_attempts: RecentAttempts::default(),
            reach,
            last_seen: Mutex::default(),
            recovered_at: Mutex::default(),
            is_retired: AtomicBool::new(false),
        }
    }

    /// Returns whether this process or the location itself keeps the schedule of its checks.
    #[must_use]
    pub const fn round(&self) -> RoundKeeper {
        match self.reach {
            LocationBackend::Here(_) => RoundKeeper::Watch,
            LocationBackend::Remote(_) => RoundKeeper::Location,
        }
    }

    /// Returns true if the location is in another process.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self.reach, LocationBackend::Remote(_))
    }

    /// Returns the last report of a location in another process.
    #[must_use]
    pub fn last_seen(&self) -> Option<Arc<LocationReport>> {
        self.last_seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the time of the location's last report; a location in this process counts as seen at `now`.
    #[must_use]
    pub fn last_seen_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.is_remote() { self.last_seen().map(|seen| seen.at) } else { Some(now) }
    }

    /// Returns true if the location's last report is recent enough.
    #[must_use]
    pub fn is_online(&self, now: Timestamp) -> bool {
        self.last_seen_at(now).is_some_and(|at| now.ms_since(at) <= OFFLINE_MS)
    }

    /// Returns true if the location has lost its own network, or none of its attempts can measure, as far as
    /// this process knows: a remote location reports this itself.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.impaired_by().is_some()
    }

    /// Returns the reason why the location is impaired; `None` if it is not.
    #[must_use]
    pub fn impaired_by(&self) -> Option<LocalFault> {
        let is_cut_off = match &self.reach {
            LocationBackend::Here(through) => through.get().is_some_and(|prober| prober.is_impaired()),
            LocationBackend::Remote(_) => self.last_seen().is_some_and(|seen| seen.is_impaired),
        };
        self.blind_by().or_else(|| is_cut_off.then_some(LocalFault::LocationImpaired))
    }

    /// Returns the status of the location at `now`, as this organisation sees it.
    #[must_use]
    pub fn standing(&self, organisation: i64, now: Timestamp) -> LocationStatus {
        if self.is_online(now) { of_online(self.is_set_aside(organisation)) } else { LocationStatus::Offline }
    }

    /// Returns the status of the location at `now`, on the evidence of all organisations together.
    #[must_use]
    pub fn standing_for_all(&self, now: Timestamp) -> LocationStatus {
        let is_set_aside = || self.is_impaired() || self.suspicion().is_suspect_for_all();
        if self.is_online(now) { of_online(is_set_aside()) } else { LocationStatus::Offline }
    }

    /// Returns true if the location is online at `now`, not impaired, and no organisation suspects it.
    #[must_use]
    pub fn is_well_for_all(&self, now: Timestamp) -> bool {
        self.is_online(now) && !self.is_impaired() && !self.suspicion().is_suspect_for_any()
    }

    /// Returns the time at which the location's network returned, if it was ever lost, as far as this process
    /// knows at `now`.
    pub(super) fn recovered_at(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.reach {
            LocationBackend::Here(through) => {
                let ago = through.get()?.recovered()?.elapsed().as_millis();
                Some(now.plus_ms(-i64::try_from(ago).unwrap_or(i64::MAX)))
            }
            LocationBackend::Remote(_) => {
                let at = *self.recovered_at.lock().unwrap_or_else(PoisonError::into_inner);
                // The clock may have been set back.
                at.filter(|at| *at <= now)
            }
        }
    }

    /// Stores the location's last report.
    pub fn note_seen(&self, seen: LocationReport) {
        self.note_blindness(self.last_seen().as_deref(), &seen);
        if !seen.is_impaired && self.is_impaired() {
            *self.recovered_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen.at);
        }
        *self.last_seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(seen));
    }

    fn is_used(&self) -> bool {
        !self.is_retired.load(Ordering::Relaxed)
    }

    /// Returns the count of finished checks of this type with this result.
    #[must_use]
    pub const fn finished(&self, check_type: CheckType, status: CheckStatus) -> &AtomicCounter {
        &self.finished[check_type as usize][status as usize]
    }

    /// Sends a request to the location. A request for which the recipient has no room is lost: the location then checks at
    /// its scheduled time.
    pub(super) fn send_request(&self, request: LocationCheckRequest) {
        let LocationBackend::Remote(requests) = &self.reach else { return };
        // Sent under the lock: a clone would let one message exceed the limit of the mailbox.
        let sent = requests.lock().unwrap_or_else(PoisonError::into_inner).try_send(request);
        if sent.is_err() {
            tracing::debug!(
                location = %self.location.code,
                "check request dropped: the queue of the location is full"
            );
        }
    }

    /// Replaces the recipient of requests.
    fn set_recipient(&self, requests: Recipient<LocationCheckRequest>) {
        if let LocationBackend::Remote(before) = &self.reach {
            *before.lock().unwrap_or_else(PoisonError::into_inner) = requests;
        }
    }

    /// Records whether a vote of the location contradicts the others; logs when the location becomes suspect or
    /// is cleared.
    pub(super) fn note_opinion(&self, organisation: i64, service: ServiceKey, contradicts: bool) {
        let mut suspicion = self.suspicion();
        let before = suspicion.is_suspect(organisation);
        suspicion.note(organisation, service, contradicts);
        let after = suspicion.is_suspect(organisation);
        drop(suspicion);
        let location = self.location.code.as_str();
        match (before, after) {
            (false, true) => {
                tracing::warn!(
                    location,
                    organisation_key = organisation,
                    "location contradicts all others; its votes do not count for this organisation"
                );
            }
            (true, false) => {
                tracing::info!(
                    location,
                    organisation_key = organisation,
                    "location agrees with the others again; its votes count for this organisation"
                );
            }
            _ => {}
        }
    }

    /// Returns true if the location's votes are excluded for this organisation: it is impaired, or contradicts
    /// all others.
    pub(super) fn is_set_aside(&self, organisation: i64) -> bool {
        self.is_impaired() || self.suspicion().is_suspect(organisation)
    }

    fn suspicion(&self) -> MutexGuard<'_, LocationSuspicion> {
        self.suspicion.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn of_online(is_set_aside: bool) -> LocationStatus {
    if is_set_aside { LocationStatus::Impaired } else { LocationStatus::Online }
}

impl fmt::Debug for LocationBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Here(_)) { "Here" } else { "Elsewhere" })
    }
}

#[cfg(test)]
mod tests;
