//! Holds of messages: while quiet hours of the channel or the contact last, or until a digest is sent.
//!
//! When these settings change, messages that are held under the new settings too stay held. All others become due at once.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::{DeliveryHold, HoldReason, RecentMessages, WINDOW_MS};
use crate::model::notification::message::NotificationMessage;
use crate::model::notification::quiet_hours::QuietHours;
use crate::model::notification::routing::ChannelRouting;

/// The hold of a new message for all readers of a channel; `None` if the message may be sent at once. An escalation step is
/// never held.
#[must_use]
pub fn channel_hold(
    routing: &ChannelRouting,
    message: &NotificationMessage,
    recent: RecentMessages,
    now: Timestamp,
) -> Option<DeliveryHold> {
    let severity = message.severity().filter(|_| message.event != NotificationEvent::IncidentEscalated)?;
    if let Some(hold) = quiet_hold(routing.quiet.as_ref(), severity, now) {
        return Some(hold);
    }
    routing.digest_above.filter(|_| recent.are_many)?;
    let until = recent.digest_at.unwrap_or_else(|| now.plus_ms(WINDOW_MS));
    Some(DeliveryHold { until, by: HoldReason::Digest })
}

/// The hold of a new message for a contact; `None` if the message may be sent at once.
#[must_use]
pub fn contact_hold(contact: &Contact, severity: Severity, now: Timestamp) -> Option<DeliveryHold> {
    quiet_hold(contact.quiet.as_ref(), severity, now)
}

/// Returns the new hold of a held message after the settings of its channel were changed.
#[must_use]
pub fn hold_by_channel(
    delivery: &Delivery,
    routing: &ChannelRouting,
    now: Timestamp,
) -> Option<DeliveryHold> {
    let held = delivery.hold?;
    let is_step = delivery.message.event == NotificationEvent::IncidentEscalated;
    let quiet = routing.quiet.as_ref().filter(|_| !is_step);
    if let Some(hold) = quiet_hold(quiet, delivery.message.severity()?, now) {
        return Some(hold);
    }
    Some(match held.by {
        HoldReason::Digest if routing.digest_above.is_some() => held,
        HoldReason::Batch => held,
        HoldReason::QuietHours | HoldReason::Digest => ended(held, now),
    })
}

/// Returns the new hold of a held message after the quiet hours of its contact were changed.
#[must_use]
pub fn hold_by_contact(delivery: &Delivery, contact: &Contact, now: Timestamp) -> Option<DeliveryHold> {
    let held = delivery.hold?;
    let severity = delivery.message.severity()?;
    let hold = contact_hold(contact, severity, now);
    Some(hold.unwrap_or_else(|| if held.by == HoldReason::Batch { held } else { ended(held, now) }))
}

/// The keys of the messages whose hold changes, grouped by their new hold. There are few different holds, even for many
/// messages.
#[must_use]
pub fn changed_holds(
    deliveries: &[Delivery],
    hold_of: impl Fn(&Delivery) -> Option<DeliveryHold>,
) -> Vec<(DeliveryHold, Vec<i64>)> {
    let mut changed: BTreeMap<(Timestamp, &str), (DeliveryHold, Vec<i64>)> = BTreeMap::new();
    for delivery in deliveries {
        let Some(hold) = hold_of(delivery).filter(|hold| Some(*hold) != delivery.hold) else { continue };
        changed.entry((hold.until, hold.by.as_str())).or_insert((hold, Vec::new())).1.push(delivery.key);
    }
    changed.into_values().collect()
}

fn quiet_hold(quiet: Option<&QuietHours>, severity: Severity, now: Timestamp) -> Option<DeliveryHold> {
    let until = quiet?.held_until(severity, now)?;
    Some(DeliveryHold { until, by: HoldReason::QuietHours })
}

