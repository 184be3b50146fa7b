//! Blindness of locations: whether their recent attempts could measure, as this engine sees it or a remote location reports it.

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::engine::registry::recent_attempts::BlindLocation;
use crate::engine::registry::{LocationRegistry, RegisteredLocation};
use crate::model::check::{CheckOutcome, LocalFault};
use crate::model::impairment::ImpairmentChange;
use crate::model::location::LocationReport;
use crate::model::shed_attempts::LocationBlindness;

impl LocationRegistry {
    /// Judges the locations of this process; returns true if a location, here or remote, has become blind since the last
    /// review, so that services have to be judged again.
    pub(in crate::engine) fn review(&self) -> bool {
        let mut has_become_blind = false;
        for known in self.lock().iter() {
            if let Some((change, blindness)) = known.recent_attempts.judge() {
                known.apply_transition(change, blindness);
            }
            has_become_blind |= known.recent_attempts.take_has_become_blind();
        }
        has_become_blind
    }

    /// Returns true if this process has locations, and all of them are blind.
    #[must_use]
    pub fn is_blind_here(&self) -> bool {
        let all = self.all();
        let mut here = all.iter().filter(|known| !known.is_remote()).peekable();
        here.peek().is_some() && here.all(|known| known.is_impaired())
    }
}

impl RegisteredLocation {
    /// Records how an attempt of this location ended.
    pub(in crate::engine) fn note_attempt(&self, outcome: &CheckOutcome) {
        if let Some(change) = self.recent_attempts.note(outcome) {
            self.apply_transition(change, None);
        }
    }

    /// Returns the reason why no attempt of the location can measure, as far as this process knows; `None` if
    /// some can.
    #[must_use]
    pub fn blind_by(&self) -> Option<LocalFault> {
        if self.is_remote() {
            return self.last_seen()?.blind_by;
        }
        self.recent_attempts.blindness().map(|blindness| blindness.trouble)
    }

    /// Returns the start and reason of the location's blindness, as far as this process knows at `now`.
    #[must_use]
    pub fn blindness(&self, now: Timestamp) -> Option<BlindLocation> {
        Some(BlindLocation { trouble: self.blind_by()?, since: self.blind_since(now)? })
    }

    /// Returns the start of the location's last blindness in wall time, given `now`: earlier results are
    /// outdated.
    pub(in crate::engine) fn blind_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.recent_attempts.blind_since(now)
    }

    /// Records the blindness that a location in another process reports.
    pub(super) fn note_blindness(&self, before: Option<&LocationReport>, seen: &LocationReport) {
        if seen.blind_by.is_some() && before.is_none_or(|before| before.blind_by.is_none()) {
            self.recent_attempts.become_blind(Instant::now());
        }
    }

    /// Logs each transition once; the loss of all reference targets is already logged.
    fn apply_transition(&self, change: ImpairmentChange, blindness: Option<LocationBlindness>) {
        let location = self.location.code.as_str();
        match (change, blindness) {
            (ImpairmentChange::Impaired, Some(LocationBlindness { since_ms, trouble })) => {
                self.recent_attempts.become_blind(self.recent_attempts.at(since_ms));
                let is_logged = trouble != LocalFault::LocationImpaired;
                self.recent_attempts.set_logged(is_logged);
                if is_logged {
                    tracing::warn!(
                        location,
                        reason = trouble.as_str(),
                        "location impaired: no check could run for a minute; its votes are excluded"
                    );
                }
            }
            _ if self.recent_attempts.set_logged(false) => {
                tracing::info!(location, "location no longer impaired: checks can run");
            }
            _ => {}
        }
    }
}
