//! Batches of messages about services that join an incident or recover from it. The first message is sent at once;
//! services that follow within [`BATCH_MS`] are gathered in one held message, so that a thousand services cause only a
//! few messages.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_effects::audience::ChannelAudience;
use crate::model::incident_effects::recipients::PlannedMessage;
use crate::model::lifecycle_effect::{LifecycleEffect, MessageReplacement, enqueue};
use crate::model::notification::NotificationEvent;
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::digest::{DeliveryHold, HoldReason};
use crate::model::notification::message::{MessageSubject, NotificationMessage, SERVICES_MAX};

/// Minimum time between two messages of one event about one incident for one recipient of a channel, in milliseconds.
const BATCH_MS: i64 = 30_000;

/// Queues a planned message, or adds its contents to a held message of the same event for the same recipient.
pub(super) fn enqueue_batched(
    message: NotificationMessage,
    planned: PlannedMessage<'_>,
    channel_audience: &ChannelAudience,
    subject: Id,
    now: Timestamp,
) -> Vec<LifecycleEffect> {
    if !is_batched(message.event) {
        return enqueue(planned.outgoing(message, now), subject);
    }
    let contact = planned.contact.map(|contact| contact.key);
    if let Some(added) = add_to_batch(&message, channel_audience, contact, now) {
        return vec![added];
    }
    let hold = planned.hold.or_else(|| batch_hold(message.event, channel_audience, contact, now));
    enqueue(PlannedMessage { hold, ..planned }.outgoing(message, now), subject)
}

/// Returns true for an event whose messages are gathered in batches.
const fn is_batched(event: NotificationEvent) -> bool {
    matches!(event, NotificationEvent::IncidentServiceJoined | NotificationEvent::IncidentServiceRecovered)
}

/// The effect that adds the contents of this message to a held message; `None` if no such held message exists.
fn add_to_batch(
    message: &NotificationMessage,
    channel_audience: &ChannelAudience,
    contact: Option<i64>,
    now: Timestamp,
) -> Option<LifecycleEffect> {
    let key = channel_audience.open_batch(message.event, contact, now)?;
    let batch = channel_audience.batches.iter().find(|batch| batch.key == key)?;
    let message = message.clone().with_change(merge(change_of(&batch.message)?, change_of(message)?));
    Some(LifecycleEffect::ReplaceMessage(Box::new(MessageReplacement { delivery: key, message })))
}

/// The hold of a new message of the event, by the time of the last message; `None` = no hold is needed.
pub(super) fn batch_hold(
    event: NotificationEvent,
    channel_audience: &ChannelAudience,
    contact: Option<i64>,
    now: Timestamp,
) -> Option<DeliveryHold> {
    let last = channel_audience.newest_of(event, contact)?;
    let batched = last.hold.filter(|hold| hold.by == HoldReason::Batch);
    let next = batched.map_or(last.created_at, |hold| hold.until).plus_ms(BATCH_MS);
    // A clock that was ahead must not prolong a hold.
    let is_soon = next > now && next.ms_since(now) <= 2 * BATCH_MS;
    is_soon.then_some(DeliveryHold { until: next, by: HoldReason::Batch })
}

const fn change_of(message: &NotificationMessage) -> Option<&IncidentChange> {
    match &message.subject {
        MessageSubject::Incident(facts) => Some(&facts.change),
        _ => None,
    }
}

fn merge(earlier: &IncidentChange, later: &IncidentChange) -> IncidentChange {
    IncidentChange {
        joined: merge_groups(earlier.joined.as_ref(), later.joined.as_ref()),
        recovered: merge_groups(earlier.recovered.as_ref(), later.recovered.as_ref()),
        previous_severity: earlier.previous_severity.or(later.previous_severity),
    }
}

/// Merges both groups. A service that both groups name is counted once; at most `SERVICES_MAX` services are named.
fn merge_groups(earlier: Option<&ServiceGroup>, later: Option<&ServiceGroup>) -> Option<ServiceGroup> {
    let (Some(earlier), Some(later)) = (earlier, later) else { return earlier.or(later).cloned() };
    let mut merged = earlier.clone();
    merged.count += later.count;
    for service in &later.services {
        if earlier.services.iter().any(|known| known.id == service.id) {
            merged.count -= 1;
        } else if merged.services.len() < SERVICES_MAX {
            merged.services.push(service.clone());
        }
    }
    Some(merged)
}
