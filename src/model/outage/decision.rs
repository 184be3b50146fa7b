//! Decides whether an outage becomes an incident or an update of its incident, and if not, when it is evaluated again.
//!
//! Some outages wait for something that members do: end a maintenance, clear an overridden status, change a policy. These
//! are not evaluated again at a set time; the change itself wakes them, and `incidents::outage_waker` finds any that were
//! missed.

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::incident_policy::{IncidentRules, OutageKind};
use crate::model::outage::Outage;
use crate::model::outage::first_edges::FirstEdges;

/// Shortest time that a flapping service must be down without a change before it counts as down, in milliseconds.
const STEADY_DOWN_MS: i64 = 30_000;

/// Facts beyond the outage itself that its decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct OutageCircumstances<'a> {
    /// The rules of the first policy that matches the service; `None` if no policy matches.
    pub rules: Option<&'a IncidentRules>,
    /// True if a maintenance in progress covers the service, or a person has overridden its status.
    pub is_held_back: bool,
    /// True if its incident is open and takes updates.
    pub has_open_incident: bool,
}

/// The decision about an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageDecision {
    /// Do nothing before this time; `None` = before the next change of the status or the configuration.
    Wait(Option<Timestamp>),
    /// Report an incident of this severity, or an update of the open one.
    Report(Severity),
}

impl Outage {
    /// Returns true if the rules open no incident for this trouble, now or after some time.
    #[must_use]
    pub fn is_unwanted(&self, rules: Option<&IncidentRules>) -> bool {
        let is_wanted = |rules: &IncidentRules| {
            rules.severity(self.kind).is_some() || self.counts_as_down_from(rules).is_some()
        };
        self.is_measured && !rules.is_some_and(is_wanted)
    }

    /// The start of the outage by these rules: the earliest first edge into a kind for which the rules open an incident.
    /// The present kind does not matter.
    #[must_use]
    pub fn started_at(&self, rules: &IncidentRules) -> Timestamp {
        self.first_edges.earliest(|kind| rules.severity(kind).is_some()).unwrap_or(self.began_at)
    }

    /// The time from which a flapping service that is down counts as down; `None` if it is not flapping or not down, counts
    /// as down by now, or the rules open no incident for being down.
    #[must_use]
    pub fn counts_as_down_from(&self, rules: &IncidentRules) -> Option<Timestamp> {
        rules.down_severity?;
        self.down_since.map(|since| since.plus_ms(rules.open_after_ms().max(STEADY_DOWN_MS)))
    }

    /// The outage by these rules at `now`. A flapping service that has been down for long enough without a change becomes
    /// down. If the outage was reported as flapping, being down is reported again.
    #[must_use]
    pub fn judged(self, rules: Option<&IncidentRules>, now: Timestamp) -> Self {
        let counts_from = rules.and_then(|rules| self.counts_as_down_from(rules));
        let Some(since) = self.down_since.filter(|_| counts_from.is_some_and(|from| from <= now)) else {
            return self;
        };
        let first_edges = match self.is_unreported() {
            true => self.first_edges,
            false => FirstEdges::starting(OutageKind::Down, since),
        };
        let kind = OutageKind::Down;
        Self { kind, began_at: since, first_edges, down_since: None, reported_at: None, ..self }
    }

