//! The rule by which a location is suspected of faults that it reports about services.
//!
//! If many services seem to fail at one location while other locations see them up, that location has most likely lost its
//! own network. Its votes are excluded until it agrees again. Only the last opinion about each service counts, so the
//! interval of checks does not matter, and one flapping service cannot make a location suspect.
//!
//! Each organisation is judged by its own services. Across organisations each has one voice, however many services it has.
//! So an organisation whose services answer by source address makes a location suspect only for itself.

use std::collections::{HashMap, VecDeque};

use crate::model::service::ServiceKey;

/// Number of distinct services, or organisations, whose last opinions are kept.
const OPINIONS: usize = 10;
/// Minimum number of services of an organisation for a conclusion about it.
const ENOUGH_SERVICES: usize = 5;
/// Minimum number of organisations for a conclusion about all.
const ENOUGH_ORGANISATIONS: usize = 3;
/// Number of opinions out of ten that must contradict the other locations.
const CONTRADICTIONS_IN_TEN: usize = 8;

/// Database key of an organisation.
type OrganisationKey = i64;

/// The recent opinions that speak for or against one location.
#[derive(Clone, Debug, Default)]
pub struct LocationSuspicion {
    services: HashMap<OrganisationKey, RecentOpinions<ServiceKey>>,
    organisations: RecentOpinions<OrganisationKey>,
}

impl LocationSuspicion {
    /// Records whether the newest result of the location is `down` while other locations see the service `up`.
    pub fn note(&mut self, organisation: OrganisationKey, service: ServiceKey, contradicts: bool) {
        let own = self.services.entry(organisation).or_default();
        own.note(service, contradicts);
        self.organisations.note(organisation, own.contradict(1));
    }

    /// Returns true if the location is suspect for this organisation, or for all.
    #[must_use]
    pub fn is_suspect(&self, organisation: OrganisationKey) -> bool {
        let own = self.services.get(&organisation);
        own.is_some_and(|own| own.contradict(ENOUGH_SERVICES)) || self.is_suspect_for_all()
    }

    /// Returns true if the location is suspect for at least one organisation.
    #[must_use]
    pub fn is_suspect_for_any(&self) -> bool {
        self.is_suspect_for_all() || self.services.values().any(|own| own.contradict(ENOUGH_SERVICES))
    }

    /// Returns true if the location is suspect for all organisations, because enough of them contradict it.
    #[must_use]
    pub fn is_suspect_for_all(&self) -> bool {
        self.organisations.contradict(ENOUGH_ORGANISATIONS)
    }
}

/// The last opinion about each service or organisation, newest last; true means that it contradicts the other locations.
#[derive(Clone, Debug)]
struct RecentOpinions<K>(VecDeque<(K, bool)>);

impl<K> Default for RecentOpinions<K> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: Copy + PartialEq> RecentOpinions<K> {
    fn note(&mut self, of: K, contradicts: bool) {
        self.0.retain(|(known, _)| *known != of);
        if self.0.len() == OPINIONS {
            self.0.pop_front();
        }
        self.0.push_back((of, contradicts));
    }

    /// Returns true if there are at least `enough` opinions, and nearly all of them contradict the other locations.
    fn contradict(&self, enough: usize) -> bool {
        let contradictions = self.0.iter().filter(|(_, contradicts)| *contradicts).count();
        self.0.len() >= enough && contradictions * 10 >= self.0.len() * CONTRADICTIONS_IN_TEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: OrganisationKey = 1;

    #[test]
    fn a_location_that_alone_reports_failures_is_suspect_until_it_agrees() {
        let mut suspicion = LocationSuspicion::default();
        for service in 0..4 {
            suspicion.note(OURS, service, true);
        }
        assert!(!suspicion.is_suspect(OURS), "four services may really be down from there");
        suspicion.note(OURS, 4, true);
        assert!(suspicion.is_suspect(OURS));
        suspicion.note(OURS, 0, false);
        assert!(suspicion.is_suspect(OURS));
        suspicion.note(OURS, 1, false);
        assert!(!suspicion.is_suspect(OURS));
    }

    #[test]
    fn one_flapping_service_proves_nothing() {
        let mut suspicion = LocationSuspicion::default();
        for _ in 0..100 {
            suspicion.note(OURS, 1, true);
        }
        assert!(!suspicion.is_suspect(OURS));
    }

    /// Regression: ten services that answer by source address made a location suspect for every organisation.
    #[test]
    fn no_organisation_silences_a_location_for_another() {
        let mut suspicion = LocationSuspicion::default();
        for service in 0..100 {
            suspicion.note(2, service, true);
        }
        assert!(suspicion.is_suspect(2) && !suspicion.is_suspect(OURS));
        suspicion.note(3, 1_000, true);
        assert!(!suspicion.is_suspect(OURS), "two organisations are not enough");
        suspicion.note(OURS, 2_000, false);
        assert!(!suspicion.is_suspect(OURS), "two of three");
    }

    #[test]
    fn many_organisations_together_convince_a_small_one() {
        let mut suspicion = LocationSuspicion::default();
        for organisation in 2..5 {
            suspicion.note(organisation, organisation * 10, true);
        }
        assert!(suspicion.is_suspect(OURS), "it need not have five services itself");
        assert!(suspicion.is_suspect_for_any());
        suspicion.note(2, 20, false);
        assert!(!suspicion.is_suspect(OURS));
    }
}
