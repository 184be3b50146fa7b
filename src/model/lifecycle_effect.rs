//! Effects of a change of an incident, a maintenance or a notice, as data.
//!
//! The pure functions of `incident_effects`, `maintenance_effects` and `notice_effects` return these effects;
//! `lifecycle` carries them out in the transaction of the change.

use crate::id::Id;
use crate::model::escalation::EscalationProgress;
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::DeliveryHold;
use crate::model::notification::message::NotificationMessage;
use crate::model::notification::ordering_scope::OrderingScope;
use crate::model::service::ServiceKey;
use crate::model::subscriber_fact::SubscriberFact;

/// One effect of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleEffect {
    /// Write a message into the outbox.
    Enqueue(Box<QueuedMessage>),
    /// Replace the contents of a held message.
    ReplaceMessage(Box<MessageReplacement>),
    /// Release the held messages about a subject in one ordering scope of a channel.
    Release(HeldMessages),
    /// Replace the hold of messages, by another time or another reason.
    Rehold {
        /// Database keys of the deliveries.
        deliveries: Vec<i64>,
        /// The hold that replaces the present one.
        hold: DeliveryHold,
    },
    /// Delete messages that are held and were never tried.
    Retract(MessageRetraction),
    /// Write a fact for the subscribers of status pages.
    SubscriberFact(Box<SubscriberFact>),
    /// Make an incident follow an escalation policy, from the first step on, instead of its present one.
    StartEscalation(EscalationStart),
    /// Store the progress of an incident in its escalation policy.
    AdvanceEscalation(EscalationAdvance),
    /// Stop the escalation of the incident with this key, if there is one.
    EndEscalation(i64),
    /// Publish an event to the subscribers of the organisation.
    Publish(PublishedAction),
}

/// A message to be queued for a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMessage {
    /// The message as it is stored; its `key` is 0.
    pub delivery: Delivery,
    /// The ordering scope of the channel, in which the message waits for earlier messages.
    pub line: OrderingScope,
}

/// New contents of a held message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReplacement {
    /// Database key of the delivery.
    pub delivery: i64,
    /// The contents to store.
    pub message: NotificationMessage,
}

/// The held messages about one subject in one ordering scope of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMessages {
    /// Database key of the channel.
    pub channel: i64,
    /// The ordering scope, in which messages are sent one after the other.
    pub line: OrderingScope,
    /// Public id of the subject of the messages, for example an incident.
    pub subject: Id,
}

/// Held messages that must no longer be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRetraction {
    /// Messages about escalation steps of the incident with this public id that are held beyond the present time.
    HeldSteps(Id),
    /// The message about an escalation step that waits for the end of quiet hours.
    HeldStepOf {
        /// Database key of the channel.
        channel: i64,
        /// Database key of the contact; `None` = all readers of the channel.
        contact: Option<i64>,
        /// Public id of the incident.
        incident: Id,
    },
    /// All messages about a subject of an organisation, because the subject is deleted.
    Subject {
        /// Database key of the organisation.
        organisation: i64,
        /// Public id of the deleted subject.
        subject: Id,
    },
}

/// The start of the escalation of an incident by a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalationStart {
    /// Database key of the incident.
    pub incident: i64,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the policy.
    pub policy: i64,
    /// The progress at the start.
    pub progress: EscalationProgress,
}

/// The progress of an escalation after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalationAdvance {
    /// Database key of the incident.
    pub incident: i64,
    /// The progress to store.
    pub progress: EscalationProgress,
}

/// An action on an incident or a maintenance, to be published as an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedAction {
    /// Kind of the subject: incident or maintenance.
    pub kind: EventSubjectKind,
    /// Database key of the subject.
    pub key: i64,
    /// The action to publish.
    pub act: EventAction,
    /// Services that the subject concerned before and no longer concerns.
    pub former: Vec<ServiceKey>,
}

impl LifecycleEffect {
    /// The effect that publishes an action on an incident.
    #[must_use]
    pub const fn publish_incident(key: i64, act: EventAction, former: Vec<ServiceKey>) -> Self {
        Self::Publish(PublishedAction { kind: EventSubjectKind::Incident, key, act, former })
    }

    /// Returns true if the effect queues a message without a hold.
    #[must_use]
    pub fn leaves_now(&self) -> bool {
        matches!(self, Self::Enqueue(outgoing) if outgoing.delivery.hold.is_none())
    }
}

/// Returns the effects of a new message. A message without a hold also releases the held messages about the subject
/// that come before it; a held message waits behind them.
#[must_use]
pub fn enqueue(outgoing: QueuedMessage, subject: Id) -> Vec<LifecycleEffect> {
    let held = HeldMessages { channel: outgoing.delivery.channel, line: outgoing.line, subject };
    let release = outgoing.delivery.hold.is_none().then_some(LifecycleEffect::Release(held));
    release.into_iter().chain([LifecycleEffect::Enqueue(Box::new(outgoing))]).collect()
}
