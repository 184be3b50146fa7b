//! Sets up what tells people: the way out, and the courier.

use std::sync::Arc;

use crate::app::locations::egress_policy;
use crate::app::notices::notices;
use crate::app::watchdog::watchdog;
use crate::app::{Foundation, Recording};
use crate::egress::Egress;
use crate::egress::outbound::{Outbound, OutboundParts};
use crate::http::v1::state::AppState;
use crate::notices::Notices;
use crate::notify::carrier::Carrier;
use crate::notify::counters::NotifyCounters;
use crate::notify::courier::Courier;
use crate::notify::watchdog::Watchdog;

/// The HTTP client by which this process tells others something.
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

/// The way out, for messages.
///
/// # Errors
/// As [`outbound`].
pub(super) fn carrier(foundation: &Foundation) -> anyhow::Result<Carrier> {
    Ok(Carrier { outbound: outbound(foundation)?, clock: foundation.clock.clone() })
}

/// What tells people, and other systems.
pub(super) struct Telling {
    /// Delivers the messages of the outbox.
    pub(super) courier: Courier,
    /// Writes messages about what is no incident.
    pub(super) notices: Notices,
    /// Pings, if somebody is to be pinged.
    pub(super) watchdog: Option<Watchdog>,
}

/// Sets it up.
///
/// # Errors
/// When the address of the pings, the name servers or the certificate authorities cannot be used.
pub(super) fn telling(
    foundation: &Foundation,
    state: &AppState,
    recording: &Recording,
) -> anyhow::Result<Telling> {
    Ok(Telling {
        courier: courier(state, &recording.told),
        notices: notices(foundation, state, recording),
        watchdog: watchdog(foundation, state.readiness(), recording)?,
    })
}

/// What delivers the messages of the outbox.
fn courier(parts: &AppState, counters: &Arc<NotifyCounters>) -> Courier {
    Courier {
        databases: parts.databases.clone(),
        carrier: parts.carrier.clone(),
        sealer: parts.definer.sealer.clone(),
        guard: Arc::clone(&parts.guard),
        counters: Arc::clone(counters),
    }
}
