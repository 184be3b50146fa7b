//! The services whose owners have to be asked for their states.

use std::collections::BTreeMap;

use crate::model::history::StatusChange;
use crate::model::service::ServiceKey;

/// The services whose owners have to be asked, each with the last known change of its verdict.
#[derive(Debug, Default)]
pub(super) struct StateNotes(BTreeMap<ServiceKey, Option<StatusChange>>);

impl StateNotes {
    /// Notes a service without a known change.
    pub(super) fn note(&mut self, service: ServiceKey) {
        self.0.entry(service).or_default();
    }

    /// Notes a change of a status, which need not be a change of the verdict.
    pub(super) fn note_change(&mut self, change: &StatusChange) {
        let last = self.0.entry(change.service).or_default();
        let is_later = last.is_none_or(|last| change.at >= last.at);
        if change.from.verdict() != change.to.verdict() && is_later {
            *last = Some(*change);
        }
    }

    /// The first services, at most `limit`.
    pub(super) fn first(&self, limit: usize) -> Vec<ServiceKey> {
        self.0.keys().take(limit).copied().collect()
    }

    /// The last known change of the verdict about a service.
    pub(super) fn change(&self, service: ServiceKey) -> Option<&StatusChange> {
        self.0.get(&service).and_then(Option::as_ref)
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

    fn change(at_ms: i64, to: MeasuredStatus) -> StatusChange {
        let (service, at) = (1, Timestamp::from_ms(at_ms));
        StatusChange { service, at, from: MeasuredStatus::Up, to, cause: ChangeCause::Votes }
    }

    /// A change is known from the engine first, and once more when it is recorded: perhaps after the next one.
    #[test]
    fn the_last_change_of_the_verdict_is_known() {
        let mut notes = StateNotes::default();
        notes.note(1);
        notes.note_change(&change(1, MeasuredStatus::Up));
        assert_eq!(notes.change(1), None, "the verdict is the same");
        let [down, later] = [2, 3].map(|at_ms| change(at_ms, MeasuredStatus::Down));
        notes.note_change(&later);
        notes.note_change(&down);
        notes.note(1);
        assert_eq!(notes.change(1), Some(&later));
        assert_eq!(notes.first(9), [1]);
        notes.remove(&[1]);
        assert!(notes.first(9).is_empty());
    }
}
