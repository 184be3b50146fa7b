//! Messages about a change of an incident for contacts that a step of an escalation notified of it.

use rstest::rstest;

use super::*;
use crate::model::incident_effects::messages::message_effects;
use crate::model::incident_effects::tests::world::contact;
use crate::model::notification::ChannelKind;

const QUIET: bool = true;

/// Settings of a channel that is used by contacts and itself gets no message about joined services or severity.
fn by_name() -> Setting {
    Setting::only(&[NotificationEvent::IncidentAcknowledged])
}

/// The effects for a channel that is read by contact 5, who may be in quiet hours, and by contact 6, who has no quiet
/// hours.
fn follow(
    change: &IncidentTransition<'_>,
    kind: ChannelKind,
    (setting, is_quiet): (Setting, bool),
    written_before: &[&str],
) -> Vec<String> {
    let mut audience = audience(setting, written(written_before), change.after);
    audience.channels[0].channel.kind = kind;
    audience.contacts = vec![contact(5, is_quiet), contact(6, false)];
    describe(&message_effects(change, &audience))
}

/// Columns: state before, state after the change at second 1,000, settings of the channel and whether contact 5 is in
/// quiet hours, messages written before, effects.
#[rstest]
// A service joins.
#[case::joined(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET), &["incident.escalated@5 100"],
    &["release", "incident.service_joined@5 +1"])]
#[case::joined_soon_after_another(state(MINOR, &[1, 2]), state(MINOR, &[1, 2, 3]), (by_name(), !QUIET),
    &["incident.escalated@5 100", "incident.service_joined@5 990"],
    &["incident.service_joined@5 +1 until batch 1020"])]
#[case::joined_a_held_message(state(MINOR, &[1, 2]), state(MINOR, &[1, 2, 3, 4]), (by_name(), !QUIET),
    &["incident.escalated@5 100", "incident.service_joined@5 995 batch 1020"], &["replace 2 +3"])]
#[case::joined_in_quiet_hours(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), QUIET),
    &["incident.escalated@5 100 quiet_hours 9000"], &["incident.service_joined@5 +1 until quiet_hours"])]
#[case::joined_in_quiet_hours_on_duty(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), QUIET),
    &["incident.escalated@5 100"], &["release", "incident.service_joined@5 +1"])]
#[case::the_channel_is_notified(state(MINOR, &[1]), state(MINOR, &[1, 2]), (Setting::default(), !QUIET),
    &["incident.opened 100", "incident.escalated@5 100"], &["release", "incident.service_joined +1"])]
#[case::notified_together(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET), &["incident.escalated 100"],
    &["release", "incident.service_joined +1"])]
#[case::joined_a_shared_message(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET),
    &["incident.escalated 100", "incident.service_joined 995 batch 1020"], &["replace 2 +2"])]
#[case::the_channel_is_off(state(MINOR, &[1]), state(MINOR, &[1, 2]), (Setting::off(), !QUIET),
    &["incident.escalated@5 100"], &[])]
#[case::notified_of_the_end(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET),
    &["incident.escalated@5 100", "incident.resolved@5 200"], &[])]
#[case::notified_after_the_end(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET),
    &["incident.resolved@5 100", "incident.escalated@5 200"], &["release", "incident.service_joined@5 +1"])]
#[case::nobody_was_notified(state(MINOR, &[1]), state(MINOR, &[1, 2]), (by_name(), !QUIET), &[], &[])]
#[case::nothing_joined(state(MINOR, &[1]), state(MINOR, &[1]), (by_name(), !QUIET), &["incident.escalated@5 100"], &[])]
// The incident gets worse.
#[case::worse(state(MINOR, &[1]), state(MAJOR, &[1]), (by_name(), !QUIET), &["incident.escalated@5 100"],
    &["release", "incident.worsened@5 was minor"])]
#[case::worse_and_joined(state(MINOR, &[1]), state(MAJOR, &[1, 2]), (by_name(), !QUIET), &["incident.escalated@5 100"],
    &["release", "incident.worsened@5 +1 was minor"])]
