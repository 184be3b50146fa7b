//! When to suspect a location instead of the services it watches.
//!
//! A location whose services fail together while the others see them up has most likely lost its own network. Its votes are
//! set aside until it agrees again. The rule looks at the last opinions about distinct services, so it does not
//! depend on how often services are checked, and one flapping service cannot bring a location into disrepute.

use std::collections::VecDeque;

use crate::model::service::ServiceKey;

/// Distinct services whose last opinion is looked at.
const OPINIONS: usize = 10;
/// With fewer opinions nothing is concluded.
const ENOUGH_OPINIONS: usize = 5;
/// So many in ten opinions must contradict the other locations.
const CONTRADICTIONS_IN_TEN: usize = 8;

/// The last opinions of one location.
#[derive(Clone, Debug, Default)]
pub struct Suspicion {
    opinions: VecDeque<(ServiceKey, bool)>,
}

impl Suspicion {
    /// Notes whether the location's newest result says `down` where the others say `up`.
    pub fn note(&mut self, service: ServiceKey, contradicts: bool) {
        self.opinions.retain(|(known, _)| *known != service);
        if self.opinions.len() == OPINIONS {
            self.opinions.pop_front();
        }
        self.opinions.push_back((service, contradicts));
    }

    /// True if the location is the suspect.
    #[must_use]
    pub fn is_suspect(&self) -> bool {
        let contradictions = self.opinions.iter().filter(|(_, contradicts)| *contradicts).count();
        self.opinions.len() >= ENOUGH_OPINIONS
            && contradictions * 10 >= self.opinions.len() * CONTRADICTIONS_IN_TEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_alone_with_its_alarms_is_the_suspect_until_it_agrees_again() {
        let mut suspicion = Suspicion::default();
        for service in 0..4 {
            suspicion.note(service, true);
        }
        assert!(!suspicion.is_suspect(), "four services may really be down from there");
        suspicion.note(4, true);
        assert!(suspicion.is_suspect());
        suspicion.note(0, false);
        assert!(suspicion.is_suspect());
        suspicion.note(1, false);
        assert!(!suspicion.is_suspect());
    }

    #[test]
    fn one_flapping_service_proves_nothing() {
        let mut suspicion = Suspicion::default();
        for _ in 0..100 {
            suspicion.note(1, true);
        }
        assert!(!suspicion.is_suspect());
    }
}
