//! A dead man's switch: as long as everything works a ping is sent every minute; its receiver notices when pings stop.
//!
//! No ping is sent while a database or the engine does not answer, results wait on disk, or no location of the process can
//! check. A ping that did not arrive is tried again before the next one is due, so that one lost packet raises no alarm.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use tokio::time::sleep;

use crate::egress::outbound::{ExchangeFailure, OutboundClient, OutboundRequest, OutboundUrl};
use crate::readiness::Readiness;
use crate::telemetry::{Exposition, MetricCollector};

/// The wait before a failed ping is tried again, unless the next ping is due earlier.
const RETRY: Duration = Duration::from_secs(10);
/// Time limit of a ping.
const DEADLINE: Duration = Duration::from_secs(10);

/// Returns true while a location of this process can check, and results reach the history.
pub type IsWatching = Arc<dyn Fn() -> bool + Send + Sync>;

/// The watchdog with its dependencies.
#[derive(Clone)]
pub struct WatchdogPinger {
    /// The components that must answer.
    pub readiness: Readiness,
    /// The second condition for a ping, in addition to the components that must answer.
    pub is_watching: IsWatching,
    /// HTTP client behind the egress gate.
    pub outbound: OutboundClient,
    /// The address of the pings; its path may be a secret.
    pub url: OutboundUrl,
    /// The time between two pings.
    pub every: Duration,
    /// The counters of the pings.
    pub counters: Arc<WatchdogCounters>,
}

/// Numbers of pings by result.
#[derive(Debug, Default)]
pub struct WatchdogCounters {
    /// Accepted pings: answers of 200 to 299.
    pub taken: AtomicU64,
    /// Pings that were not accepted.
    pub failed: AtomicU64,
    /// Pings that were not sent because this process has problems.
    pub withheld: AtomicU64,
}

/// The outcome of one watchdog ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PingOutcome {
    Taken,
    Refused(u16),
    Failed(ExchangeFailure),
    Withheld,
}

impl WatchdogPinger {
    /// Sends pings until the future is dropped.
    pub async fn run(self) {
        let mut last = PingOutcome::Taken;
        loop {
            let ping = self.ping().await;
            self.counters.note(ping);
            if ping != last {
                self.log(ping);
            }
            last = ping;
            let wait = if ping == PingOutcome::Taken { self.every } else { self.every.min(RETRY) };
            sleep(wait).await;
        }
    }

    async fn ping(&self) -> PingOutcome {
        if !self.readiness.check_all().await.all() || !(self.is_watching)() {
            return PingOutcome::Withheld;
        }
        let request = OutboundRequest {
            method: Method::GET,
            url: self.url.clone(),
            headers: Vec::new(),
            body: Bytes::new(),
            deadline: DEADLINE,
        };
        match self.outbound.send(request).await {
            Ok(answer) if (200..300).contains(&answer.status) => PingOutcome::Taken,
            Ok(answer) => PingOutcome::Refused(answer.status),
            Err(failed) => PingOutcome::Failed(failed),
        }
    }

    fn log(&self, ping: PingOutcome) {
        let to = &self.url;
        match ping {
            PingOutcome::Taken => tracing::info!(url = %to, "watchdog pings succeed again"),
            PingOutcome::Refused(status) => {
                tracing::warn!(url = %to, status_code = status, "watchdog ping rejected");
            }
            PingOutcome::Failed(failed) => {
                tracing::warn!(url = %to, error = %failed, "watchdog ping failed");
            }
            PingOutcome::Withheld => {
                tracing::warn!(
                    url = %to,
                    "not sending watchdog pings: this process has problems; see /readyz"
                );
            }
        }
    }
}

impl WatchdogCounters {
    fn note(&self, ping: PingOutcome) {
        let count = match ping {
            PingOutcome::Taken => &self.taken,
            PingOutcome::Refused(_) | PingOutcome::Failed(_) => &self.failed,
            PingOutcome::Withheld => &self.withheld,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl MetricCollector for WatchdogCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut pings = out.counter("watchdog_pings_total", "Pings of the watchdog by what became of them.");
        pings.labelled(&[("result", "taken")], get(&self.taken));
        pings.labelled(&[("result", "failed")], get(&self.failed));
        pings.labelled(&[("result", "withheld")], get(&self.withheld));
    }
}
