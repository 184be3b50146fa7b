//! From names to addresses: the hosts file, then the configured or the system's name servers, answers kept for as
//! long as they say.
//!
//! Tells the target's trouble (no such name, a failing zone) from our own (name servers that answer nobody). Whether
//! an address may be connected to is decided by `egress`. DNS checks do not come here: they ask themselves.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RecordType};
use hickory_resolver::config::NameServerConfig;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::{Hosts, TokioResolver};
use tokio::time::{Instant, timeout, timeout_at};

use crate::egress::{addresses, known_to_hosts, name_servers, trouble};
use crate::model::check::{ErrorCode, Failure, Trouble};
use crate::probe::pulse::Pulse;
use crate::probe::spec::IpVersion;
use crate::probe::stop::Stop;

/// The time that the slower family may lag behind the first answer (RFC 8305, section 3).
const FAMILY_LAG: Duration = Duration::from_millis(50);
/// One round of questions to the servers; a lost packet is asked again well before.
const ROUND: Duration = Duration::from_secs(3);
/// A name that comes into being is noticed within this time, whatever its zone says about absence.
const ABSENCE_MAX: Duration = Duration::from_secs(10);
/// A lookup this slow makes us doubt the servers themselves.
const DOUBT_AFTER: Duration = Duration::from_secs(1);
/// The time that the canary may take when the lookup itself ended early.
const CANARY_WAIT: Duration = Duration::from_millis(500);
/// Answers kept.
const CACHED: u64 = 16_384;

/// Name resolution of one location.
pub struct Resolver {
    inner: TokioResolver,
    hosts: Hosts,
    pulse: Pulse,
}

/// The addresses of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// IPv6 addresses in the order of the answer.
    pub v6: Vec<IpAddr>,
    /// IPv4 addresses in the order of the answer.
    pub v4: Vec<IpAddr>,
}

/// The reasons why there are no addresses; of two families' failures the later one is the more telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Absence {
    NoRecords,
    Servfail,
    Silence,
    /// The question could not even be asked.
    Unasked(Trouble),
    Nxdomain,
}

impl Resolver {
    /// Asks `servers`, or the system's when there are none.
    ///
    /// # Errors
    /// When the system's configuration cannot be read.
    pub fn new(servers: &[SocketAddr]) -> Result<Self, NetError> {
        let (config, mut options) = name_servers(servers)?;
        options.timeout = ROUND;
        options.cache_size = CACHED;
        options.negative_max_ttl = Some(ABSENCE_MAX);
        let addresses = config.name_servers().iter().map(address_of).collect();
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options;
        Ok(Self {
            inner: builder.build()?,
            hosts: Hosts::from_system().unwrap_or_default(),
            pulse: Pulse::new(addresses),
        })
    }

    /// Signs of life of the name servers.
    #[must_use]
    pub const fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// The addresses of `name`, at least one. With `both`, a family that is slow is waited for.
    pub(crate) async fn lookup(
        &self,
        name: &Name,
        version: IpVersion,
        both: bool,
        deadline: Instant,
    ) -> Result<Addresses, Stop> {
        if let Some(found) = self.known_to_hosts(name, version) {
            return Ok(found);
        }
        let since = Instant::now();
        let answer = {
            let asked = pin!(timeout_at(deadline, self.ask(name, version, both)));
            let doubted = pin!(self.doubt(since, deadline));
            match select(asked, doubted).await {
                Either::Left((answer, _)) => answer,
                Either::Right(((), asked)) => asked.await,
            }
        };
        match answer.unwrap_or(Err(Absence::Silence)) {
            Ok(found) => Ok(found),
            Err(Absence::Silence) => Err(self.silence(since, deadline).await),
            Err(absence) => Err(absence.into()),
        }
    }

    /// While a lookup is slow, finds out whether the servers are to blame.
    pub(crate) async fn doubt(&self, since: Instant, deadline: Instant) {
        let left = deadline.saturating_duration_since(since);
        tokio::time::sleep_until(since + DOUBT_AFTER.min(left / 4)).await;
        self.pulse.beats(since, deadline).await;
    }

    /// Nobody answered: the target's fault only if the servers answer others, and if we were able to ask.
    pub(crate) async fn silence(&self, since: Instant, deadline: Instant) -> Stop {
        if let Some(trouble) = lacking() {
            return Stop::Trouble(trouble);
        }
        let until = deadline.min(Instant::now() + CANARY_WAIT);
        if self.pulse.beats(since, until).await {
            Failure::new(ErrorCode::DnsTimeout, "The name servers did not answer in time").into()
        } else {
            Stop::Trouble(Trouble::ResolverUnavailable)
        }
    }

    /// A name in the hosts file is never asked for, not even its missing family.
    fn known_to_hosts(&self, name: &Name, version: IpVersion) -> Option<Addresses> {
        let (v6, v4) = known_to_hosts(&self.hosts, name)?;
        let found = Addresses {
            v6: if version == IpVersion::Ipv4 { Vec::new() } else { v6 },
            v4: if version == IpVersion::Ipv6 { Vec::new() } else { v4 },
        };
        (!found.v6.is_empty() || !found.v4.is_empty()).then_some(found)
    }

