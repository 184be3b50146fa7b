//! Sets up notifications: the carrier and the courier.

use std::sync::Arc;

use crate::app::locations::outbound_to;
use crate::app::{Foundation, outbound};
use crate::egress::EgressPolicy;
use crate::http::v1::state::AppState;
use crate::notify::carrier::MessageSender;
use crate::notify::composer::MessageComposer;
use crate::notify::counters::NotifyCounters;
use crate::notify::courier::Courier;
use crate::notify::message_hold::MessageHold;
use crate::subscribers::counters::SubscriberCounters;
use crate::subscribers::courier::SubscriberCourier;

/// Returns the sender of messages to channels.
///
/// # Errors
/// As [`outbound`].
pub(super) fn carrier(foundation: &Foundation) -> anyhow::Result<MessageSender> {
    Ok(MessageSender {
        outbound: outbound(&foundation.config, &foundation.clock)?,
        clock: foundation.clock.clone(),
        composer: MessageComposer::default(),
        mail: foundation.config.limits.mail.clone(),
    })
}

/// Returns the courier of subscribers, which delivers news of status pages.
///
/// # Errors
/// As [`outbound`].
pub(super) fn subscriber_courier(
    foundation: &Foundation,
    parts: &AppState,
    counters: &Arc<SubscriberCounters>,
) -> anyhow::Result<SubscriberCourier> {
    let sender = parts.carrier.clone();
    let public = outbound_to(EgressPolicy::PublicOnly, &foundation.config, &foundation.clock)?;
    Ok(SubscriberCourier {
        databases: parts.databases.clone(),
        visitors_sender: MessageSender { outbound: public, ..sender.clone() },
        sender,
        sealer: parts.compiler.sealer.clone(),
        config: Arc::clone(&parts.config),
        guard: Arc::clone(&parts.guard),
        hold: MessageHold::of(&parts.config.data_dir),
        counters: Arc::clone(counters),
    })
}

/// Returns the courier, which delivers the messages of the outbox.
pub(super) fn courier(parts: &AppState, counters: &Arc<NotifyCounters>) -> Courier {
    Courier {
        databases: parts.databases.clone(),
        carrier: parts.carrier.clone(),
        sealer: parts.compiler.sealer.clone(),
        guard: Arc::clone(&parts.guard),
        hold: MessageHold::of(&parts.config.data_dir),
        counters: Arc::clone(counters),
    }
}
