//! The services whose owners have to be asked for their states, each with the reason.

use std::collections::BTreeMap;

use crate::model::history::StatusChange;
use crate::model::service::ServiceKey;

/// The services whose owners have to be asked.
#[derive(Debug, Default)]
pub(super) struct StateNotes(BTreeMap<ServiceKey, StateReason>);

/// The reason for which the owner of a service is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum StateReason {
    /// No change of the verdict is known.
    #[default]
    Turn,
    /// The own engine has another verdict. The change is recorded later.
    Verdict,
    /// This change of the verdict was recorded.
    Edge(StatusChange),
}

impl StateReason {
    /// The recorded change.
    pub(super) const fn edge(&self) -> Option<&StatusChange> {
        match self {
            Self::Edge(change) => Some(change),
            Self::Turn | Self::Verdict => None,
        }
    }

    /// Returns true if nothing tells, or will tell, since when the service has another verdict.
    pub(super) const fn is_unexplained(&self) -> bool {
        matches!(self, Self::Turn)
    }
}

impl StateNotes {
    /// Notes a service without a known change of its verdict.
    pub(super) fn note(&mut self, service: ServiceKey) {
        self.0.entry(service).or_default();
    }

    /// Notes a service about which the own engine has another verdict.
    pub(super) fn note_verdict(&mut self, service: ServiceKey) {
        let reason = self.0.entry(service).or_default();
        if reason.is_unexplained() {
            *reason = StateReason::Verdict;
        }
    }

    /// Notes a recorded change of a status.
    pub(super) fn note_change(&mut self, change: &StatusChange) {
        let reason = self.0.entry(change.service).or_default();
        if change.from.verdict() != change.to.verdict() {
            *reason = StateReason::Edge(*change);
        }
    }

    /// The first services, at most `limit`.
    pub(super) fn first(&self, limit: usize) -> Vec<ServiceKey> {
        self.0.keys().take(limit).copied().collect()
    }

    /// The reason for which the owner of a service has to be asked.
    pub(super) fn reason(&self, service: ServiceKey) -> StateReason {
        self.0.get(&service).copied().unwrap_or_default()
    }

    /// Removes services whose owners were asked.
    pub(super) fn remove(&mut self, services: &[ServiceKey]) {
        for service in services {
            self.0.remove(service);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::history::{ChangeCause, MeasuredStatus};

    fn change(to: MeasuredStatus) -> StatusChange {
        let (service, at) = (1, Timestamp::from_ms(0));
        StatusChange { service, at, from: MeasuredStatus::Up, to, cause: ChangeCause::Votes }
    }

    #[test]
    fn a_recorded_change_explains_more_than_a_verdict_and_a_verdict_more_than_a_turn() {
        let mut notes = StateNotes::default();
        notes.note(1);
        assert!(notes.reason(1).is_unexplained());
        notes.note_verdict(1);
        notes.note(1);
        assert!(matches!(notes.reason(1), StateReason::Verdict));
        notes.note_change(&change(MeasuredStatus::Up));
        assert!(matches!(notes.reason(1), StateReason::Verdict), "the verdict is the same");
        notes.note_change(&change(MeasuredStatus::Down));
        notes.note_verdict(1);
        assert_eq!(notes.reason(1).edge(), Some(&change(MeasuredStatus::Down)));
        assert_eq!(notes.first(9), [1]);
        notes.remove(&[1]);
        assert!(notes.first(9).is_empty());
    }
}
