//! What the courier is made of, and one try: the message of a delivery carried to its channel, and what comes of it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::id::Id;
use crate::model::notification::delivery::{Delivery, FailedTry, Try, TryOutcome, next_try};
use crate::model::notification::line::Line;
use crate::model::notification::{Channel, ChannelKind, Event};
use crate::model::secret::Sealer;
use crate::notify::carrier::{Carried, Carrier};
use crate::notify::counters::NotifyCounters;
use crate::notify::kinds::{Envelope, OpenSettings, definition};
use crate::notify::sealed::ChannelVault;
use crate::store::Databases;
use crate::store::notifications::courier::Ended;

/// The parts of the courier.
#[derive(Clone, Debug)]
pub struct Courier {
    /// The main database holds the outbox.
    pub databases: Databases,
    /// The way out.
    pub carrier: Carrier,
    /// Opens the secrets of channels.
    pub sealer: Sealer,
    /// While the wall clock is doubted nothing is given up.
    pub guard: Arc<ClockGuard>,
    /// Its numbers.
    pub counters: Arc<NotifyCounters>,
}

/// A try that has ended.
pub(super) struct Done {
    pub(super) delivery: Delivery,
    pub(super) kind: ChannelKind,
    pub(super) line: Line,
    began_at: Timestamp,
    took: Duration,
    pub(super) carried: Carried,
}

impl Courier {
    /// One try.
    pub(super) fn attempt(
        &self,
        delivery: Delivery,
        channel: Channel,
        (organisation, recipient): (Option<Id>, Option<String>),
    ) -> LocalBoxFuture<'_, Done> {
        Box::pin(async move {
            let began_at = self.guard.now();
            let began = Instant::now();
            let carried = match self.open(&channel, organisation) {
                _ if delivery.contact.is_some() && recipient.is_none() => {
                    Carried::given_up("The contact has been deleted")
                }
                _ if !channel.is_enabled => Carried::given_up("The channel is switched off"),
                None => Carried::given_up("The secrets of the channel cannot be opened with the present key"),
                Some(settings) => {
                    let envelope = Envelope {
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
            let line = channel.line(delivery.contact);
            Done { delivery, kind: channel.kind, line, began_at, took: began.elapsed(), carried }
        })
    }

    /// Returns true if the message is given up by its age.
    pub(super) fn is_expired(&self, delivery: &Delivery, now: Timestamp) -> bool {
        self.guard.trusted_now().is_some() && delivery.expires_at <= now
    }

    fn open(&self, channel: &Channel, organisation: Option<Id>) -> Option<OpenSettings> {
        let vault = ChannelVault { sealer: &self.sealer, organisation: organisation?, channel: channel.id };
        vault.open_all(definition(channel.kind), channel).ok()
    }

    pub(super) fn ended(&self, done: &Done, now: Timestamp) -> Ended {
        let Done { delivery, line, began_at, took, carried, .. } = done;
        let number = delivery.tries + 1;
        let attempt = Try {
            number,
            at: *began_at,
            took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            outcome: carried.outcome,
            status_code: carried.status_code,
            detail: carried.detail.clone(),
        };
        let failed = FailedTry { number, at: now, retry_after: carried.retry_after, jitter: chance() };
        let is_doubted = self.guard.trusted_now().is_none();
        // While the time is doubted nothing is given up.
        let expires_at = if is_doubted { now.plus_ms(i64::from(u32::MAX)) } else { delivery.expires_at };
        let next_at = match carried.outcome {
            TryOutcome::Failed => next_try(failed, expires_at),
            TryOutcome::Delivered | TryOutcome::Refused => None,
        };
        Ended {
            delivery: delivery.key,
            channel: delivery.channel,
            subject: delivery.message.subject_id().to_owned(),
            line: *line,
            is_digest: delivery.message.event == Event::Digest,
            attempt,
            next_at,
            at: now,
        }
    }
}

/// A number of 0..1 by chance.
fn chance() -> f64 {
    let mut byte = [0];
    // Without randomness all wait equally long.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}
