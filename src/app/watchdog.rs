//! Sets up the watchdog from the settings.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;
use secrecy::ExposeSecret as _;

use crate::app::{Foundation, HistoryRecording, outbound};
use crate::egress::outbound::OutboundUrl;
use crate::notify::message_hold::MessageHold;
use crate::notify::watchdog::WatchdogPinger;
use crate::readiness::Readiness;

/// Returns the watchdog, if a ping URL is configured.
///
/// # Errors
/// When the address, the name servers or the certificate authorities cannot be used.
pub(super) fn watchdog(
    foundation: &Foundation,
    readiness: Readiness,
    recording: &HistoryRecording,
) -> anyhow::Result<Option<WatchdogPinger>> {
    let config = &foundation.config;
    let Some(url) = &config.watchdog.ping_url else { return Ok(None) };
    let url = OutboundUrl::parse(url.expose_secret()).context("watchdog.ping_url")?;
    let recorded = Arc::clone(&recording.recorded);
    let roster = readiness.engine.roster();
    // A copy restored from a backup must not ping in place of the original.
    let hold = MessageHold::of(&config.data_dir);
    let is_watching = move || {
        !roster.is_blind_here()
            && !hold.is_in_force()
            && !recorded.is_failing.load(Ordering::Relaxed)
            && recorded.spool_bytes.load(Ordering::Relaxed) == 0
    };
    Ok(Some(WatchdogPinger {
        readiness,
        is_watching: Arc::new(is_watching),
        outbound: outbound(config, &foundation.clock)?,
        url,
        every: Duration::from_secs(config.watchdog.ping_interval_seconds.into()),
        counters: Arc::clone(&recording.pings),
    }))
}
