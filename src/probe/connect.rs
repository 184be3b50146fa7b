//! From a host to an open TCP connection: resolve, pass the egress gate, race the address families.
//!
//! One successful connection suffices: addresses of both families alternate, IPv6 first, and race (`egress::race`).
//! Nothing is sent here.

use std::io;
use std::net::IpAddr;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::egress::{EgressGate, PermittedAddress, local_fault};
use crate::model::check::{CheckFailure, ErrorCode, LocalFault};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::{AttemptPhase, RunningAttempt};
use crate::probe::endpoint::Host;
use crate::probe::resolver::ResolvedAddresses;
use crate::probe::spec::{AddressingOptions, IpVersion};
use crate::probe::toolbox::Toolbox;

/// Maximum number of addresses of one family that are tried, however many a name has.
const PER_FAMILY: usize = 4;

/// The addresses of a host, ready to be dialled.
#[derive(Debug)]
pub(crate) struct DialRoute {
    port: u16,
    /// Addresses with alternating families.
    candidates: Vec<PermittedAddress>,
    /// Number of addresses before the gate and the limits.
    pub(crate) resolved: usize,
}

#[derive(Debug)]
pub(crate) struct OpenConnection {
    pub(crate) stream: TcpStream,
    /// With `smart_dualstack`, the addresses of the other family, which still has to be tested; otherwise
    /// `None`.
    pub(crate) other: Option<DialRoute>,
}

/// Resolves a host and keeps the addresses that the egress gate permits.
pub(crate) async fn route(
    host: &Host,
    port: u16,
    addressing: AddressingOptions,
    toolbox: &Toolbox,
    attempt: &mut RunningAttempt,
) -> Result<DialRoute, ProbeAbort> {
    match host {
        Host::Ip(address) => DialRoute::to(*address, port, addressing.ip_version, toolbox.egress()),
        Host::Name(name) => {
            let both = addressing.smart_dualstack && addressing.ip_version == IpVersion::Auto;
            let lookup = toolbox.resolver().lookup(name, addressing.ip_version, both, attempt.deadline);
            let found = lookup.await?;
            attempt.finish(AttemptPhase::Dns);
            DialRoute::among(&found, port, toolbox.egress())
        }
    }
}

/// Opens a connection along a route.
pub(crate) async fn dial(
    route: DialRoute,
    addressing: AddressingOptions,
    toolbox: &Toolbox,
    attempt: &mut RunningAttempt,
) -> Result<OpenConnection, ProbeAbort> {
    let (stream, used) = race(&route, toolbox.egress(), attempt.deadline).await?;
    attempt.finish(AttemptPhase::Connect);
    attempt.peer = Some(used);
    let wants_both = addressing.smart_dualstack && addressing.ip_version == IpVersion::Auto;
    Ok(OpenConnection { stream, other: wants_both.then(|| route.without_family(used.address())).flatten() })
}

/// Tests the other address family of a name. Returns `None` when this family answers too, or when the test is
/// inconclusive. The test gets half of the remaining time, so that a dead family does not use up the whole
/// timeout.
pub(crate) async fn check_other_family(
    other: Option<DialRoute>,
    toolbox: &Toolbox,
    deadline: Instant,
) -> Option<CheckFailure> {
    let other = other?;
    let now = Instant::now();
    let patience = now + deadline.saturating_duration_since(now) / 2;
    match race(&other, toolbox.egress(), patience).await {
        Ok((stream, _)) => {
            crate::egress::close_by_reset(&stream);
            None
        }
        Err(ProbeAbort::Trouble(_)) => None,
        Err(ProbeAbort::Failed(failure)) => {
            let family = if other.is_ipv6() { "IPv6" } else { "IPv4" };
            let message = format!("{family} does not answer: {}", failure.message);
            Some(CheckFailure::new(ErrorCode::DualstackPartial, message))
        }
    }
}

impl DialRoute {
    fn to(address: IpAddr, port: u16, version: IpVersion, egress: &EgressGate) -> Result<Self, ProbeAbort> {
        let fits = match version {
            IpVersion::Auto => true,
            IpVersion::Ipv4 => address.is_ipv4(),
            IpVersion::Ipv6 => address.is_ipv6(),
        };
        if !fits {
            let message = "The address is not of the family that the service asks for";
            return Err(ProbeAbort::failed(ErrorCode::DnsNoRecords, message));
        }
        Ok(Self { port, candidates: vec![egress.permit(address)?], resolved: 1 })
    }

