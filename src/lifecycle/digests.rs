//! Digests: the messages that wait for a digest of a channel become one message, in one transaction.
//!
//! A digest precedes all messages that are written for its channel later, so that later messages about an incident follow
//! the digest that mentions it.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::effects;
use crate::model::lifecycle_effect::{LifecycleEffect, QueuedMessage};
use crate::model::notification::delivery::{Delivery, DeliveryTarget};
use crate::model::notification::digest_builder::{GatheredMessage, choose_for_digest, digest};
use crate::model::notification::message::{MessageSubject, NotificationMessage};
use crate::model::notification::{NotificationChannel, NotificationEvent};
use crate::store::notifications::digests::{end_gathered, released_by, subjects_not_held};
use crate::store::{MainError, Transaction, organisations};

/// Maximum number of messages of a digest; the others become the next one.
const MOST: u64 = 2_000;

/// Combines the due messages of a channel that wait for a digest into one, if there are enough of them, without those
/// about `busy` subjects, which are being sent. Returns true if it made one.
pub async fn gather(
    transaction: &Transaction,
    channel: &NotificationChannel,
    busy: &[String],
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(transaction, channel.organisation).await?;
    let Some(organisation) = organisations::get(transaction, channel.organisation).await? else {
        return Ok(false);
    };
    let Some(most) = channel.routing.digest_above else { return Ok(false) };
    let mut left_alone = subjects_not_held(transaction, channel.key).await?;
    left_alone.extend_from_slice(busy);
    let released = released_by(transaction, channel.key, now, MOST).await?;
    let Some(chosen) = choose_for_digest(released, &left_alone, most) else { return Ok(false) };
    let id = Id::random();
    let gathered: Vec<GatheredMessage<'_>> =
        chosen.iter().map(|chosen| GatheredMessage { id: chosen.id, message: &chosen.message }).collect();
    let message = NotificationMessage {
        event: NotificationEvent::Digest,
        at: now.ms(),
        organisation: organisation.name,
        subject: MessageSubject::Digest(digest(id, &gathered)),
    };
    let target = DeliveryTarget {
        organisation: channel.organisation,
        channel: channel.key,
        contact: None,
        hold: None,
    };
    let delivery = Delivery { id, ..Delivery::written(message, target, now) };
    let outgoing = QueuedMessage { delivery, line: channel.line(None) };
    effects::carry_out(transaction, vec![LifecycleEffect::Enqueue(Box::new(outgoing))], now).await?;
    let keys: Vec<i64> = chosen.iter().map(|chosen| chosen.key).collect();
    end_gathered(transaction, &keys, id, now).await?;
    Ok(true)
}
