//! Whether an outage becomes an incident, or news for one, and when it is looked at again if not.

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::incident_policy::IncidentRules;
use crate::model::outage::Outage;

/// Milliseconds after which an outage that no policy wants is looked at again: policies change.
const UNWANTED_MS: i64 = 60_000;
/// The same for one that people hold back: a maintenance, a stated status.
const HELD_BACK_MS: i64 = 1_000;

/// The circumstances of an outage.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The rules of the first policy that matches the service; `None` when none does.
    pub rules: Option<&'a IncidentRules>,
    /// A maintenance in progress covers the service, or a person states its status.
    pub is_held_back: bool,
    /// Its incident is open: what comes now belongs to that.
    pub has_open_incident: bool,
}

/// What is to be done about an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing before this time; `None`: nothing before the next change.
    Wait(Option<Timestamp>),
    /// An incident of this severity is to be told.
    Tell(Severity),
}

impl Outage {
    /// Returns true if it is trouble for which the rules want no incident.
    #[must_use]
    pub fn is_unwanted(&self, rules: Option<&IncidentRules>) -> bool {
        self.is_measured && rules.and_then(|rules| rules.severity(self.kind)).is_none()
    }

    /// Decides at `now`.
    #[must_use]
    pub fn decide(&self, circumstances: Circumstances<'_>, now: Timestamp) -> Decision {
        if !self.is_measured || self.unreachable_since.is_some() {
            return Decision::Wait(None);
        }
        if circumstances.is_held_back {
            return Decision::Wait(Some(now.plus_ms(HELD_BACK_MS)));
        }
        let unwanted = Decision::Wait(Some(now.plus_ms(UNWANTED_MS)));
        let Some(rules) = circumstances.rules else { return unwanted };
        let Some(severity) = rules.severity(self.kind) else { return unwanted };
        let patience_ms = if circumstances.has_open_incident { 0 } else { rules.open_after_ms() };
        let not_before = self.held_until.max(Some(self.began_at.plus_ms(patience_ms)));
        match not_before.filter(|at| now < *at) {
            Some(at) => Decision::Wait(Some(at)),
            None => Decision::Tell(severity),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::incident_policy::OutageKind;
    use crate::model::incident_policy::OutageKind::{Degraded, Down};

    const fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn outage(kind: OutageKind) -> Outage {
        Outage::begun(1, 5, kind, at(10_000))
    }

    const TELL: Decision = Decision::Tell(Severity::Major);

    /// An outage that began at 10 s, seen at 20 s; a policy opens after so many seconds.
    #[rstest]
    #[case::at_once(outage(Down), Some(0), TELL)]
    #[case::just_long_enough(outage(Down), Some(10), TELL)]
    #[case::not_long_enough(outage(Down), Some(11), Decision::Wait(Some(at(21_000))))]
    #[case::without_a_policy(outage(Down), None, Decision::Wait(Some(at(80_000))))]
    #[case::of_a_kind_that_is_not_wanted(outage(Degraded), Some(0), Decision::Wait(Some(at(80_000))))]
    #[case::blind(Outage { is_measured: false, ..outage(Down) }, Some(0), Decision::Wait(None))]
    #[case::unreachable(Outage { unreachable_since: Some(at(1)), ..outage(Down) }, Some(0), Decision::Wait(None))]
    #[case::while_others_are_asked(
        Outage { held_until: Some(at(25_000)), ..outage(Down) }, Some(0), Decision::Wait(Some(at(25_000)))
    )]
    #[case::others_were_asked(Outage { held_until: Some(at(20_000)), ..outage(Down) }, Some(0), TELL)]
    fn an_outage_becomes_an_incident_in_time(
        #[case] outage: Outage,
        #[case] open_after: Option<u32>,
        #[case] expected: Decision,
    ) {
        let rules = open_after
            .map(|open_after_seconds| IncidentRules { open_after_seconds, ..IncidentRules::default() });
        let circumstances =
            Circumstances { rules: rules.as_ref(), is_held_back: false, has_open_incident: false };
        assert_eq!(outage.decide(circumstances, at(20_000)), expected);
        let held_back = outage.decide(Circumstances { is_held_back: true, ..circumstances }, at(20_000));
        assert!(matches!(held_back, Decision::Wait(_)), "people hold it back");
    }

    #[test]
    fn news_for_an_open_incident_need_no_patience() {
        let rules = IncidentRules { open_after_seconds: 60, ..IncidentRules::default() };
        let circumstances =
            Circumstances { rules: Some(&rules), is_held_back: false, has_open_incident: true };
        assert_eq!(outage(Down).decide(circumstances, at(10_000)), TELL);
    }
}