#[case::no_worse_than_notified(state(MINOR, &[1]), state(MAJOR, &[1]), (by_name().notified_severity(CRITICAL), !QUIET),
    &["incident.escalated@5 100"], &[])]
#[case::no_worse_and_joined(state(MINOR, &[1]), state(MAJOR, &[1, 2]), (by_name().notified_severity(CRITICAL), !QUIET),
    &["incident.escalated@5 100"], &["release", "incident.service_joined@5 +1 was minor"])]
#[case::not_bad_enough_to_wake(state(MINOR, &[1]), state(MAJOR, &[1]), (by_name(), QUIET),
    &["incident.escalated@5 100 quiet_hours 9000"], &["incident.worsened@5 was minor until quiet_hours"])]
#[case::ends_quiet_hours(state(MINOR, &[1]), state(CRITICAL, &[1]), (by_name(), QUIET),
    &["incident.escalated@5 100 quiet_hours 9000"], &["release", "release", "incident.worsened@5 was minor"])]
fn contacts_are_notified_of_joined_services_and_raised_severity(
    #[case] before: State<'_>,
    #[case] after: State<'_>,
    #[case] channel: (Setting, bool),
    #[case] written_before: &[&str],
    #[case] expected: &[&str],
) {
    let before = with_services(incident(before.0), before.1);
    let after = with_services(incident(after.0), after.1);
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    assert_eq!(follow(&change, ChannelKind::Webhook, channel, written_before), expected);
}

/// In a channel with a mailbox for each contact, contacts have their own messages and batches, independent of those of
/// the channel.
#[test]
fn contacts_with_mailboxes_get_their_own_messages() {
    let before = with_services(incident(MINOR), &[1, 2]);
    let after = with_services(incident(MINOR), &[1, 2, 3]);
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    let written = [
        "incident.opened 90",
        "incident.escalated@5 100",
        "incident.escalated@6 100",
        "incident.service_joined@6 990",
    ];
    let expected = [
        "release",
        "incident.service_joined +1",
        "release",
        "incident.service_joined@5 +1",
        "incident.service_joined@6 +1 until batch 1020",
    ];
    assert_eq!(follow(&change, ChannelKind::Email, (Setting::default(), !QUIET), &written), expected);
}

/// A relapse causes no message to contacts, because they are not notified of recoveries.
#[test]
fn contacts_are_not_notified_of_a_relapse() {
    let mut before = with_services(incident(MINOR), &[1, 2]);
    before.services[0].recovered_at = Some(at(900));
    let after = with_services(incident(MINOR), &[1, 2]);
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    let effects = follow(&change, ChannelKind::Webhook, (by_name(), !QUIET), &["incident.escalated@5 100"]);
    assert_eq!(effects, [""; 0]);
}

/// A contact that was notified of an incident is notified of its end. A step that is still held at the end is retracted.
#[rstest]
#[case::notified(&["incident.escalated@5 100"], &["retract steps", "release", "incident.resolved@5"])]
#[case::not_notified(&[], &["retract steps"])]
#[case::the_step_is_held(&["incident.escalated@5 100 quiet_hours 9000"], &["retract steps"])]
#[case::its_quiet_hours_end_now(&["incident.escalated@5 100 quiet_hours 1000"],
    &["retract steps", "incident.resolved@5 until quiet_hours"])]
#[case::notified_before_a_held_step(&["incident.escalated@5 100", "incident.escalated@5 200 quiet_hours 9000"],
    &["retract steps", "incident.resolved@5 until quiet_hours"])]
#[case::a_join_follows_the_held_step(
    &["incident.escalated@5 100 quiet_hours 9000", "incident.service_joined@5 200 quiet_hours 9000"],
    &["retract steps", "incident.resolved@5 until quiet_hours"])]
fn the_resolution_is_sent_to_contacts_that_got_the_start(
    #[case] written_before: &[&str],
    #[case] expected: &[&str],
) {
    let (before, after) = resolution();
    let change = IncidentTransition { before: Some(&before), after: &after, leaving: None, at: at(1_000) };
    assert_eq!(follow(&change, ChannelKind::Webhook, (by_name(), QUIET), written_before), expected);
}
