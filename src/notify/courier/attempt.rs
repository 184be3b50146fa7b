//! The courier's dependencies, and one attempt to send a delivery to its channel.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::id::Id;
use crate::model::notification::delivery::{
    Delivery, DeliveryAttempt, DeliveryOutcome, FailedDelivery, next_try,
};
use crate::model::notification::fair_share::DueMessage;
use crate::model::notification::{ChannelKind, NotificationChannel, NotificationEvent};
use crate::model::secret::SecretSealer;
use crate::notify::carrier::{MessageSender, SendReport};
use crate::notify::circuit_breaker::TryPass;
use crate::notify::counters::NotifyCounters;
use crate::notify::kinds::{MessageEnvelope, OpenSettings, definition};
use crate::notify::message_hold::MessageHold;
use crate::notify::sealed::ChannelVault;
use crate::store::Databases;
use crate::store::notifications::courier::TryRecord;

/// The courier, which delivers messages, with its dependencies.
#[derive(Clone, Debug)]
pub struct Courier {
    /// The databases; the main one holds the outbox.
    pub databases: Databases,
    /// Sends a message over its channel.
    pub carrier: MessageSender,
    /// Opens the secrets of channels.
    pub sealer: SecretSealer,
    /// Guard of the wall clock: while the clock is not trusted, no message expires.
    pub guard: Arc<ClockGuard>,
    /// The hold after a restore: while it is active, no message is sent and none expires.
    pub hold: MessageHold,
    /// Counters of deliveries, for `/metrics`.
    pub counters: Arc<NotifyCounters>,
}

/// An attempt that is about to start.
pub(super) struct PlannedTry {
    pub(super) message: DueMessage,
    pub(super) delivery: Delivery,
    pub(super) channel: NotificationChannel,
    /// The id of the channel's organisation; the secrets are bound to it.
    pub(super) organisation: Option<Id>,
    /// The address of the contact that receives the message; `None` = the channel's own recipients, or a deleted contact.
    pub(super) recipient: Option<String>,
    /// True if a later message about the same subject has been delivered, so that this one is given up.
    pub(super) is_overtaken: bool,
    pub(super) pass: TryPass,
}

pub(super) struct FinishedTry {
    pub(super) message: DueMessage,
    pub(super) pass: TryPass,
    pub(super) kind: ChannelKind,
    pub(super) carried: SendReport,
    delivery: Delivery,
    began_at: Timestamp,
    took: Duration,
}

impl Courier {
    pub(super) fn attempt(&self, planned: PlannedTry) -> LocalBoxFuture<'_, FinishedTry> {
        Box::pin(async move {
            let PlannedTry { message, delivery, channel, organisation, recipient, is_overtaken, pass } =
                planned;
            let began_at = self.guard.now();
            let began = Instant::now();
            let carried = match self.open(&channel, organisation) {
                _ if is_overtaken => {
                    SendReport::given_up("A later message about the same subject has been delivered")
                }
                _ if delivery.contact.is_some() && recipient.is_none() => {
                    SendReport::given_up("The contact has been deleted")
                }
                None => {
                    SendReport::given_up("The secrets of the channel cannot be opened with the present key")
                }
                Some(settings) => {
                    let envelope = MessageEnvelope {
                        id: &delivery.id,
                        at_seconds: began_at.ms() / 1_000,
                        message: &delivery.message,
                        settings: &settings,
                        recipient: recipient.as_deref(),
                    };
                    self.carrier.carry(definition(channel.kind), &envelope).await
                }
            };
            if let Some(flaw) = &carried.template_flaw {
                self.report_template(&channel, flaw).await;
            }
            let took = began.elapsed();
            FinishedTry { message, pass, kind: channel.kind, carried, delivery, began_at, took }
        })
    }

    fn open(&self, channel: &NotificationChannel, organisation: Option<Id>) -> Option<OpenSettings> {
        let vault = ChannelVault { sealer: &self.sealer, organisation: organisation?, channel: channel.id };
        vault.open_all(definition(channel.kind), channel).ok()
    }

    /// Returns the record of an attempt for the database.
    pub(super) fn ended(&self, done: &FinishedTry, now: Timestamp) -> TryRecord {
        let FinishedTry { message, delivery, began_at, took, carried, .. } = done;
        let number = delivery.tries + 1;
        let attempt = DeliveryAttempt {
            number,
            at: *began_at,
            took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            outcome: carried.outcome,
            status_code: carried.status_code,
            detail: carried.detail.clone(),
        };
        let is_unconfirmed = carried.outcome == DeliveryOutcome::Unconfirmed;
        let retry_after = carried.retry_after;
        let failed = FailedDelivery { number, at: now, retry_after, is_unconfirmed, jitter: chance() };
        let is_doubted = self.guard.trusted_now().is_none();
        // While the time is not trusted nothing is given up.
        let expires_at = if is_doubted { now.plus_ms(i64::from(u32::MAX)) } else { delivery.expires_at };
        let next_at = match carried.outcome {
            DeliveryOutcome::Failed | DeliveryOutcome::Unconfirmed => next_try(failed, expires_at),
            DeliveryOutcome::Delivered | DeliveryOutcome::Refused => None,
        };
        TryRecord {
            delivery: delivery.key,
            channel: delivery.channel,
            subject: message.subject.clone(),
            line: message.line,
            is_digest: delivery.message.event == NotificationEvent::Digest,
            attempt,
            next_at,
            at: now,
        }
    }
}

/// Returns a random number from 0 to 1, for the jitter of waits.
#[must_use]
pub fn chance() -> f64 {
    let mut byte = [0];
    // Without randomness all waits have the same length.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}
