//! The assignments of remote locations, which decide which of their results are accepted.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::service::{ProbeRole, ServiceKey};

/// Maximum age of an accepted result in milliseconds: a location that was disconnected for longer loses some.
pub const OLDEST_MS: i64 = 7 * 86_400_000;
/// The time in which a change reaches a location, in milliseconds.
const CHANGE_MS: i64 = 2_000;
/// Number of remembered versions of a service.
const VERSIONS: usize = 8;

/// The assignment of a service to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAssignment {
    /// Id of the service.
    pub id: Id,
    /// The assigned version of target and configuration.
    pub version: u64,
    /// The role of the location's votes.
    pub role: ProbeRole,
    /// Milliseconds between two checks.
    pub interval_ms: i64,
}

/// An earlier assignment: results measured then belong to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EarlierAssignment {
    assigned: RemoteAssignment,
    until: Timestamp,
}

/// The assignments of all locations, by location and key of the service.
#[derive(Debug, Default)]
pub struct AssignmentRegistry {
    of_locations: RwLock<HashMap<LocationCode, Arc<RwLock<LocationAssignments>>>>,
}

/// The assignments of one location.
#[derive(Debug, Default)]
pub struct LocationAssignments {
    services: HashMap<ServiceKey, RemoteAssignment>,
    /// Earlier assignments, oldest first.
    earlier: HashMap<ServiceKey, Vec<EarlierAssignment>>,
    /// The resulting number of checks per second.
    checks_per_second: f64,
}

impl LocationAssignments {
    /// Returns the assignment of the service with this key, if there is one.
    #[must_use]
    pub fn get(&self, key: ServiceKey) -> Option<&RemoteAssignment> {
        self.services.get(&key)
    }

    /// Returns the ended assignment of the service with this version that was effective at `checked_at`.
    #[must_use]
    pub fn earlier(&self, key: ServiceKey, version: u64, checked_at: Timestamp) -> Option<&RemoteAssignment> {
        let of_service = self.earlier.get(&key)?.iter();
        let mut then = of_service.filter(|earlier| earlier.assigned.version == version);
        then.find(|earlier| checked_at <= earlier.until).map(|earlier| &earlier.assigned)
    }

    /// Number of checks per second when all services are up.
    #[must_use]
    pub fn checks_per_second(&self) -> f64 {
        self.checks_per_second
    }

    fn set(&mut self, key: ServiceKey, assigned: Option<RemoteAssignment>, now: Timestamp) {
        let rate = |assigned: &RemoteAssignment| 1_000.0 / assigned.interval_ms.max(1) as f64;
        let before = match assigned {
            Some(assigned) => self.services.insert(key, assigned),
            None => self.services.remove(&key),
        };
        self.checks_per_second += assigned.as_ref().map_or(0.0, rate) - before.as_ref().map_or(0.0, rate);
        let is_over =
            |before: &RemoteAssignment| assigned.is_none_or(|assigned| assigned.version != before.version);
        if let Some(before) = before.filter(is_over) {
            let earlier = self.earlier.entry(key).or_default();
            earlier.retain(|earlier| now.ms_since(earlier.until) < OLDEST_MS);
            earlier.push(EarlierAssignment { assigned: before, until: now.plus_ms(CHANGE_MS) });
            let forgotten = earlier.len().saturating_sub(VERSIONS);
            earlier.drain(..forgotten);
        }
    }
}

impl AssignmentRegistry {
    /// Assigns a service to a location, or removes the assignment.
    pub fn set(
        &self,
        location: &LocationCode,
        key: ServiceKey,
        assigned: Option<RemoteAssignment>,
        now: Timestamp,
    ) {
        let mut of_location = self.of(location);
        if of_location.is_none() && assigned.is_some() {
            let mut all = self.of_locations.write().unwrap_or_else(PoisonError::into_inner);
            of_location = Some(Arc::clone(all.entry(location.clone()).or_default()));
        }
        if let Some(of_location) = of_location {
            of_location.write().unwrap_or_else(PoisonError::into_inner).set(key, assigned, now);
        }
    }

    /// Removes assignments that are no longer wanted.
    pub fn retain(&self, is_wanted: impl Fn(&LocationCode, ServiceKey) -> bool, now: Timestamp) {
        let all = self.of_locations.read().unwrap_or_else(PoisonError::into_inner);
        for (location, of_location) in all.iter() {
            let mut of_location = of_location.write().unwrap_or_else(PoisonError::into_inner);
            let unwanted = |key: &ServiceKey| !is_wanted(location, *key);
            let unwanted: Vec<ServiceKey> = of_location.services.keys().copied().filter(unwanted).collect();
            unwanted.into_iter().for_each(|key| of_location.set(key, None, now));
        }
    }

    /// Returns the assignments of a location; `None` if it never had any.
    #[must_use]
    pub fn of(&self, location: &LocationCode) -> Option<Arc<RwLock<LocationAssignments>>> {
        let all = self.of_locations.read().unwrap_or_else(PoisonError::into_inner);
        all.get(location).map(Arc::clone)
    }

    /// Number of services assigned to a location.
    #[must_use]
    pub fn count(&self, location: &LocationCode) -> usize {
        let of_location = self.of(location);
        of_location.map_or(0, |of| of.read().unwrap_or_else(PoisonError::into_inner).services.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);

    #[test]
    fn earlier_assignments_are_known_for_results_of_their_time() {
        let (assignments, fra) = (AssignmentRegistry::default(), "fra".parse().unwrap());
        let version = |version| RemoteAssignment {
            id: Id::random(),
            version,
            role: ProbeRole::Full,
            interval_ms: 1_000,
        };
        assignments.set(&fra, 1, Some(version(1)), NOW);
        assignments.set(&fra, 1, Some(version(2)), NOW);
        assignments.set(&fra, 1, None, NOW.plus_ms(60_000));
        let of_fra = assignments.of(&fra).unwrap();
        let of_fra = of_fra.read().unwrap();
        let is_known = |version, at_ms| of_fra.earlier(1, version, NOW.plus_ms(at_ms)).is_some();
        assert!(
            is_known(1, 0) && is_known(1, CHANGE_MS) && !is_known(1, CHANGE_MS + 1),
            "until it reached it"
        );
        assert!(is_known(2, 60_000) && !is_known(2, 60_001 + CHANGE_MS) && !is_known(3, 0));
    }

    #[test]
    fn the_rate_follows_the_assignments() {
        let (assignments, fra) = (AssignmentRegistry::default(), "fra".parse().unwrap());
        let every = |interval_ms| RemoteAssignment {
            id: Id::random(),
            version: 1,
            role: ProbeRole::Full,
            interval_ms,
        };
        let rate = || {
            let of_fra = assignments.of(&fra).unwrap();
            let rate = of_fra.read().unwrap().checks_per_second();
            (rate * 1_000.0).round()
        };
        assert!(assignments.of(&fra).is_none());
        assignments.set(&fra, 1, None, NOW);
        assert!(assignments.of(&fra).is_none(), "nothing is kept of what is nothing");
        assignments.set(&fra, 1, Some(every(10_000)), NOW);
        assignments.set(&fra, 2, Some(every(1_000)), NOW);
        assert_eq!((rate(), assignments.count(&fra)), (1_100.0, 2));
        assignments.set(&fra, 2, Some(every(10_000)), NOW);
        assignments.set(&fra, 1, None, NOW);
        assert_eq!((rate(), assignments.count(&fra)), (100.0, 1));
    }
}
