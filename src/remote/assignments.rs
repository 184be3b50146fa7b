//! What each location in another place is assigned. It decides what is taken from it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::service::{ProbeRole, ServiceKey};

/// A service, as it is assigned to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The service.
    pub id: Id,
    /// The version that it is to be checked in.
    pub version: u64,
    /// What the location counts for.
    pub role: ProbeRole,
    /// Attempts before a bad result counts.
    pub attempts: u8,
    /// Milliseconds between two checks.
    pub interval_ms: i64,
    /// Milliseconds that may lie between the due time of a check and its deciding attempt.
    pub longest_ms: i64,
}

/// What all locations are assigned, by location and key of the service.
#[derive(Debug, Default)]
pub struct Assignments {
    of_locations: RwLock<HashMap<LocationCode, Arc<RwLock<OfLocation>>>>,
}

/// What one location is assigned.
#[derive(Debug, Default)]
pub struct OfLocation {
    services: HashMap<ServiceKey, Assigned>,
    /// Checks a second that follow from it.
    checks_per_second: f64,
}

impl OfLocation {
    /// The service with this key, if the location is to check it.
    #[must_use]
    pub fn get(&self, key: ServiceKey) -> Option<&Assigned> {
        self.services.get(&key)
    }

    /// Checks a second that it is to make when nothing is wrong.
    #[must_use]
    pub fn checks_per_second(&self) -> f64 {
        self.checks_per_second
    }

    fn set(&mut self, key: ServiceKey, assigned: Option<Assigned>) {
        let rate = |assigned: &Assigned| 1_000.0 / assigned.interval_ms.max(1) as f64;
        let before = match assigned {
            Some(assigned) => self.services.insert(key, assigned),
            None => self.services.remove(&key),
        };
        self.checks_per_second += assigned.as_ref().map_or(0.0, rate) - before.as_ref().map_or(0.0, rate);
    }
}

impl Assignments {
    /// Assigns a service to a location, or takes it away.
    pub fn set(&self, location: &LocationCode, key: ServiceKey, assigned: Option<Assigned>) {
        let mut of_location = self.of(location);
        if of_location.is_none() && assigned.is_some() {
            let mut all = self.of_locations.write().unwrap_or_else(PoisonError::into_inner);
            of_location = Some(Arc::clone(all.entry(location.clone()).or_default()));
        }
        if let Some(of_location) = of_location {
            of_location.write().unwrap_or_else(PoisonError::into_inner).set(key, assigned);
        }
    }

    /// What a location is assigned; `None` = nothing.
    #[must_use]
    pub fn of(&self, location: &LocationCode) -> Option<Arc<RwLock<OfLocation>>> {
        let all = self.of_locations.read().unwrap_or_else(PoisonError::into_inner);
        all.get(location).map(Arc::clone)
    }

    /// Services that a location is assigned.
    #[must_use]
    pub fn count(&self, location: &LocationCode) -> usize {
        let of_location = self.of(location);
        of_location.map_or(0, |of| of.read().unwrap_or_else(PoisonError::into_inner).services.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_follows_what_is_assigned() {
        let (assignments, fra) = (Assignments::default(), "fra".parse().unwrap());
        let every = |interval_ms| Assigned {
            id: Id::random(),
            version: 1,
            role: ProbeRole::Full,
            attempts: 3,
            interval_ms,
            longest_ms: 90_000,
        };
        let rate = || {
            let of_fra = assignments.of(&fra).unwrap();
            let rate = of_fra.read().unwrap().checks_per_second();
            (rate * 1_000.0).round()
        };
        assert!(assignments.of(&fra).is_none());
        assignments.set(&fra, 1, None);
        assert!(assignments.of(&fra).is_none(), "nothing is kept of what is nothing");
        assignments.set(&fra, 1, Some(every(10_000)));
        assignments.set(&fra, 2, Some(every(1_000)));
        assert_eq!((rate(), assignments.count(&fra)), (1_100.0, 2));
        assignments.set(&fra, 2, Some(every(10_000)));
        assignments.set(&fra, 1, None);
        assert_eq!((rate(), assignments.count(&fra)), (100.0, 1));
    }
}
