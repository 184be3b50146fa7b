//! The reason of a status change for the log: the error of the deciding check, and the locations that fail now.
//!
//! Only data that the actor holds are used; notifications read the history instead.

use crate::engine::definition::WatchDefinition;
use crate::engine::registry::LocationRegistry;
use crate::engine::service::watch_machine::WatchMachine;
use crate::model::check::{CheckFailure, CheckStatus};
use crate::model::watch::WatchEffect;

/// The error of the check that changed the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangeReason {
    failure: Box<CheckFailure>,
    status_code: Option<u16>,
}

impl ChangeReason {
    /// Returns the failure among these effects; `None` when the status does not change, or no failed check is the reason.
    pub(super) fn from_effects(effects: &[WatchEffect]) -> Option<Self> {
        if !effects.iter().any(|effect| matches!(effect, WatchEffect::Change(_))) {
            return None;
        }
        effects.iter().find_map(|effect| {
            let WatchEffect::Record(finished) = effect else { return None };
            let measurement = &finished.measurement;
            Some(Self { failure: measurement.failure.clone()?, status_code: measurement.status_code })
        })
    }

    pub(super) fn error_code(&self) -> &'static str {
        self.failure.code.as_str()
    }

    pub(super) fn error_message(&self) -> &str {
        &self.failure.message
    }

    pub(super) const fn status_code(&self) -> Option<u16> {
        self.status_code
    }
}

/// Returns the names of the locations whose newest result failed; `None` when there are none.
pub(super) fn failing_locations(
    watching: &WatchMachine,
    definition: &WatchDefinition,
    roster: &LocationRegistry,
) -> Option<String> {
    let (WatchMachine::Checked(watch), Some(task)) = (watching, &definition.task) else { return None };
    let memory = watch.memory();
    let failing = memory.votes.iter().filter(|(_, vote)| vote.status != CheckStatus::Up);
    let known = failing.filter_map(|(slot, _)| roster.get(*task.locations.get(*slot)?));
    let names: Vec<String> = known.map(|known| known.location.name.clone()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::history::{ChangeCause, MeasuredStatus};
    use crate::model::status_timeline::MeasuredStatusChange;
    use crate::model::watch::{CheckAttempt, FinishedCheck};

    fn failed() -> WatchEffect {
        let at = Timestamp::from_ms(1_000);
        let attempt = CheckAttempt { slot: 0, scheduled_at: at, attempt: 1 };
        let measurement =
            Measurement::unanswered(ErrorCode::ConnectRefused, "refused", PhaseTimings::default());
        WatchEffect::Record(FinishedCheck { attempt, checked_at: at, measurement })
    }

    #[test]
    fn the_failed_check_is_the_reason_of_a_change() {
        let (from, to, cause) = (MeasuredStatus::Up, MeasuredStatus::Down, ChangeCause::Votes);
        let change =
            WatchEffect::Change(MeasuredStatusChange { at: Timestamp::from_ms(1_000), from, to, cause });
        let reason = ChangeReason::from_effects(&[failed(), change.clone()]).unwrap();
        assert_eq!((reason.error_code(), reason.error_message()), ("connect_refused", "refused"));
        assert_eq!(ChangeReason::from_effects(&[failed()]), None, "nothing changes");
        assert_eq!(ChangeReason::from_effects(&[change]), None, "no check is the reason");
    }
}
