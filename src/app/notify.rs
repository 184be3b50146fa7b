//! Sets up delivery of notifications: the outbound HTTP client, the carrier and the courier.

use std::sync::Arc;

use crate::app::Foundation;
use crate::app::locations::egress_policy;
use crate::egress::Egress;
use crate::egress::outbound::{Outbound, OutboundParts};
use crate::http::v1::state::AppState;
use crate::notify::carrier::Carrier;
use crate::notify::composer::MessageComposer;
use crate::notify::counters::NotifyCounters;
use crate::notify::courier::Courier;
use crate::notify::message_hold::MessageHold;

/// The HTTP client for outbound notifications.
///
/// # Errors
/// When the name servers or the certificate authorities cannot be used.
pub(super) fn outbound(foundation: &Foundation) -> anyhow::Result<Outbound> {
    let config = &foundation.config;
    Ok(Outbound::new(OutboundParts {
        egress: Egress { policy: egress_policy(config), source: None },
        dns_servers: &config.probe.dns_servers,
        ca_file: config.probe.ca_file.as_deref(),
        clock: foundation.clock.clone(),
    })?)
}

/// The carrier of messages.
///
/// # Errors
/// As [`outbound`].
pub(super) fn carrier(foundation: &Foundation) -> anyhow::Result<Carrier> {
    Ok(Carrier {
        outbound: outbound(foundation)?,
        clock: foundation.clock.clone(),
        composer: MessageComposer::default(),
        mail: foundation.config.limits.mail.clone(),
    })
}

/// The courier, which delivers the messages of the outbox.
pub(super) fn courier(parts: &AppState, counters: &Arc<NotifyCounters>) -> Courier {
    Courier {
        databases: parts.databases.clone(),
        carrier: parts.carrier.clone(),
        sealer: parts.definer.sealer.clone(),
        guard: Arc::clone(&parts.guard),
        hold: MessageHold::of(&parts.config.data_dir),
        counters: Arc::clone(counters),
    }
}
