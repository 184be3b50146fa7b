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

/// One consequence of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleEffect {
    /// Write a message into the outbox.
    Enqueue(Box<QueuedMessage>),
    /// Replace the contents of a held message.
    ReplaceMessage(Box<MessageReplacement>),
    /// Release the held messages in one line of a channel about a subject.
    Release(HeldMessages),
    /// Hold messages until another time, or for another reason.
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
    /// Store how far an incident has come in its policy.
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
    /// The line of the channel in which it waits for earlier messages.
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

/// The messages about one subject in one line of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMessages {
    /// Database key of the channel.
    pub channel: i64,
    /// The line of ordered messages.
    pub line: OrderingScope,
    /// Id of what the messages are about.
    pub subject: Id,
}

/// Held messages that must not be sent any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRetraction {
    /// Steps of an escalation of this incident that are held beyond now.
    HeldSteps(Id),
    /// The step of an escalation that waits for the end of the quiet hours of a contact.
    HeldStepOf {
        /// Database key of the channel.
        channel: i64,
        /// Database key of the contact; `None` = all readers of the channel.
        contact: Option<i64>,
        /// Public id of the incident.
        incident: Id,
    },
    /// Everything about a subject of an organisation, because the subject is deleted.
    Subject {
        /// Database key of the organisation.
        organisation: i64,
        /// Public id of the deleted subject.
        subject: Id,
    },
}

/// The start of an escalation policy for an incident.
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

/// A step of an escalation was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscalationAdvance {
    /// Database key of the incident.
    pub incident: i64,
    /// The progress to store.
    pub progress: EscalationProgress,
}

/// Something became of an incident or a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedAction {
    /// Incident or maintenance.
    pub kind: EventSubjectKind,
    /// Database key of the subject.
    pub key: i64,
    /// The action to publish.
    pub act: EventAction,
    /// Services that it concerned until now and no longer concerns.
    pub former: Vec<ServiceKey>,
}

impl LifecycleEffect {
    /// The effect that publishes an action on an incident.
    #[must_use]
    pub const fn publish_incident(key: i64, act: EventAction, former: Vec<ServiceKey>) -> Self {
        Self::Publish(PublishedAction { kind: EventSubjectKind::Incident, key, act, former })
    }

    /// Returns true for a message that may be sent at once.
    #[must_use]
    pub fn leaves_now(&self) -> bool {
        matches!(self, Self::Enqueue(outgoing) if outgoing.delivery.hold.is_none())
    }
}

/// Effects of a new message: one that a channel sends now releases the held ones before it; one that is held waits
/// behind them.
#[must_use]
pub fn enqueue(outgoing: QueuedMessage, subject: Id) -> Vec<LifecycleEffect> {
    let held = HeldMessages { channel: outgoing.delivery.channel, line: outgoing.line, subject };
    let release = outgoing.delivery.hold.is_none().then_some(LifecycleEffect::Release(held));
    release.into_iter().chain([LifecycleEffect::Enqueue(Box::new(outgoing))]).collect()
}
