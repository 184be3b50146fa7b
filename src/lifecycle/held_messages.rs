//! Updates held messages when the quiet hours or the digest of their channel or contact are changed.

use crate::clock::Timestamp;
use crate::lifecycle::effects;
use crate::model::contact::Contact;
use crate::model::lifecycle_effect::LifecycleEffect;
use crate::model::message_holds::{changed_holds, hold_by_channel, hold_by_contact};
use crate::model::notification::NotificationChannel;
use crate::model::notification::delivery::Delivery;
use crate::model::notification::digest::DeliveryHold;
use crate::store::notifications::holds::{HoldRecipient, held_untried};
use crate::store::{MainError, Transaction};

/// Messages read per query.
const AT_ONCE: u64 = 500;

/// Applies the changed settings of a channel to its held messages.
pub async fn rehold_channel(
    transaction: &Transaction,
    channel: &NotificationChannel,
    now: Timestamp,
) -> Result<(), MainError> {
    let hold_of = |delivery: &Delivery| hold_by_channel(delivery, &channel.routing, now);
    rehold(transaction, HoldRecipient::Channel(channel.key), hold_of, now).await
}

/// Applies the changed quiet hours of a contact to the held messages for the contact.
pub async fn rehold_contact(
    transaction: &Transaction,
    contact: &Contact,
    now: Timestamp,
) -> Result<(), MainError> {
    let hold_of = |delivery: &Delivery| hold_by_contact(delivery, contact, now);
    rehold(transaction, HoldRecipient::Contact(contact.key), hold_of, now).await
}

async fn rehold(
    transaction: &Transaction,
    held_for: HoldRecipient,
    hold_of: impl Fn(&Delivery) -> Option<DeliveryHold>,
    now: Timestamp,
) -> Result<(), MainError> {
    let mut after = 0;
    loop {
        let held = held_untried(transaction, held_for, after, AT_ONCE).await?;
        let Some(last) = held.last() else { return Ok(()) };
        after = last.key;
        let changed = changed_holds(&held, &hold_of).into_iter();
        let effects = changed.map(|(hold, deliveries)| LifecycleEffect::Rehold { deliveries, hold });
        effects::carry_out(transaction, effects.collect(), now).await?;
    }
}