    fn among(found: &ResolvedAddresses, port: u16, egress: &EgressGate) -> Result<Self, ProbeAbort> {
        let mut blocked = None;
        let mut permitted = |addresses: &[IpAddr]| -> Vec<PermittedAddress> {
            let passed = addresses.iter().map(|address| egress.permit(*address));
            let passed = passed.filter_map(|result| result.map_err(|refusal| blocked = Some(refusal)).ok());
            passed.take(PER_FAMILY).collect()
        };
        let (v6, v4) = (permitted(&found.v6), permitted(&found.v4));
        if let (Some(refusal), true, true) = (blocked, v6.is_empty(), v4.is_empty()) {
            return Err(refusal.into());
        }
        let turns = v6.len().max(v4.len());
        let in_turn = (0..turns).flat_map(|turn| [v6.get(turn), v4.get(turn)]);
        Ok(Self {
            port,
            candidates: in_turn.flatten().copied().collect(),
            resolved: found.v6.len() + found.v4.len(),
        })
    }

    /// Returns the route without the family of `used`; `None` when nothing is left.
    fn without_family(&self, used: IpAddr) -> Option<Self> {
        let rest = self.candidates.iter().filter(|pinned| pinned.address().is_ipv4() != used.is_ipv4());
        let candidates: Vec<PermittedAddress> = rest.copied().collect();
        (!candidates.is_empty()).then_some(Self { port: self.port, resolved: candidates.len(), candidates })
    }

    pub(crate) fn candidates(&self) -> &[PermittedAddress] {
        &self.candidates
    }

    /// Returns true when this machine has no route to any of the addresses.
    pub(crate) fn is_lost(&self, egress: &EgressGate) -> bool {
        !self.candidates.is_empty()
            && self.candidates.iter().all(|pinned| egress.has_lost_route_to(pinned.address()))
    }

    fn is_ipv6(&self) -> bool {
        self.candidates.iter().any(|pinned| pinned.address().is_ipv6())
    }

    fn has_ipv4(&self) -> bool {
        self.candidates.iter().any(|pinned| pinned.address().is_ipv4())
    }
}

async fn race(
    route: &DialRoute,
    egress: &EgressGate,
    deadline: Instant,
) -> Result<(TcpStream, PermittedAddress), ProbeAbort> {
    let mut losses = DialFailures::default();
    let raced = match route.candidates.as_slice() {
        [only] => {
            let dialled = timeout_at(deadline, egress.connect(*only, route.port)).await;
            dialled.map(|result| {
                result.map(|stream| (stream, *only)).map_err(|error| losses.note(route, *only, &error))
            })
        }
        several => {
            let lost = |pinned, error: &_| losses.note(route, pinned, error);
            timeout_at(deadline, egress.race(several, route.port, lost)).await.map(|won| won.ok_or(()))
        }
    };
    match raced {
        Ok(Ok(won)) => Ok(won),
        Ok(Err(())) => Err(losses.verdict(route, egress, false)),
        Err(_elapsed) => Err(losses.verdict(route, egress, true)),
    }
}

/// The failures of the candidates. Trouble of this process takes precedence: an untried address might have answered.
/// After that, a refusal takes precedence over silence, and silence over a missing route.
#[derive(Debug, Default)]
struct DialFailures {
    trouble: Option<LocalFault>,
    refused: Option<ErrorCode>,
    timed_out: bool,
}

impl DialFailures {
    fn note(&mut self, route: &DialRoute, pinned: PermittedAddress, error: &io::Error) {
        let own = local_fault(error);
        // A machine without IPv6 may report "address not available"; with IPv4 to try, that is not a lack of ports.
        let lacks_ipv6 = own == Some(LocalFault::NoPorts) && pinned.address().is_ipv6() && route.has_ipv4();
        match error.kind() {
            _ if own.is_some() && !lacks_ipv6 => self.trouble = own,
            io::ErrorKind::ConnectionRefused => self.refused = Some(ErrorCode::ConnectRefused),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => {
                self.refused.get_or_insert(ErrorCode::ConnectReset);
            }
            io::ErrorKind::TimedOut => self.timed_out = true,
            _ => {}
        }
    }

    fn verdict(&self, route: &DialRoute, egress: &EgressGate, is_late: bool) -> ProbeAbort {
        if let Some(trouble) = self.trouble {
            return ProbeAbort::Trouble(trouble);
        }
        if self.refused.is_none() && route.is_lost(egress) {
            return ProbeAbort::Trouble(LocalFault::NetworkDown);
        }
        let (code, message) = match self.refused {
            Some(ErrorCode::ConnectReset) => (ErrorCode::ConnectReset, "Connection reset by the peer"),
            Some(code) => (code, "Connection refused"),
            None if is_late || self.timed_out => (ErrorCode::ConnectTimeout, "Connecting timed out"),
            None => (ErrorCode::ConnectUnreachable, "No route to the host"),
        };
        ProbeAbort::failed(code, message)
    }
}
