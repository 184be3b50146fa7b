//! Escalation policies: notifications of an incident, step by step, until the incident is acknowledged or resolved.
//!
//! The policies of an organisation have an order; an incident follows the first one that matches it. The time of a
//! step counts from the step before it. This module does not make messages: `lifecycle` writes a step and its messages
//! in one transaction, so that each step happens once.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::routing::{ResourceReference, RoutedServices, RoutingKeys};

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of policies of an organisation.
pub const POLICIES_MAX: usize = 100;
/// Maximum number of steps of a policy; the minimum is one.
pub const STEPS_MAX: usize = 20;
/// Maximum number of channels of a step.
pub const CHANNELS_MAX: usize = 20;
/// Maximum number of contacts of a step.
pub const CONTACTS_MAX: usize = 20;
/// Maximum number of on-call schedules of a step.
pub const SCHEDULES_MAX: usize = 20;
/// Maximum number of incident policies that an escalation policy names.
pub const INCIDENT_POLICIES_MAX: usize = 20;
/// Permitted seconds between a step and the step before it, or the start of the incident for the first step.
pub const AFTER_SECONDS: RangeInclusive<u32> = 0..=86_400;
/// Permitted seconds between the last step of a round and the first step of the next round.
pub const REPEAT_SECONDS: RangeInclusive<u32> = 60..=86_400;

/// A policy as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscalationPolicy {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// Position in the order of the organisation's policies, from 1.
    pub position: i32,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// Selects the incidents that follow the policy.
    pub assignment: EscalationAssignment,
    /// The steps in their order, at least one.
    pub steps: Vec<EscalationStep>,
    /// Seconds from the last step until the first step is repeated; `None` = the policy ends with the last step.
    pub repeat_after_seconds: Option<u32>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// A step of a policy: its time, and its recipients, which are at least one channel, contact or schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscalationStep {
    /// Seconds since the step before it; for the first step, since the start of the incident.
    pub after_seconds: u32,
    /// The channels that are notified.
    pub channels: Vec<ResourceReference>,
    /// The contacts that are notified by their own channels.
    pub contacts: Vec<ResourceReference>,
    /// The on-call schedules whose contacts on duty are notified.
    pub schedules: Vec<ResourceReference>,
}

impl EscalationPolicy {
    /// Returns true if a step names this contact.
    #[must_use]
    pub fn names_contact(&self, contact: i64) -> bool {
        self.steps.iter().flat_map(|step| &step.contacts).any(|named| named.key == contact)
    }

    /// Returns true if a step names this on-call schedule.
    #[must_use]
    pub fn names_schedule(&self, schedule: i64) -> bool {
        self.steps.iter().flat_map(|step| &step.schedules).any(|named| named.key == schedule)
    }
}

/// The rule that selects the incidents that follow a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscalationAssignment {
    /// The lowest severity of an incident that follows the policy.
    pub min_severity: Severity,
    /// Further restriction by services or incident policies; `None` = every incident that is severe enough.
    pub selection: Option<IncidentSelection>,
}

/// Incidents that a policy names: every incident that affects one of the services, or that one of the incident
/// policies opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentSelection {
    /// Services by tag or by id.
    pub services: RoutedServices,
    /// Incident policies whose incidents are selected.
    pub incident_policies: Vec<ResourceReference>,
}

/// The properties of an incident that decide which policy the incident follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentTraits {
    /// Current severity of the incident.
    pub severity: Severity,
    /// Keys of the services that the incident affects, and of their tags.
    pub concerned: RoutingKeys,
    /// Key of the incident policy that opened the incident; `None` = a member opened it.
    pub incident_policy: Option<i64>,
}

impl EscalationAssignment {
    /// Returns true if an incident with these traits follows the policy.
    #[must_use]
    pub fn matches(&self, case: &IncidentTraits) -> bool {
        let is_chosen = self.selection.as_ref().is_none_or(|chosen| {
            let is_opener = |named: &ResourceReference| Some(named.key) == case.incident_policy;
            chosen.services.meets(&case.concerned) || chosen.incident_policies.iter().any(is_opener)
        });
        case.severity >= self.min_severity && is_chosen
    }
}

/// The policy that an incident follows: the first one in the order that matches; `None` if no policy matches.
#[must_use]
pub fn first_match<'a>(
    policies: &'a [EscalationPolicy],
    case: &IncidentTraits,
) -> Option<&'a EscalationPolicy> {
    let matching = policies.iter().filter(|policy| policy.assignment.matches(case));
    matching.min_by_key(|policy| policy.position)
}

