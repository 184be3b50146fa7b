//! ICMP checks: three echo requests, judged by the replies to them.
//!
//! Only an echo reply counts: an ICMP error is silence, never an answer. Where neither raw nor ping sockets are
//! permitted, the check is not measured; it is never `down` for that.

mod series;

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, join, select};
use tokio::time::{Instant, timeout};

use crate::egress::{EgressGate, PermittedAddress};
use crate::model::check::{CheckFailure, CheckOutcome, ErrorCode, LocalFault, Micros, micros};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::RunningAttempt;
use crate::probe::condition::report::CheckConditions;
use crate::probe::connect::route;
use crate::probe::fact::{Fact, FactSource};
use crate::probe::judgement::{AnswerMeasurement, milliseconds};
use crate::probe::pinger::Pinger;
use crate::probe::spec::{IcmpCheck, IpVersion};
use crate::probe::toolbox::Toolbox;
use series::EchoSeries;

pub use series::ECHO_REQUESTS;

/// The time that the first family may be silent before the other one is pinged as well.
const HEAD_START: Duration = Duration::from_millis(250);

/// Sends the pings and judges the replies.
pub(crate) async fn run(
    check: &IcmpCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    mut attempt: RunningAttempt,
) -> CheckOutcome {
    match ping(check, toolbox, &mut attempt).await {
        Err(stop) => stop.outcome(attempt.timings_until_now()),
        Ok((series, partial)) => {
            let facts = IcmpFacts { response_time: micros(series.mean()), series };
            let answered = AnswerMeasurement {
                response_time: facts.response_time,
                timings: attempt.timings_until_now(),
                status_code: None,
                partial,
            };
            answered.judge(conditions, &facts)
        }
    }
}

/// Pings one address of each family: the first one that the gate permits.
async fn ping(
    check: &IcmpCheck,
    toolbox: &Toolbox,
    attempt: &mut RunningAttempt,
) -> Result<(EchoSeries, Option<CheckFailure>), ProbeAbort> {
    let route = route(&check.host, 0, check.addressing, toolbox, attempt).await?;
    let first_of = |is_ipv6| {
        let mut candidates = route.candidates().iter().copied();
        candidates.find(|pinned| pinned.address().is_ipv6() == is_ipv6)
    };
    let wants_both = check.addressing.smart_dualstack && check.addressing.ip_version == IpVersion::Auto;
    let (pinger, deadline) = (toolbox.pinger(), attempt.deadline);
    let answered = match (first_of(true), first_of(false)) {
        (Some(v6), Some(v4)) if wants_both => both(toolbox, v6, v4, deadline).await,
        (Some(v6), Some(v4)) => either(pinger, v6, v4, deadline).await.map(alone),
        (Some(only), None) | (None, Some(only)) => series::run(pinger, only, deadline).await.map(alone),
        (None, None) => Err(ProbeAbort::failed(ErrorCode::DnsNoRecords, "The name has no address")),
    };
    answered.map_err(|stop| if route.is_lost(toolbox.egress()) { NETWORK_DOWN } else { stop })
}

const NETWORK_DOWN: ProbeAbort = ProbeAbort::Trouble(LocalFault::NetworkDown);

const fn alone(series: EchoSeries) -> (EchoSeries, Option<CheckFailure>) {
    (series, None)
}

/// Pings both families, IPv6 first; the family whose replies are complete first counts.
async fn either(
    pinger: &Pinger,
    v6: PermittedAddress,
    v4: PermittedAddress,
    deadline: Instant,
) -> Result<EchoSeries, ProbeAbort> {
    let mut first = pin!(series::run(pinger, v6, deadline));
    match timeout(HEAD_START, &mut first).await {
        Ok(Ok(series)) => return Ok(series),
        Ok(Err(v6_stop)) => {
            let second = series::run(pinger, v4, deadline).await;
            return second.map_err(|v4_stop| worse_abort(v6_stop, v4_stop));
        }
        Err(_elapsed) => {}
    }
    match select(first, pin!(series::run(pinger, v4, deadline))).await {
        Either::Left((Ok(series), _)) | Either::Right((Ok(series), _)) => Ok(series),
        Either::Left((Err(v6_stop), second)) => second.await.map_err(|v4_stop| worse_abort(v6_stop, v4_stop)),
        Either::Right((Err(v4_stop), first)) => first.await.map_err(|v6_stop| worse_abort(v6_stop, v4_stop)),
    }
}

/// Pings both families, each for half of the remaining time. If only one answers, its replies are returned
/// together with the failure of the other one.
async fn both(
    toolbox: &Toolbox,
    v6: PermittedAddress,
    v4: PermittedAddress,
    deadline: Instant,
) -> Result<(EchoSeries, Option<CheckFailure>), ProbeAbort> {
    let (pinger, now) = (toolbox.pinger(), Instant::now());
    let half = now + deadline.saturating_duration_since(now) / 2;
    match join(series::run(pinger, v6, half), series::run(pinger, v4, half)).await {
        (Ok(series), Ok(_)) => Ok((series, None)),
        (Ok(series), Err(stop)) => Ok((series, partial(toolbox.egress(), v4, stop))),
        (Err(stop), Ok(series)) => Ok((series, partial(toolbox.egress(), v6, stop))),
        (Err(v6_stop), Err(v4_stop)) => Err(worse_abort(v6_stop, v4_stop)),
    }
}

/// Returns the failure of one family; `None` if it could not be pinged, or this machine has lost its route.
fn partial(egress: &EgressGate, to: PermittedAddress, stop: ProbeAbort) -> Option<CheckFailure> {
    match stop {
        ProbeAbort::Trouble(_) => None,
        ProbeAbort::Failed(_) if egress.has_lost_route_to(to.address()) => None,
        ProbeAbort::Failed(failure) => {
            let family = if to.address().is_ipv6() { "IPv6" } else { "IPv4" };
            let message = format!("{family} does not answer: {}", failure.message);
            Some(CheckFailure::new(ErrorCode::DualstackPartial, message))
        }
    }
}

/// Returns the graver failure. Trouble of this process takes precedence: a family that was not pinged might have
/// answered. After that, silence takes precedence over a missing route, which may be our own network's.
fn worse_abort(v6: ProbeAbort, v4: ProbeAbort) -> ProbeAbort {
    match (&v6, &v4) {
        // A machine without IPv6 reports "address not available"; that is not a lack of ports.
        (ProbeAbort::Trouble(LocalFault::NoPorts), _) => v4,
        (ProbeAbort::Trouble(_), _) => v6,
        (_, ProbeAbort::Trouble(_)) => v4,
        (ProbeAbort::Failed(failure), _) if failure.code == ErrorCode::IcmpNoReply => v6,
        _ => v4,
    }
}

/// The findings of a series of pings.
struct IcmpFacts {
    response_time: Micros,
    series: EchoSeries,
}

impl FactSource for IcmpFacts {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::MaxRttMs => Some(milliseconds(micros(self.series.max()))),
            Fact::PacketLossPct => Some(self.series.loss_pct()),
            Fact::PacketsReceived => Some(self.series.received().into()),
            _ => None,
        }
    }
}
