//! Asks one reference target for a response that only this target can have sent.
//!
//! A lost packet proves nothing, so each target is asked three times within a round. An opened connection, an
//! echo reply and an answer of a name server prove that the network works; an error on the way, such as "no
//! route", does not.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hickory_proto::rr::Name;
use tokio::time::{Instant, sleep, timeout_at};

use super::{ImpairmentMonitor, NetworkReference};
use crate::egress::{EgressGate, EgressPolicy, close_by_reset, local_fault};
use crate::model::check::LocalFault;
use crate::model::impairment::ReferenceAnswer;
use crate::probe::canary;
use crate::probe::endpoint::Host;
use crate::probe::pinger::echo;
use crate::probe::spec::IpVersion;

/// Number of questions to one reference in one round.
const TRIES: u32 = 3;
/// The time between two questions.
const SPACING: Duration = Duration::from_millis(250);
/// Port for a connection where echo requests are not permitted; often open on gateways and name servers.
const FALLBACK_PORT: u16 = 53;
/// Maximum number of addresses of a name that are asked.
const PER_NAME: usize = 4;

/// The reason why there is no answer.
enum MissingAnswer {
    /// There was no valid answer.
    Silence,
    /// The question could not be sent.
    Unasked,
}

impl ImpairmentMonitor {
    /// Asks one reference until `deadline`.
    pub(super) async fn ask(&self, reference: &NetworkReference, deadline: Instant) -> ReferenceAnswer {
        let asked = async {
            match reference {
                NetworkReference::Host(host) => self.any(host, deadline, |to| self.ping(to)).await,
                NetworkReference::Port(host, port) => {
                    self.any(host, deadline, |to| self.open(SocketAddr::new(to.ip(), *port))).await
                }
                NetworkReference::Gateway(to) => repeated(|| self.ping(*to)).await,
                NetworkReference::NameServer(to) => repeated(|| self.ask_name_server(*to)).await,
            }
        };
        match timeout_at(deadline, asked).await {
            Ok(Ok(())) => ReferenceAnswer::Answered,
            Ok(Err(MissingAnswer::Unasked)) => ReferenceAnswer::Unasked,
            Ok(Err(MissingAnswer::Silence)) | Err(_) => ReferenceAnswer::Silent,
        }
    }

    /// Asks the addresses of a host; one answer suffices.
    async fn any<F: Future<Output = Result<(), MissingAnswer>>>(
        &self,
        host: &Host,
        deadline: Instant,
        ask: impl Fn(SocketAddr) -> F,
    ) -> Result<(), MissingAnswer> {
        let addresses = match host {
            Host::Ip(address) => vec![*address],
            Host::Name(name) => self.addresses_of(name, deadline).await?,
        };
        let ask = &ask;
        let asked = addresses.into_iter().map(|to| repeated(move || ask(SocketAddr::new(to, 0))));
        first(asked.collect()).await
    }

    /// Returns the current addresses of a name, or else the last known ones. Resolving takes at most half of a
    /// round.
    async fn addresses_of(&self, name: &Name, deadline: Instant) -> Result<Vec<IpAddr>, MissingAnswer> {
        let now = Instant::now();
        let half = now + deadline.saturating_duration_since(now) / 2;
        let found =
            timeout_at(half, self.toolbox.resolver().lookup(name, IpVersion::Auto, false, half)).await;
        let mut known = self.addresses.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Ok(Ok(found)) = found {
            let addresses = found.v4.into_iter().chain(found.v6).take(PER_NAME).collect();
            known.insert(name.clone(), addresses);
        }
        known.get(name).cloned().ok_or(MissingAnswer::Unasked)
    }

    /// Sends an echo request, or opens a connection where echo requests are not permitted. A refused connection
    /// counts as an answer: a machine without a network receives no refusal.
    async fn ping(&self, to: SocketAddr) -> Result<(), MissingAnswer> {
        let is_global = !matches!(to, SocketAddr::V6(v6) if v6.scope_id() != 0);
        match echo(self.toolbox.pinger(), to).await {
            Ok(()) => Ok(()),
            Err(error) if local_fault(&error) == Some(LocalFault::NotPermitted) && is_global => {
                match self.connect(SocketAddr::new(to.ip(), FALLBACK_PORT)).await {
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
                    connected => connected.map_err(|error| self.missing(to.ip(), &error)),
                }
            }
            Err(error) => Err(self.missing(to.ip(), &error)),
        }
    }

    /// Opens a connection. A refusal does not count: it may come from a firewall on the way.
    async fn open(&self, to: SocketAddr) -> Result<(), MissingAnswer> {
        self.connect(to).await.map_err(|error| self.missing(to.ip(), &error))
    }

    async fn connect(&self, to: SocketAddr) -> io::Result<()> {
        let egress = EgressGate { policy: EgressPolicy::PrivateAllowed, ..*self.toolbox.egress() };
        let pinned = egress.permit(to.ip()).map_err(io::Error::other)?;
        let stream = egress.connect(pinned, to.port()).await?;
        close_by_reset(&stream);
        Ok(())
    }

    async fn ask_name_server(&self, to: SocketAddr) -> Result<(), MissingAnswer> {
        let source = self.toolbox.egress().source_for(to.ip());
        canary::ask(to, source).await.map_err(|error| self.missing(to.ip(), &error))
    }

    /// Distinguishes errors of a dead network from a lack of resources in this process.
    fn missing(&self, to: IpAddr, error: &io::Error) -> MissingAnswer {
        match local_fault(error) {
            Some(LocalFault::NetworkDown) | None => MissingAnswer::Silence,
            Some(_) if self.toolbox.egress().has_lost_route_to(to) => MissingAnswer::Silence,
            Some(_) => MissingAnswer::Unasked,
        }
    }
}

/// Asks several times with pauses; one answer suffices.
async fn repeated<F: Future<Output = Result<(), MissingAnswer>>>(
    ask: impl Fn() -> F,
) -> Result<(), MissingAnswer> {
    let ask = &ask;
    let tries = (0..TRIES).map(|number| async move {
        sleep(SPACING * number).await;
        ask().await
    });
    first(tries.collect()).await
}

/// Returns the first answer; without any, silence takes precedence over a question that could not be sent.
async fn first<F: Future<Output = Result<(), MissingAnswer>>>(
    mut asked: FuturesUnordered<F>,
) -> Result<(), MissingAnswer> {
    let mut missing = MissingAnswer::Unasked;
    while let Some(answer) = asked.next().await {
        match answer {
            Ok(()) => return Ok(()),
            Err(MissingAnswer::Silence) => missing = MissingAnswer::Silence,
            Err(MissingAnswer::Unasked) => {}
        }
    }
    Err(missing)
}
