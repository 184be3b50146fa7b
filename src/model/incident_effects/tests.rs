//! Tests of the rules about changes of incidents, as tables: a change, the settings of a channel and the messages
//! already written for it, and the effects.

mod contacts;
mod simulation;
mod world;

use rstest::rstest;

use super::*;
use crate::model::incident::{IncidentStatus, Severity};
use crate::model::incident_effects::audience::FollowedPolicy;
use crate::model::incident_effects::tests::world::{
    Setting, at, audience, describe, incident, policy, with_services, written,
};
use crate::model::notification::NotificationEvent;
use crate::model::notification::digest::HoldReason;

/// The severity of an incident and the keys of its services.
type State<'a> = (Severity, &'a [i64]);

const fn state(severity: Severity, services: &[i64]) -> State<'_> {
    (severity, services)
}

const MINOR: Severity = Severity::Minor;
const MAJOR: Severity = Severity::Major;
const CRITICAL: Severity = Severity::Critical;

/// An incident with one service, before and after its resolution.
fn resolution() -> (WholeIncident, WholeIncident) {
    let before = with_services(incident(MINOR), &[1]);
    let mut after = before.clone();
    after.incident.status = IncidentStatus::Resolved;
    after.incident.resolved_at = Some(at(1_000));
    (before, after)
}

/// Columns: state before, state after the change at second 1,000, settings of the channel, messages written before (see
/// `written`), effects.
#[rstest]
// A new incident.
#[case::opened(None, state(MINOR, &[1]), Setting::default(), &[], &["release", "incident.opened"])]
#[case::too_harmless(None, state(MINOR, &[1]), Setting::from(CRITICAL), &[], &[])]
#[case::opened_in_quiet_hours(None, state(MINOR, &[1]), Setting::quiet(), &[], &["incident.opened until quiet_hours"])]
#[case::bad_enough_in_quiet_hours(None, state(CRITICAL, &[1]), Setting::quiet(), &[], &["release", "incident.opened"])]
#[case::of_other_services(None, state(MINOR, &[1]), Setting::about(2), &[], &[])]
// A service joins.
#[case::joined(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::default(), &["incident.opened 100"],
    &["release", "incident.service_joined +1"])]
#[case::joined_soon_after_another(Some(state(MINOR, &[1, 2])), state(MINOR, &[1, 2, 3]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 990"], &["incident.service_joined +1 until batch 1020"])]
#[case::joined_a_held_message(Some(state(MINOR, &[1, 2, 3])), state(MINOR, &[1, 2, 3, 4, 5]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 990", "incident.service_joined 995 batch 1020"],
    &["replace 3 +3"])]
#[case::joined_a_message_that_may_be_under_way(Some(state(MINOR, &[1, 2])), state(MINOR, &[1, 2, 3]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 990 batch 1001"], &["incident.service_joined +1 until batch 1031"])]
#[case::joined_behind_something_else(Some(state(MINOR, &[1, 2])), state(MINOR, &[1, 2, 3]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 990 batch 1020", "incident.acknowledged 992 batch 1020"],
    &["incident.service_joined +1 until batch 1050"])]
#[case::joined_long_after_another(Some(state(MINOR, &[1, 2])), state(MINOR, &[1, 2, 3]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 960"], &["release", "incident.service_joined +1"])]
#[case::a_clock_that_was_ahead_holds_nothing(Some(state(MINOR, &[1, 2])), state(MINOR, &[1, 2, 3]), Setting::default(),
    &["incident.opened 100", "incident.service_joined 99000"], &["release", "incident.service_joined +1"])]
#[case::joined_in_quiet_hours(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::quiet(),
    &["incident.opened 100"], &["incident.service_joined +1 until quiet_hours"])]
#[case::joins_are_not_chosen(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::only(&[NotificationEvent::IncidentOpened]),
    &["incident.opened 100"], &[])]
#[case::updates_include_joins(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::only(&[NotificationEvent::IncidentUpdated]),
    &["incident.opened 100"], &["release", "incident.updated +1"])]
