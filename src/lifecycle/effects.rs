//! Carries effects out: one line for each kind of effect, in the transaction of the change.

use crate::clock::Timestamp;
use crate::model::lifecycle_effect::{HeldMessages, LifecycleEffect, MessageRetraction, PublishedAction};
use crate::store::notifications::{holds, outbox};
use crate::store::{MainError, Transaction, escalations, events, subscriber_facts};

/// Carries effects out in their order.
pub(super) async fn carry_out(
    transaction: &Transaction,
    effects: Vec<LifecycleEffect>,
    now: Timestamp,
) -> Result<(), MainError> {
    for effect in effects {
        match effect {
            LifecycleEffect::Enqueue(outgoing) => outbox::insert(transaction, *outgoing).await?,
            LifecycleEffect::Release(HeldMessages { channel, line, subject }) => {
                holds::release_line(transaction, channel, line, Some(subject.as_str()), now).await?;
            }
            LifecycleEffect::ReplaceMessage(replaced) => {
                outbox::replace_message(transaction, replaced.delivery, &replaced.message).await?;
            }
            LifecycleEffect::Rehold { deliveries, hold } => {
                holds::set_hold(transaction, &deliveries, hold).await?;
            }
            LifecycleEffect::Retract(MessageRetraction::HeldStepOf { channel, contact, incident }) => {
                outbox::delete_held_step(transaction, channel, contact, incident).await?;
            }
            LifecycleEffect::Retract(MessageRetraction::HeldSteps(incident)) => {
                outbox::delete_held_steps(transaction, incident, now).await?;
            }
            LifecycleEffect::Retract(MessageRetraction::Subject { organisation, subject }) => {
                outbox::delete_held(transaction, organisation, subject).await?;
            }
            LifecycleEffect::SubscriberFact(fact) => subscriber_facts::write(transaction, &fact).await?,
            LifecycleEffect::StartEscalation(start) => escalations::insert(transaction, start).await?,
            LifecycleEffect::AdvanceEscalation(advance) => escalations::update(transaction, advance).await?,
            LifecycleEffect::EndEscalation(incident) => escalations::delete(transaction, incident).await?,
            LifecycleEffect::Publish(PublishedAction { kind, key, act, former }) => {
                events::of_keys(transaction, kind, act, &[key], &former).await?;
            }
        }
    }
    Ok(())
}
