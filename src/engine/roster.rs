//! The locations that the engine knows, and what it keeps of each: counts, suspicion, and the way to one elsewhere.
//!
//! A location is named by a key that no other ever gets while the process runs, so the roster may grow while services
//! are watched. Whoever holds a key of a location that is not known here finds nothing.

mod blindness;
mod look_record;
mod metrics;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use actix::{Message, Recipient};

use crate::clock::Timestamp;
use crate::engine::counters::Count;
pub use crate::engine::roster::look_record::BlindLocation;
use crate::engine::roster::look_record::LookRecord;
use crate::id::Id;
use crate::model::check::{CheckStatus, CheckType, Trouble};
use crate::model::location::{LastSeen, Location, LocationCode, LocationKey, Standing};
use crate::model::service::ServiceKey;
use crate::model::suspicion::Suspicion;
use crate::model::watch::RoundKeeper;
use crate::probe::prober::Prober;

/// A location that has said nothing for longer is offline, in milliseconds.
const OFFLINE_MS: i64 = 60_000;

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
    /// What its attempts did lately.
    looks: LookRecord,
    reach: Reach,
    /// Of one elsewhere: what it has last said of itself.
    last_seen: Mutex<Option<Arc<LastSeen>>>,
    /// Of one elsewhere: when it has last said that it is well after it had been impaired.
    recovered_at: Mutex<Option<Timestamp>>,
    /// It is no longer in use.
    is_retired: AtomicBool,
}

/// A location is to look at a service at once, or more often.
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Urged {
    /// The location.
    pub location: LocationCode,
    /// The service.
    pub service: Id,
    /// It is to look at once instead of waiting for its turn.
    pub look_now: bool,
    /// It is to look more often for so many milliseconds; 0 ends that. Not a time: their clocks may differ.
    pub hurry_ms: i64,
}

/// The way to a location.
enum Reach {
    /// It is in this process: every shard has a lane to it. What runs its checks is known once the engine has started.
    Here(OnceLock<Arc<dyn Prober>>),
    /// It is in another process and keeps its own schedule; this takes what it is asked for. The actor behind it may die,
    /// and another takes its place.
    Elsewhere(Mutex<Recipient<Urged>>),
}

impl Roster {
    /// A roster of these locations of this process.
    #[must_use]
    pub fn new(locations: Vec<Location>) -> Self {
        let numbered = (0..).map(LocationKey::new).zip(locations);
        let known = numbered
            .map(|(key, location)| Arc::new(KnownLocation::new(key, location, Reach::Here(OnceLock::new()))));
        Self { known: RwLock::new(known.collect()) }
    }

    /// Adds a location in another process, which is asked to look through `urges`. One with this code that is known
    /// already keeps its key and its counts, and is asked through `urges` from now on; one in this process stays as it is.
    pub fn add_elsewhere(&self, location: Location, urges: Recipient<Urged>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(|known| known.location.code == location.code) {
            return known.ask_through(urges);
        }
        let key = LocationKey::new(u32::try_from(known.len()).unwrap_or(u32::MAX));
        known.push(Arc::new(KnownLocation::new(key, location, Reach::Elsewhere(Mutex::new(urges)))));
    }

    /// These run the checks of the locations in this process, in their order.
    pub(super) fn look_through(&self, probers: &[Arc<dyn Prober>]) {
        for (known, prober) in self.lock().iter().zip(probers) {
            if let Reach::Here(through) = &known.reach {
                through.get_or_init(|| Arc::clone(prober));
            }
        }
    }