#[case::begins_to_matter_by_a_service(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::about(2), &[],
    &["release", "incident.opened"])]
// The incident gets worse.
#[case::worse(Some(state(MINOR, &[1])), state(CRITICAL, &[1]), Setting::default(), &["incident.opened 100"],
    &["release", "incident.worsened was minor"])]
#[case::worse_and_joined(Some(state(MINOR, &[1])), state(CRITICAL, &[1, 2]), Setting::default(), &["incident.opened 100"],
    &["release", "incident.worsened +1 was minor"])]
#[case::worse_and_joined_with_joins_chosen(Some(state(MINOR, &[1])), state(CRITICAL, &[1, 2]),
    Setting::only(&[NotificationEvent::IncidentServiceJoined]), &["incident.opened 100"],
    &["release", "incident.service_joined +1 was minor"])]
#[case::worse_with_updates_chosen(Some(state(MINOR, &[1])), state(CRITICAL, &[1]), Setting::only(&[NotificationEvent::IncidentUpdated]),
    &["incident.opened 100"], &["release", "incident.updated was minor"])]
#[case::no_worse_than_notified(Some(state(MINOR, &[1])), state(MAJOR, &[1]), Setting::default().notified_severity(CRITICAL),
    &["incident.opened 100"], &[])]
#[case::begins_to_matter_by_severity(Some(state(MINOR, &[1])), state(CRITICAL, &[1]), Setting::from(CRITICAL), &[],
    &["release", "incident.opened"])]
#[case::ends_quiet_hours(Some(state(MINOR, &[1])), state(CRITICAL, &[1]), Setting::quiet(),
    &["incident.opened 100 quiet_hours 9000"], &["release", "release", "incident.worsened was minor"])]
#[case::ends_quiet_hours_for_any_chosen_events(Some(state(MINOR, &[1])), state(CRITICAL, &[1]),
    Setting { events: vec![NotificationEvent::IncidentOpened], ..Setting::quiet() },
    &["incident.opened 100 quiet_hours 9000"], &["release"])]
#[case::not_bad_enough_to_wake(Some(state(MINOR, &[1])), state(MAJOR, &[1]), Setting::quiet(),
    &["incident.opened 100 quiet_hours 9000"], &["incident.worsened was minor until quiet_hours"])]
#[case::a_lower_severity_sends_nothing(Some(state(CRITICAL, &[1])), state(MINOR, &[1]), Setting::default(),
    &["incident.opened 100"], &[])]
// Channels that are switched off.
#[case::off(None, state(MINOR, &[1]), Setting::off(), &[], &[])]
#[case::joined_while_off(Some(state(MINOR, &[1])), state(MINOR, &[1, 2]), Setting::off(), &["incident.opened 100"], &[])]
fn channels_are_notified_of_a_change(
    #[case] before: Option<State<'_>>,
    #[case] after: State<'_>,
    #[case] setting: Setting,
    #[case] written_before: &[&str],
    #[case] expected: &[&str],
) {
    let before = before.map(|(severity, services)| with_services(incident(severity), services));
    let after = with_services(incident(after.0), after.1);
    let change = IncidentTransition { before: before.as_ref(), after: &after, leaving: None, at: at(1_000) };
    let audience = audience(setting, written(written_before), &after);
    assert_eq!(describe(&messages::message_effects(&change, &audience)), expected);
}

/// The end is sent to every channel that got the start, even if it was disabled meanwhile, and to no other channel.
#[rstest]
#[case::notified(Setting::default(), &["incident.opened 100"], &["retract steps", "release", "incident.resolved"])]
#[case::notified_and_disabled(Setting::off(), &["incident.opened 100"], &["retract steps", "release", "incident.resolved"])]
#[case::never_notified(Setting::default(), &[], &["retract steps"])]
#[case::never_notified_and_disabled(Setting::off(), &[], &["retract steps"])]
#[case::in_quiet_hours(Setting::quiet(), &["incident.opened 100 quiet_hours 9000"],
    &["retract steps", "incident.resolved until quiet_hours"])]
