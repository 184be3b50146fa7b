//! Effects when a notice starts, becomes worse or ends: messages for channels.

use crate::clock::Timestamp;
use crate::model::incident_effects::audience::ChannelAudience;
use crate::model::lifecycle_effect::{LifecycleEffect, QueuedMessage, enqueue};
use crate::model::notice::Notice;
use crate::model::notification::delivery::{Delivery, DeliveryTarget};
use crate::model::notification::routing::{NotificationTrigger, RoutingKeys};

/// Possible recipients of a notice.
#[derive(Clone, Debug)]
pub struct NoticeAudience {
    /// The name of the organisation.
    pub organisation: String,
    /// All channels, each with the messages about this notice that were written for it.
    pub channels: Vec<ChannelAudience>,
    /// The service of the notice and its tags.
    pub concerned: RoutingKeys,
}

/// The messages about a notice in its present state. Only channels that were notified of the start are notified of the end.
#[must_use]
pub fn notice_effects(notice: &Notice, audience: &NoticeAudience, at: Timestamp) -> Vec<LifecycleEffect> {
    let (event, severity) = (notice.trouble.subject.event, notice.trouble.severity);
    let occasion = NotificationTrigger { event, severity, concerned: audience.concerned.clone() };
    let mut effects = Vec::new();
    for channel_audience in &audience.channels {
        let was_notified = channel_audience.was_notified();
        let is_noteworthy = was_notified || notice.ended_at.is_none();
        // A channel that was disabled in the meantime gets the end if it is enabled again within a day.
        let is_reached = channel_audience.channel.is_enabled || (was_notified && notice.ended_at.is_some());
        if !is_reached
            || !is_noteworthy
            || !channel_audience.channel.routing.accepts_notice(&occasion, was_notified)
        {
            continue;
        }
        let message = notice.message(audience.organisation.clone(), at);
        let channel = &channel_audience.channel;
        let target = DeliveryTarget {
            organisation: channel.organisation,
            channel: channel.key,
            contact: None,
            hold: channel_audience.hold(&message, at),
        };
        let delivery = Delivery::written(message, target, at);
        effects.extend(enqueue(QueuedMessage { delivery, line: channel.line(None) }, notice.id));
    }
    effects
}