    /// The addresses of a name in the hosts file.
    pub(crate) fn in_hosts_file(&self, name: &Name) -> Option<Vec<IpAddr>> {
        let found = self.known_to_hosts(name, IpVersion::Auto)?;
        Some(found.v6.into_iter().chain(found.v4).collect())
    }

    async fn ask(&self, name: &Name, version: IpVersion, both: bool) -> Result<Addresses, Absence> {
        match version {
            IpVersion::Ipv4 => self.family(name, RecordType::A).await.map(Addresses::of_v4),
            IpVersion::Ipv6 => self.family(name, RecordType::AAAA).await.map(Addresses::of_v6),
            IpVersion::Auto => self.families(name, both).await,
        }
    }

    async fn families(&self, name: &Name, both: bool) -> Result<Addresses, Absence> {
        let v6 = pin!(self.family(name, RecordType::AAAA));
        let v4 = pin!(self.family(name, RecordType::A));
        let (v6, v4) = match select(v6, v4).await {
            Either::Left((first, second)) => {
                let patient = both || first.is_err();
                (first, lagging(second, patient).await)
            }
            Either::Right((first, second)) => {
                let patient = both || first.is_err();
                (lagging(second, patient).await, first)
            }
        };
        match (v6, v4) {
            (Err(v6), Err(v4)) => Err(v6.max(v4)),
            (v6, v4) => Ok(Addresses { v6: v6.unwrap_or_default(), v4: v4.unwrap_or_default() }),
        }
    }

    async fn family(&self, name: &Name, record: RecordType) -> Result<Vec<IpAddr>, Absence> {
        let mut lookup = pin!(self.inner.lookup(name.clone(), record));
        let mut polls = 0_u32;
        let answer = poll_fn(|context| {
            polls += 1;
            lookup.as_mut().poll(context)
        })
        .await;
        let found = answer.map_err(|error| Absence::of(&error));
        // What was there at the first look comes from the cache and says nothing about the servers.
        let is_answer = !matches!(found, Err(Absence::Silence | Absence::Unasked(_)));
        if polls > 1 && is_answer {
            self.pulse.note_answer();
        }
        let found = addresses(&found?);
        if found.is_empty() { Err(Absence::NoRecords) } else { Ok(found) }
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("pulse", &self.pulse).finish_non_exhaustive()
    }
}

impl Addresses {
    const fn of_v4(v4: Vec<IpAddr>) -> Self {
        Self { v6: Vec::new(), v4 }
    }

    const fn of_v6(v6: Vec<IpAddr>) -> Self {
        Self { v6, v4: Vec::new() }
    }
}

impl Absence {
    fn of(error: &NetError) -> Self {
        match error {
            NetError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
                Self::of_code(*response_code)
            }
            NetError::Dns(DnsError::ResponseCode(code)) => Self::of_code(*code),
            NetError::Timeout => Self::Silence,
            NetError::Io(error) => trouble(error).map_or(Self::Silence, Self::Unasked),
            // No connection to a server could be made, or too many questions are under way: nobody was asked.
            NetError::NoConnections | NetError::Busy => {
                Self::Unasked(lacking().unwrap_or(Trouble::ResolverUnavailable))
            }
            _ => Self::Servfail,
        }
    }

    const fn of_code(code: ResponseCode) -> Self {
        match code {
            ResponseCode::NXDomain => Self::Nxdomain,
            ResponseCode::NoError => Self::NoRecords,
            _ => Self::Servfail,
        }
    }
}

impl From<Absence> for Stop {
    fn from(absence: Absence) -> Self {
        let (code, message) = match absence {
            Absence::NoRecords => (ErrorCode::DnsNoRecords, "The name has no address"),
            Absence::Servfail => (ErrorCode::DnsServfail, "The name server failed or refused"),
            Absence::Silence => (ErrorCode::DnsTimeout, "The name servers did not answer in time"),
            Absence::Unasked(trouble) => return Self::Trouble(trouble),
            Absence::Nxdomain => (ErrorCode::DnsNxdomain, "The name does not exist"),
        };
        Failure::new(code, message).into()
    }
}

async fn lagging<T>(family: impl Future<Output = Result<T, Absence>>, patient: bool) -> Result<T, Absence> {
    if patient { family.await } else { timeout(FAMILY_LAG, family).await.unwrap_or(Err(Absence::Silence)) }
}

/// Returns what this process lacks for asking anything; `None` when it can open a socket.
fn lacking() -> Option<Trouble> {
    let any = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
    std::net::UdpSocket::bind(any).err().as_ref().and_then(trouble)
}

fn address_of(server: &NameServerConfig) -> SocketAddr {
    let port = server.connections.first().map_or(53, |connection| connection.port);
    SocketAddr::new(server.ip, port)
}