/// The same hold, ended at `now` at the latest. Its reason stays, so that a digest may still include the message.
fn ended(held: DeliveryHold, now: Timestamp) -> DeliveryHold {
    DeliveryHold { until: held.until.min(now), ..held }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::notification::delivery::DeliveryTarget;
    use crate::model::notification::message::{MessageSubject, NoticeFacts};

    /// A Friday, at 22:30 UTC.
    const NOW_MS: i64 = 1_763_764_200_000;
    const HOUR_MS: i64 = 3_600_000;

    fn hours(until: Option<u8>) -> Option<QuietHours> {
        let hours = format!("mon,tue,wed,thu,fri,sat,sun 20:00-{}:00", until?).parse().unwrap();
        Some(QuietHours { hours, zone: "UTC".parse().unwrap(), except_from: Severity::Critical })
    }

    fn held(by: HoldReason, severity: Severity) -> Delivery {
        let id = "rNSJxMbDTX2uHc08AiCqo".to_owned();
        let facts = NoticeFacts { id, title: String::new(), text: String::new(), severity, is_over: false };
        let subject = MessageSubject::Notice(facts);
        let message = NotificationMessage {
            event: NotificationEvent::SlaBurning,
            at: NOW_MS,
            organisation: String::new(),
            subject,
        };
        let hold = Some(DeliveryHold { until: Timestamp::from_ms(NOW_MS + HOUR_MS), by });
        let target = DeliveryTarget { organisation: 1, channel: 1, contact: None, hold };
        Delivery::written(message, target, Timestamp::from_ms(NOW_MS))
    }

    /// Cases: why the message is held for an hour, its severity, the hour at which the new quiet hours end (`None` = no
    /// quiet hours) and whether the channel still has digests; minutes until the message is sent, and the new reason.
    #[rstest]
    #[case::the_same_hours(HoldReason::QuietHours, Severity::Minor, (Some(24), true), (90, HoldReason::QuietHours))]
    #[case::shorter_hours(HoldReason::QuietHours, Severity::Minor, (Some(23), true), (30, HoldReason::QuietHours))]
    #[case::hours_that_are_over(HoldReason::QuietHours, Severity::Minor, (Some(21), true), (0, HoldReason::QuietHours))]
    #[case::no_hours(HoldReason::QuietHours, Severity::Minor, (None, true), (0, HoldReason::QuietHours))]
    #[case::bad_enough(HoldReason::QuietHours, Severity::Critical, (Some(24), true), (0, HoldReason::QuietHours))]
    #[case::a_digest(HoldReason::Digest, Severity::Minor, (None, true), (60, HoldReason::Digest))]
    #[case::a_digest_in_new_hours(HoldReason::Digest, Severity::Minor, (Some(24), true), (90, HoldReason::QuietHours))]
    #[case::no_digest(HoldReason::Digest, Severity::Minor, (None, false), (0, HoldReason::Digest))]
    #[case::a_batch(HoldReason::Batch, Severity::Minor, (None, false), (60, HoldReason::Batch))]
    fn held_messages_follow_changed_channel_settings(
        #[case] by: HoldReason,
        #[case] severity: Severity,
        #[case] (until, has_digest): (Option<u8>, bool),
        #[case] (minutes, expected): (i64, HoldReason),
    ) {
        let digest_above = has_digest.then_some(5);
        let routing = ChannelRouting { quiet: hours(until), digest_above, ..ChannelRouting::default() };
        let now = Timestamp::from_ms(NOW_MS);
        let hold = hold_by_channel(&held(by, severity), &routing, now).unwrap();
        assert_eq!((hold.until.ms_since(now) / 60_000, hold.by), (minutes, expected));
    }

    /// Cases: why the message is held for an hour, the hour at which the new quiet hours of the contact end (`None` = no
    /// quiet hours); minutes until the message is sent, and the new reason.
    #[rstest]
    #[case::shorter_hours(HoldReason::QuietHours, Some(23), (30, HoldReason::QuietHours))]
    #[case::no_hours(HoldReason::QuietHours, None, (0, HoldReason::QuietHours))]
    #[case::a_batch(HoldReason::Batch, None, (60, HoldReason::Batch))]
    #[case::a_batch_in_new_hours(HoldReason::Batch, Some(24), (90, HoldReason::QuietHours))]
    fn held_messages_follow_changed_quiet_hours_of_a_contact(
        #[case] by: HoldReason,
        #[case] until: Option<u8>,
        #[case] (minutes, expected): (i64, HoldReason),
    ) {
        let now = Timestamp::from_ms(NOW_MS);
        let contact = Contact { quiet: hours(until), ..contact() };
        let hold = hold_by_contact(&held(by, Severity::Minor), &contact, now).unwrap();
        assert_eq!((hold.until.ms_since(now) / 60_000, hold.by), (minutes, expected));
    }

    fn contact() -> Contact {
        Contact {
            key: 1,
            id: "rNSJxMbDTX2uHc08AiCqo".parse().unwrap(),
            organisation: 1,
            name: "Anna".into(),
            email: "anna@example.com".into(),
            zone: "UTC".parse().unwrap(),
            language: "en".into(),
            channels: Vec::new(),
            quiet: None,
            created_at: Timestamp::from_ms(NOW_MS),
            updated_at: Timestamp::from_ms(NOW_MS),
        }
    }
}