fn the_resolution_is_sent_to_channels_that_got_the_start(
    #[case] setting: Setting,
    #[case] written_before: &[&str],
    #[case] expected: &[&str],
) {
    let (before, after) = resolution();
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    let audience = audience(setting, written(written_before), &after);
    assert_eq!(describe(&messages::message_effects(&change, &audience)), expected);
}

/// Columns: the services that recover, of three affected ones; settings of the channel; effects.
#[rstest]
#[case::one(&[1], Setting::only(&[NotificationEvent::IncidentServiceRecovered]), &["release", "incident.service_recovered -1"])]
#[case::two(&[1, 2], Setting::only(&[NotificationEvent::IncidentServiceRecovered]), &["release", "incident.service_recovered -2"])]
#[case::the_last(&[1, 2, 3], Setting::only(&[NotificationEvent::IncidentServiceRecovered]), &[])]
#[case::not_chosen(&[1], Setting::default(), &[])]
fn partial_recoveries_are_sent_to_channels_that_chose_them(
    #[case] recovered: &[i64],
    #[case] setting: Setting,
    #[case] expected: &[&str],
) {
    let before = with_services(incident(MINOR), &[1, 2, 3]);
    let mut after = before.clone();
    for affected in after.services.iter_mut().filter(|affected| recovered.contains(&affected.service)) {
        affected.recovered_at = Some(at(999));
    }
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    let audience = audience(setting, written(&["incident.opened 100"]), &after);
    assert_eq!(describe(&recovery_effects(&change, &audience)), expected);
}

/// Columns: minimum severity of each policy, in order; number of the policy followed before; severity of the incident
/// before and after the change; number of the policy that the incident enters.
#[rstest]
#[case::the_first_that_matches(&[CRITICAL, MINOR], None, (None, MINOR), Some(2))]
#[case::none_matches(&[CRITICAL], None, (None, MINOR), None)]
#[case::an_earlier_one(&[CRITICAL, MINOR], Some(2), (Some(MINOR), CRITICAL), Some(1))]
#[case::stays(&[CRITICAL, MINOR], Some(2), (Some(MINOR), MAJOR), None)]
#[case::does_not_go_down(&[CRITICAL, MINOR], Some(1), (Some(CRITICAL), MINOR), None)]
#[case::its_policy_is_gone(&[MINOR], None, (Some(MINOR), MAJOR), Some(1))]
fn an_incident_follows_a_policy(
    #[case] policies: &[Severity],
    #[case] followed: Option<i64>,
    #[case] (before, after): (Option<Severity>, Severity),
    #[case] entered: Option<i64>,
) {
    let before = before.map(incident);
    let after = incident(after);
    let change = IncidentTransition { before: before.as_ref(), after: &after, leaving: None, at: at(1_000) };
    let audience = IncidentAudience {
        policies: (1..).zip(policies).map(|(index, least)| policy(index, *least)).collect(),
        followed: followed.map(|policy| FollowedPolicy { policy }),
        ..audience(Setting::off(), Vec::new(), &after)
    };
    let started = match escalation_effect(&change, &audience) {
        Some(LifecycleEffect::StartEscalation(start)) => Some(start),
        _ => None,
    };
    assert_eq!(started.map(|start| start.policy), entered);
    assert!(started.is_none_or(|start| start.progress.due_at == Some(at(1_000))));
}

#[test]
fn a_batched_message_is_held_for_its_own_reason() {
    let after = with_services(incident(MINOR), &[1, 2]);
    let audience = audience(Setting::default(), written(&["incident.service_joined 990"]), &after);
    let hold =
        batch::batch_hold(NotificationEvent::IncidentServiceJoined, &audience.channels[0], None, at(1_000));
    assert_eq!(hold.map(|hold| (hold.by, hold.until)), Some((HoldReason::Batch, at(1_020))));
}