    /// Returns every location that is in use.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<KnownLocation>> {
        self.lock().iter().filter(|known| known.is_used()).map(Arc::clone).collect()
    }

    /// Returns the codes of all locations that are in use.
    #[must_use]
    pub fn codes(&self) -> Vec<LocationCode> {
        self.lock().iter().filter(|known| known.is_used()).map(|known| known.location.code.clone()).collect()
    }

    /// Takes a location in another process out of use, or into use again; whether that is news.
    pub fn set_used(&self, code: &LocationCode, is_used: bool) -> bool {
        let known = self.lock().iter().find(|known| known.location.code == *code).map(Arc::clone);
        let elsewhere = known.filter(|known| known.is_elsewhere());
        elsewhere.is_some_and(|known| known.is_retired.swap(!is_used, Ordering::Relaxed) == is_used)
    }

    /// Returns the location with this key.
    #[must_use]
    pub fn get(&self, key: LocationKey) -> Option<Arc<KnownLocation>> {
        self.lock().get(key.index()).map(Arc::clone)
    }

    /// Returns the location with this code.
    #[must_use]
    pub fn find(&self, code: &str) -> Option<Arc<KnownLocation>> {
        self.lock().iter().find(|known| known.location.code.as_str() == code).map(Arc::clone)
    }

    /// Returns the locations that check the service: the assigned ones that are known, or all.
    pub(super) fn chosen(&self, assigned: Option<&[String]>) -> Vec<Arc<KnownLocation>> {
        match assigned {
            Some(codes) => {
                let known = codes.iter().filter_map(|code| self.find(code));
                known.filter(|known| known.is_used()).collect()
            }
            None => self.all(),
        }
    }

    /// Returns true if one of the locations that check the service can be asked to: it was heard lately, or not yet, and has its
    /// network.
    #[must_use]
    pub fn is_any_within_reach(&self, assigned: Option<&[String]>, now: Timestamp) -> bool {
        let is_away = |known: &KnownLocation| known.last_seen_at(now).is_some() && !known.is_online(now);
        self.chosen(assigned).iter().any(|known| !is_away(known) && !known.is_impaired())
    }

    fn lock(&self) -> RwLockReadGuard<'_, Vec<Arc<KnownLocation>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownLocation {
    fn new(key: LocationKey, location: Location, reach: Reach) -> Self {
        Self {
            key,
            location,
            finished: Default::default(),
            suspicion: Mutex::default(),
            looks: LookRecord::default(),
            reach,
            last_seen: Mutex::default(),
            recovered_at: Mutex::default(),
            is_retired: AtomicBool::new(false),
        }
    }

    /// Returns the keeper of its schedule.
    #[must_use]
    pub const fn round(&self) -> RoundKeeper {
        match self.reach {
            Reach::Here(_) => RoundKeeper::Watch,
            Reach::Elsewhere(_) => RoundKeeper::Location,
        }
    }

    /// Returns true if it is in another process.
    #[must_use]
    pub const fn is_elsewhere(&self) -> bool {
        matches!(self.reach, Reach::Elsewhere(_))
    }

    /// Returns what a location in another process has last said of itself.
    #[must_use]
    pub fn last_seen(&self) -> Option<Arc<LastSeen>> {
        self.last_seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when it was last heard: one of this process is as alive as the process that asks at `now`.
    #[must_use]
    pub fn last_seen_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.is_elsewhere() { self.last_seen().map(|seen| seen.at) } else { Some(now) }
    }

    /// Returns true if it was heard not too long ago.
    #[must_use]
    pub fn is_online(&self, now: Timestamp) -> bool {
        self.last_seen_at(now).is_some_and(|at| now.ms_since(at) <= OFFLINE_MS)
    }

    /// Returns true if it has lost its own network, or none of its attempts looks, as far as it is known here: one in another
    /// process says so itself.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.impaired_by().is_some()
    }

    /// Returns why it is impaired.
    #[must_use]
    pub fn impaired_by(&self) -> Option<Trouble> {
        let is_cut_off = match &self.reach {
            Reach::Here(through) => through.get().is_some_and(|prober| prober.is_impaired()),
            Reach::Elsewhere(_) => self.last_seen().is_some_and(|seen| seen.is_impaired),
        };
        self.blind_by().or_else(|| is_cut_off.then_some(Trouble::LocationImpaired))
    }

    /// Returns how it is in the eyes of this organisation, at `now`.
    #[must_use]
    pub fn standing(&self, organisation: i64, now: Timestamp) -> Standing {
        if self.is_online(now) { of_online(self.is_set_aside(organisation)) } else { Standing::Offline }
    }

    /// Returns how it is in the eyes of every organisation, at `now`.
    #[must_use]
    pub fn standing_for_all(&self, now: Timestamp) -> Standing {
        let is_set_aside = || self.is_impaired() || self.suspicion().is_suspect_for_all();
        if self.is_online(now) { of_online(is_set_aside()) } else { Standing::Offline }
    }

    /// Returns true if it is online, and no organisation suspects it, at `now`.
    #[must_use]
    pub fn is_well_for_all(&self, now: Timestamp) -> bool {
        self.is_online(now) && !self.is_impaired() && !self.suspicion().is_suspect_for_any()
    }

    /// Returns when it had its network back, if it has ever lost it, as far as it is known here at `now`.
    pub(super) fn recovered_at(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.reach {
            Reach::Here(through) => {
                let ago = through.get()?.recovered()?.elapsed().as_millis();
                Some(now.plus_ms(-i64::try_from(ago).unwrap_or(i64::MAX)))
            }
            Reach::Elsewhere(_) => {
                let at = *self.recovered_at.lock().unwrap_or_else(PoisonError::into_inner);
                // The clock may have been set back.
                at.filter(|at| *at <= now)
            }
        }
    }

    /// Notes what it says of itself.
    pub fn note_seen(&self, seen: LastSeen) {
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
    pub const fn finished(&self, check_type: CheckType, status: CheckStatus) -> &Count {
        &self.finished[check_type as usize][status as usize]
    }

    /// Passes on what the location is asked for. What its recipient has no room for is lost: the location looks when its
    /// turn comes.
    pub(super) fn urge(&self, urged: Urged) {
        let Reach::Elsewhere(urges) = &self.reach else { return };
        // Sent under the lock: a clone would ignore the limit of the mailbox once.
        let sent = urges.lock().unwrap_or_else(PoisonError::into_inner).try_send(urged);
        if sent.is_err() {
            tracing::debug!(location = %self.location.code, "a request to look now is lost");
        }
    }

    /// Another actor takes from now on what the location is asked for.
    fn ask_through(&self, urges: Recipient<Urged>) {
        if let Reach::Elsewhere(before) = &self.reach {
            *before.lock().unwrap_or_else(PoisonError::into_inner) = urges;
        }
    }

    /// Notes an opinion of the location; says so when that makes or clears a suspect.
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

    /// Returns true if its votes are set aside for this organisation: it has lost its own network, or is the suspect.
    pub(super) fn is_set_aside(&self, organisation: i64) -> bool {
        self.is_impaired() || self.suspicion().is_suspect(organisation)
    }

    fn suspicion(&self) -> MutexGuard<'_, Suspicion> {
        self.suspicion.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn of_online(is_set_aside: bool) -> Standing {
    if is_set_aside { Standing::Impaired } else { Standing::Online }
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Here(_)) { "Here" } else { "Elsewhere" })
    }
}

#[cfg(test)]
mod tests;