/// The progress of an incident in its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalationProgress {
    /// Number of the round, from 1.
    pub round: u32,
    /// The index of the next step, from 0.
    pub next_step: usize,
    /// The time of the next step; `None` if the last step was taken and no repetition follows.
    pub due_at: Option<Timestamp>,
}

impl EscalationProgress {
    /// The progress of an incident that starts to follow a policy.
    #[must_use]
    pub fn begin(policy: &EscalationPolicy, now: Timestamp) -> Self {
        let wait = policy.steps.first().map_or(0, |step| step.after_seconds);
        Self { round: 1, next_step: 0, due_at: Some(later(now, wait)) }
    }

    /// The progress of an open incident that leaves another policy for this one: the time of the first step counts
    /// from the start of the incident.
    #[must_use]
    pub fn enter(policy: &EscalationPolicy, started_at: Timestamp, now: Timestamp) -> Self {
        let begun = Self::begin(policy, started_at);
        Self { due_at: begun.due_at.map(|due_at| due_at.max(now)), ..begun }
    }

    /// The next step; `None` if all steps were taken or the policy has been shortened since.
    #[must_use]
    pub fn step(self, policy: &EscalationPolicy) -> Option<&EscalationStep> {
        policy.steps.get(self.next_step)
    }

    /// The progress after a step that was taken at `now`. If the step reached nobody, the next step of the same round is
    /// due at once; a new round always waits for its time.
    #[must_use]
    pub fn after_step(self, policy: &EscalationPolicy, now: Timestamp, has_reached: bool) -> Self {
        let next_step = self.next_step + 1;
        if let Some(step) = policy.steps.get(next_step) {
            let wait = if has_reached { step.after_seconds } else { 0 };
            return Self { next_step, due_at: Some(later(now, wait)), ..self };
        }
        match policy.repeat_after_seconds {
            Some(wait) => Self { round: self.round + 1, next_step: 0, due_at: Some(later(now, wait)) },
            None => Self { next_step: policy.steps.len(), due_at: None, ..self },
        }
    }
}

impl EscalationProgress {
    /// The progress after the policy was changed from `before` to `after`. The due time of a waiting step moves by the
    /// change of its wait, but not before `now`. If all steps had been taken, an added step or an added repetition
    /// counts from `now`.
    #[must_use]
    pub fn after_change(self, before: &EscalationPolicy, after: &EscalationPolicy, now: Timestamp) -> Self {
        let Some(due_at) = self.due_at else { return self.resume(after, now) };
        match (self.wait(before), self.wait(after)) {
            (Some(old), Some(new)) if old != new => {
                let due_at = due_at.plus_ms((i64::from(new) - i64::from(old)) * 1_000);
                Self { due_at: Some(due_at.max(now)), ..self }
            }
            // The incident waited for a repetition that was removed.
            (Some(_), None) if self.next_step == 0 => {
                Self { next_step: after.steps.len(), due_at: None, ..self }
            }
            _ => self,
        }
    }

    /// The progress with its wait limited to that of the policy, because the clock may have been set back.
    #[must_use]
    pub fn limit_wait(self, policy: &EscalationPolicy, now: Timestamp) -> Self {
        let latest = later(now, self.wait(policy).unwrap_or_default());
        Self { due_at: self.due_at.map(|due_at| due_at.min(latest)), ..self }
    }

    /// The progress in a changed policy whose steps had all been taken before the change.
    fn resume(self, policy: &EscalationPolicy, now: Timestamp) -> Self {
        match (policy.steps.get(self.next_step), policy.repeat_after_seconds) {
            (Some(step), _) => Self { due_at: Some(later(now, step.after_seconds)), ..self },
            (None, Some(wait)) => {
                Self { round: self.round + 1, next_step: 0, due_at: Some(later(now, wait)) }
            }
            (None, None) => self,
        }
    }

    /// The seconds for which the next step waits; `None` when there is no next step.
    fn wait(self, policy: &EscalationPolicy) -> Option<u32> {
        match (self.round, self.next_step) {
            (2.., 0) => policy.repeat_after_seconds,
            (_, next_step) => policy.steps.get(next_step).map(|step| step.after_seconds),
        }
    }
}