    /// Decides at `now` about the outage, which is [`judged`](Self::judged) by the same rules.
    #[must_use]
    pub fn decide(&self, circumstances: OutageCircumstances<'_>, now: Timestamp) -> OutageDecision {
        if !self.is_measured || self.unreachable_since.is_some() || circumstances.is_held_back {
            return OutageDecision::Wait(None);
        }
        let Some(rules) = circumstances.rules else { return OutageDecision::Wait(None) };
        let counts_as_down = self.counts_as_down_from(rules);
        let severity = rules.severity(self.kind).filter(|_| self.is_unreported());
        let Some(severity) = severity else { return OutageDecision::Wait(counts_as_down) };
        let patience_ms = if circumstances.has_open_incident { 0 } else { rules.open_after_ms() };
        let not_before = self.held_until.max(Some(self.started_at(rules).plus_ms(patience_ms)));
        match not_before.filter(|at| now < *at) {
            Some(at) => OutageDecision::Wait(Some(counts_as_down.map_or(at, |down| at.min(down)))),
            None => OutageDecision::Report(severity),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
    use crate::model::incident_policy::OutageKind::{Degraded, Down};

    const fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn outage(kind: OutageKind) -> Outage {
        Outage::begun(1, 5, kind, at(10_000))
    }

    const NOTIFY: OutageDecision = OutageDecision::Report(Severity::Major);

    /// Cases: an outage that began at 10 s and is evaluated at 20 s; the seconds after which the policy opens an incident.
    #[rstest]
    #[case::at_once(outage(Down), Some(0), NOTIFY)]
    #[case::just_long_enough(outage(Down), Some(10), NOTIFY)]
    #[case::not_long_enough(outage(Down), Some(11), OutageDecision::Wait(Some(at(21_000))))]
    #[case::without_a_policy(outage(Down), None, OutageDecision::Wait(None))]
    #[case::of_an_unwanted_kind(outage(Degraded), Some(0), OutageDecision::Wait(None))]
    #[case::blind(Outage { is_measured: false, ..outage(Down) }, Some(0), OutageDecision::Wait(None))]
    #[case::unreachable(Outage { unreachable_since: Some(at(1)), ..outage(Down) }, Some(0), OutageDecision::Wait(None))]
    #[case::while_others_are_rechecked(
        Outage { held_until: Some(at(25_000)), ..outage(Down) }, Some(0), OutageDecision::Wait(Some(at(25_000)))
    )]
    #[case::others_were_rechecked(Outage { held_until: Some(at(20_000)), ..outage(Down) }, Some(0), NOTIFY)]
    fn an_outage_becomes_an_incident_in_time(
        #[case] outage: Outage,
        #[case] open_after: Option<u32>,
        #[case] expected: OutageDecision,
    ) {
        let rules = open_after
            .map(|open_after_seconds| IncidentRules { open_after_seconds, ..IncidentRules::default() });
        let circumstances =
            OutageCircumstances { rules: rules.as_ref(), is_held_back: false, has_open_incident: false };
        assert_eq!(outage.decide(circumstances, at(20_000)), expected);
        let held_back =
            outage.decide(OutageCircumstances { is_held_back: true, ..circumstances }, at(20_000));
        assert_eq!(held_back, OutageDecision::Wait(None), "people hold it back, and wake it");
    }

    #[test]
    fn changes_of_an_open_incident_are_reported_without_delay() {
        let rules = IncidentRules { open_after_seconds: 60, ..IncidentRules::default() };
        let circumstances =
            OutageCircumstances { rules: Some(&rules), is_held_back: false, has_open_incident: true };
        assert_eq!(outage(Down).decide(circumstances, at(10_000)), NOTIFY);
    }

