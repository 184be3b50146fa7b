//! Three echo requests to one address, and their replies.
//!
//! The next request is sent when the previous one is answered, or after 100 ms: a healthy target is done after
//! three round trips, and losses are independent of each other. A missing reply is awaited only as long as the
//! other replies make it plausible.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::egress::{PermittedAddress, local_fault};
use crate::model::check::{ErrorCode, LocalFault};
use crate::probe::abort::ProbeAbort;
use crate::probe::pinger::{AddressFamily, ExpectedReply, Pinger};

/// Number of echo requests of one check.
pub const ECHO_REQUESTS: u8 = 3;

/// The wait for a reply before the next request is sent.
const SPACING: Duration = Duration::from_millis(100);

/// The minimum wait for a missing reply once others have arrived.
const PATIENCE: Duration = Duration::from_secs(1);

/// The replies to a series of echo requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EchoSeries {
    sent: u8,
    received: u8,
    sum: Duration,
    max: Duration,
}

impl EchoSeries {
    fn note(&mut self, round_trip: Duration) {
        self.received += 1;
        self.sum += round_trip;
        self.max = self.max.max(round_trip);
    }

    /// Mean round trip of the replies.
    pub(super) fn mean(&self) -> Duration {
        self.sum / u32::from(self.received.max(1))
    }

    /// Longest round trip.
    pub(super) const fn max(&self) -> Duration {
        self.max
    }

    /// Number of replies.
    pub(super) const fn received(&self) -> u8 {
        self.received
    }

    /// Requests without reply, in percent of those sent.
    pub(super) fn loss_pct(&self) -> f64 {
        let lost = f64::from(self.sent - self.received);
        100.0 * lost / f64::from(self.sent.max(1))
    }

    /// Returns the time until which a missing reply is plausible; the deadline if there is no other reply.
    fn plausible_until(&self, last_sent: Instant, deadline: Instant) -> Instant {
        if self.received == 0 {
            return deadline;
        }
        deadline.min(last_sent + PATIENCE.max(self.max * 4))
    }
}

/// Pings one address; an error when there was no reply.
pub(super) async fn run(
    pinger: &Pinger,
    to: PermittedAddress,
    deadline: Instant,
) -> Result<EchoSeries, ProbeAbort> {
    // An IPv4-mapped IPv6 address is reached by IPv4.
    let address = to.address().to_canonical();
    let family = match address {
        IpAddr::V4(_) => AddressFamily::V4,
        IpAddr::V6(_) => AddressFamily::V6,
    };
    let socket = pinger.socket(family).map_err(|error| unsent(&error))?;
    let mut series = EchoSeries::default();
    let mut missing: Vec<ExpectedReply<'_>> = Vec::new();
    let mut last_sent = Instant::now();
    for _ in 0..ECHO_REQUESTS {
        let has_turn = timeout_at(deadline, pinger.pace().wait()).await.is_ok();
        if !has_turn || Instant::now() + SPACING > deadline {
            // Too late for an answer in time: the request is not sent, so that it does not count as lost.
            break;
        }
        last_sent = Instant::now();
        let mut expected = socket.send(SocketAddr::new(address, 0)).await.map_err(|error| unsent(&error))?;
        series.sent += 1;
        match timeout_at(deadline.min(last_sent + SPACING), expected.round_trip()).await {
            Ok(round_trip) => series.note(round_trip),
            Err(_elapsed) => missing.push(expected),
        }
    }
    for mut expected in missing {
        let until = series.plausible_until(last_sent, deadline);
        if let Ok(round_trip) = timeout_at(until, expected.round_trip()).await {
            series.note(round_trip);
        }
    }
    match series {
        EchoSeries { sent: 0, .. } => Err(ProbeAbort::Trouble(LocalFault::Overrun)),
        EchoSeries { received: 0, sent, .. } => {
            let message = format!("No reply to {sent} echo requests");
            Err(ProbeAbort::failed(ErrorCode::IcmpNoReply, message))
        }
        answered => Ok(answered),
    }
}

/// Returns the reason why a request could not be sent.
fn unsent(error: &std::io::Error) -> ProbeAbort {
    match local_fault(error) {
        Some(trouble) => ProbeAbort::Trouble(trouble),
        None => ProbeAbort::failed(ErrorCode::ConnectUnreachable, "No route to the host"),
    }
}