fn later(now: Timestamp, seconds: u32) -> Timestamp {
    now.plus_ms(i64::from(seconds) * 1_000)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn policy(waits: &[u32], repeat_after_seconds: Option<u32>) -> EscalationPolicy {
        let step = |after_seconds: &u32| EscalationStep {
            after_seconds: *after_seconds,
            channels: Vec::new(),
            contacts: Vec::new(),
            schedules: Vec::new(),
        };
        EscalationPolicy {
            key: 1,
            id: Id::random(),
            organisation: 1,
            position: 1,
            name: "Shop".into(),
            assignment: EscalationAssignment { min_severity: Severity::Minor, selection: None },
            steps: waits.iter().map(step).collect(),
            repeat_after_seconds,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ms(1_700_000_000_000 + seconds * 1_000)
    }

    fn named(key: i64) -> ResourceReference {
        ResourceReference { key, id: Id::random() }
    }

    /// Columns: waits of the steps; wait of the repetition; round and index of a step that reached a recipient at second
    /// 1,000; the round, step and second that follow.
    #[rstest]
    #[case::the_second(&[0, 300], None, (1, 0), (1, 1, Some(1_300)))]
    #[case::at_once(&[60, 0], None, (1, 0), (1, 1, Some(1_000)))]
    #[case::the_last(&[0, 300], None, (1, 1), (1, 2, None))]
    #[case::again(&[30, 300], Some(600), (1, 1), (2, 0, Some(1_600)))]
    #[case::again_and_again(&[0], Some(60), (41, 0), (42, 0, Some(1_060)))]
    #[case::shortened(&[0, 300], Some(60), (1, 7), (2, 0, Some(1_060)))]
    #[case::shortened_without_repetition(&[0, 300], None, (1, 7), (1, 2, None))]
    fn a_step_follows_a_step(
        #[case] waits: &[u32],
        #[case] repeat: Option<u32>,
        #[case] (round, next_step): (u32, usize),
        #[case] (then_round, then_step, then_at): (u32, usize, Option<i64>),
    ) {
        let progress = EscalationProgress { round, next_step, due_at: Some(at(990)) };
        let then = progress.after_step(&policy(waits, repeat), at(1_000), true);
        assert_eq!(
            then,
            EscalationProgress { round: then_round, next_step: then_step, due_at: then_at.map(at) }
        );
    }

    #[test]
    fn a_step_without_recipients_is_skipped_but_a_round_keeps_its_length() {
        let policy = policy(&[10, 300], Some(60));
        let begun = EscalationProgress::begin(&policy, at(0));
        assert_eq!(begun.due_at, Some(at(10)));
        let second = begun.after_step(&policy, at(10), false);
        assert_eq!(second, EscalationProgress { round: 1, next_step: 1, due_at: Some(at(10)) });
        assert_eq!(second.after_step(&policy, at(10), false).due_at, Some(at(70)));
    }

    /// Columns: waits of the steps and the repetition, before and after the change at second 1,000; round, next step and
    /// the second at which it is due, before and after the change.
    #[rstest]
    #[case::longer(&[0, 300], None, &[0, 600], None, (1, 1, Some(1_100)), (1, 1, Some(1_400)))]
    #[case::shorter(&[0, 300], None, &[0, 250], None, (1, 1, Some(1_100)), (1, 1, Some(1_050)))]
    #[case::not_before_now(&[0, 300], None, &[0, 60], None, (1, 1, Some(1_100)), (1, 1, Some(1_000)))]
    #[case::another_step(&[0, 300], None, &[50, 300], None, (1, 1, Some(1_100)), (1, 1, Some(1_100)))]
    #[case::an_added_step(&[0], None, &[0, 30], None, (1, 1, None), (1, 1, Some(1_030)))]
    #[case::an_added_repetition(&[0], None, &[0], Some(60), (1, 1, None), (2, 0, Some(1_060)))]
    #[case::finished_for_good(&[0], None, &[20], None, (1, 1, None), (1, 1, None))]
    #[case::another_repetition(&[0], Some(60), &[0], Some(90), (2, 0, Some(1_010)), (2, 0, Some(1_040)))]
    #[case::no_repetition(&[0], Some(60), &[0], None, (2, 0, Some(1_010)), (2, 1, None))]
    #[case::a_removed_step(&[0, 300], None, &[0], None, (1, 1, Some(1_100)), (1, 1, Some(1_100)))]
    fn a_changed_policy_moves_the_next_step(
        #[case] before: &[u32],
        #[case] repeat_before: Option<u32>,
        #[case] after: &[u32],
        #[case] repeat_after: Option<u32>,
        #[case] (round, next_step, due): (u32, usize, Option<i64>),
        #[case] (then_round, then_step, then_due): (u32, usize, Option<i64>),
    ) {
        let progress = EscalationProgress { round, next_step, due_at: due.map(at) };
        let (before, after) = (policy(before, repeat_before), policy(after, repeat_after));
        let then = progress.after_change(&before, &after, at(1_000));
        assert_eq!(
            then,
            EscalationProgress { round: then_round, next_step: then_step, due_at: then_due.map(at) }
        );
    }

    #[rstest]
    #[case::in_time(1_200, 1_200)]
    #[case::a_year_ahead(31_536_000, 1_300)]
    #[case::in_the_past(900, 900)]
    fn no_step_waits_longer_than_its_policy_allows(#[case] due: i64, #[case] expected: i64) {
        let progress = EscalationProgress { round: 1, next_step: 1, due_at: Some(at(due)) };
        let within = progress.limit_wait(&policy(&[0, 300], None), at(1_000));
        assert_eq!(within.due_at, Some(at(expected)));
    }

    /// Columns: wait of the first step; second at which the incident enters the policy; second at which the step is due.
    /// The incident started at second 0.
    #[rstest]
    #[case::at_once(0, 100, 100)]
    #[case::its_time_has_passed(60, 100, 100)]
    #[case::its_time_is_to_come(300, 100, 300)]
    fn the_first_step_of_an_entered_policy_counts_from_the_start_of_the_incident(
        #[case] wait: u32,
        #[case] now: i64,
        #[case] expected: i64,
    ) {
        let entered = EscalationProgress::enter(&policy(&[wait], None), at(0), at(now));
        assert_eq!(entered, EscalationProgress { round: 1, next_step: 0, due_at: Some(at(expected)) });
    }

    /// Columns: tag, service and incident policy named by a policy for major incidents and above; of an incident its
    /// severity, the key of both its tag and its service, and its incident policy; whether the incident matches.
    #[rstest]
    #[case::every_incident(None, (Severity::Major, 0, None), true)]
    #[case::too_harmless(None, (Severity::Minor, 0, None), false)]
    #[case::a_tag(Some((7, 8, 9)), (Severity::Critical, 7, None), true)]
    #[case::a_service(Some((7, 8, 9)), (Severity::Major, 8, Some(1)), true)]
    #[case::an_incident_policy(Some((7, 8, 9)), (Severity::Major, 0, Some(9)), true)]
    #[case::none_of_them(Some((7, 8, 9)), (Severity::Critical, 1, Some(1)), false)]
    #[case::opened_by_people(Some((7, 8, 9)), (Severity::Critical, 9, None), false)]
    #[case::harmless_and_named(Some((7, 8, 9)), (Severity::Minor, 7, Some(9)), false)]
    fn incidents_are_assigned(
        #[case] chosen: Option<(i64, i64, i64)>,
        #[case] (severity, key, incident_policy): (Severity, i64, Option<i64>),
        #[case] expected: bool,
    ) {
        let selection = chosen.map(|(tag, service, incident_policy)| IncidentSelection {
            services: RoutedServices { tags: vec![named(tag)], services: vec![named(service)] },
            incident_policies: vec![named(incident_policy)],
        });
        let assignment = EscalationAssignment { min_severity: Severity::Major, selection };
        let concerned = RoutingKeys { tags: vec![key], services: vec![key] };
        assert_eq!(assignment.matches(&IncidentTraits { severity, concerned, incident_policy }), expected);
    }

    #[test]
    fn the_first_policy_in_the_order_is_followed() {
        let case = IncidentTraits {
            severity: Severity::Major,
            concerned: RoutingKeys::default(),
            incident_policy: None,
        };
        let at_place = |position| EscalationPolicy { position, ..policy(&[0], None) };
        let other = EscalationAssignment {
            min_severity: Severity::Minor,
            selection: Some(IncidentSelection::default()),
        };
        let policies = [at_place(3), EscalationPolicy { assignment: other, ..at_place(1) }, at_place(2)];
        assert_eq!(first_match(&policies, &case).map(|policy| policy.position), Some(2));
    }
}