    /// Cases: a script of statuses, the policy; the expected reports with their time, kind and start. The script has `g`
    /// degraded, `d` down and `u` up with a number of seconds; `F` means that flapping starts with that step.
    #[rstest]
    #[case::down("d60", "down+20", "20s down since 0s")]
    #[case::too_short("d19 u9", "down+20", "")]
    #[case::never_up("d8 g8 d8 g8 d9", "down+20 degraded", "20s down since 0s")]
    #[case::never_up_and_degraded_when_it_is_due("d8 g20", "down+20 degraded", "20s degraded since 0s")]
    #[case::worse_for_a_minute("g3500 d200", "down+3600 degraded", "3600s down since 0s")]
    #[case::degraded_is_not_wanted("g40 d60", "down+20", "60s down since 40s")]
    #[case::degraded_is_not_wanted_in_between("d8 g20 d9", "down+20", "28s down since 0s")]
    #[case::up_for_a_moment("d15 u1 d40", "down+20", "36s down since 16s")]
    #[case::worse_while_it_is_open("g30 d9", "down+20 degraded", "20s degraded since 0s, 30s down")]
    #[case::flapping_and_down_for_good("d1 u2F d60", "down+6", "33s down since 3s")]
    #[case::flapping_and_down_for_long("d1 u2F d60", "down+50", "53s down since 3s")]
    #[case::flapping_and_down_too_short("d1 u2F d29 u1 d29 u1", "down+6", "")]
    #[case::flapping_and_degraded_in_between("d1 u2F d20 g1 d40", "down+6", "54s down since 3s")]
    #[case::flapping_is_wanted("d1 u2F d60", "down+6 unstable", "7s unstable since 1s, 33s down")]
    #[case::flapping_begins_with_down("u5 d60F", "down+0 unstable", "5s unstable since 5s, 35s down")]
    fn outages_are_reported_as_the_policy_demands(
        #[case] script: &str,
        #[case] wanted: &str,
        #[case] expected: &str,
    ) {
        let rules = policy(wanted);
        let (mut outage, mut reported, mut impact, mut from) = (None, Vec::new(), None, MeasuredStatus::Up);
        let mut now = at(0);
        for step in script.split(' ') {
            let (flaps, step) = (step.ends_with('F'), step.trim_end_matches('F'));
            let to = match step.chars().next() {
                Some('d') => MeasuredStatus::Down,
                Some('g') => MeasuredStatus::Degraded,
                _ => MeasuredStatus::Up,
            };
            let causes = [Some(ChangeCause::Votes), flaps.then_some(ChangeCause::Flapping)];
            for cause in causes.into_iter().flatten() {
                outage =
                    Outage::follow(outage, 1, &StatusChange { service: 5, at: now, from, to, cause }).outage;
            }
            from = to;
            let end = now.plus_ms(step[1..].parse::<i64>().unwrap() * 1_000);
            while let Some(due) = outage.filter(|outage| outage.evaluate_at.is_some_and(|at| at < end)) {
                now = due.evaluate_at.unwrap().max(now);
                let is_open = impact.is_some();
                let circumstances = OutageCircumstances {
                    rules: Some(&rules),
                    is_held_back: false,
                    has_open_incident: is_open,
                };
                let judged = due.judged(Some(&rules), now);
                let OutageDecision::Report(_) = judged.decide(circumstances, now) else {
                    let OutageDecision::Wait(evaluate_at) = judged.decide(circumstances, now) else {
                        unreachable!()
                    };
                    outage = Some(Outage { evaluate_at, ..due });
                    continue;
                };
                let (kind, seconds) = (judged.kind, now.ms() / 1_000);
                if !is_open {
                    let since = judged.started_at(&rules).ms() / 1_000;
                    reported.push(format!("{seconds}s {kind} since {since}s"));
                } else if impact < Some(kind.impact()) {
                    reported.push(format!("{seconds}s {kind}"));
                }
                impact = impact.max(Some(kind.impact()));
                outage = Some(judged.mark_reported(Some(7), now));
            }
            now = end;
        }
        assert_eq!(reported.join(", "), expected);
    }

    /// The policy `down+6 unstable` opens an incident for services that are down or flapping, after six seconds.
    fn policy(wanted: &str) -> IncidentRules {
        let seconds = wanted.split(['+', ' ']).nth(1).unwrap();
        let is_wanted = |kind: &str| wanted.contains(kind).then_some(Severity::Major);
        IncidentRules {
            open_after_seconds: seconds.parse().unwrap(),
            down_severity: is_wanted("down"),
            degraded_severity: is_wanted("degraded"),
            unstable_severity: is_wanted("unstable"),
            ..IncidentRules::default()
        }
    }
}
