//! From names to addresses: the hosts file, then the configured or the system's name servers; answers are cached for
//! their TTL.
//!
//! Distinguishes the target's trouble (no such name, a failing zone) from our own (name servers that do not
//! answer). The egress gate decides whether an address may be connected to. DNS checks do not use this module:
//! they ask the servers themselves.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, FusedFuture, select};
use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use tokio::time::{Instant, timeout, timeout_at};

use crate::egress::{NameFiles, SystemNames, addresses, find_in_hosts, local_fault};
use crate::model::check::{CheckFailure, ErrorCode, LocalFault};
use crate::probe::abort::ProbeAbort;
use crate::probe::silence::SilenceCheck;
use crate::probe::spec::IpVersion;

/// The time that the slower family may lag behind the first answer (RFC 8305, section 3).
const FAMILY_LAG: Duration = Duration::from_millis(50);
/// A lookup without an answer for this long raises doubt about the servers themselves.
const DOUBT_AFTER: Duration = Duration::from_secs(1);
/// The time for the canary questions when the lookup itself ended early.
const CANARY_WAIT: Duration = Duration::from_millis(500);
/// Maximum number of cached answers.
const CACHED: u64 = 16_384;

/// Error text for an unreadable answer.
pub(crate) const UNREADABLE: &str = "The name server's answer cannot be read";

/// Name resolution of one location.
pub struct Resolver {
    names: SystemNames,
}

/// The addresses of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedAddresses {
    /// IPv6 addresses in the order of the answer.
    pub v6: Vec<IpAddr>,
    /// IPv4 addresses in the order of the answer.
    pub v4: Vec<IpAddr>,
}

/// The reasons why there are no addresses. If both address families fail, the later variant takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LookupFailure {
    NoRecords,
    Servfail,
    /// A server sent an unreadable answer.
    Unreadable,
    Silence,
    /// The question could not even be asked.
    Unasked(LocalFault),
    Nxdomain,
}

impl Resolver {
    /// Creates a resolver that asks `servers` or, if there are none, the name servers that `files` currently
    /// list.
    pub fn new(servers: &[SocketAddr], files: NameFiles) -> Result<Self, NetError> {
        Ok(Self { names: SystemNames::new(servers, files, CACHED)? })
    }

    /// Returns the current name servers, in the configured order.
    #[must_use]
    pub fn servers(&self) -> Arc<[SocketAddr]> {
        Arc::clone(&self.names.current().servers)
    }

    /// Returns the addresses of `name`, at least one. With `both`, waits for a slow address family too.
    pub(crate) async fn lookup(
        &self,
        name: &Name,
        version: IpVersion,
        both: bool,
        deadline: Instant,
    ) -> Result<ResolvedAddresses, ProbeAbort> {
        if let Some(found) = self.known_to_hosts(name, version) {
            return Ok(found);
        }
        let asked = async {
            match self.ask(name, version, both).await {
                Err(LookupFailure::Silence) => None,
                answer => Some(answer),
            }
        };
        Ok(self.await_answer(|| questions(name, version), deadline, asked).await??)
    }

    /// Waits until `deadline` for the answer of name servers; `None` from `asked` means that no server
    /// answered. In that case, sends the questions `about_name` to find out whether the servers or the name are
    /// at fault.
    pub(crate) async fn await_answer<T>(
        &self,
        about_name: impl FnOnce() -> Vec<Vec<u8>>,
        deadline: Instant,
        asked: impl Future<Output = Option<T>>,
    ) -> Result<T, ProbeAbort> {
        let left = deadline.saturating_duration_since(Instant::now());
        let doubt_at = deadline - left + DOUBT_AFTER.min(left / 4);
        let mut asked = pin!(timeout_at(deadline, asked));
        let early = match timeout_at(doubt_at, asked.as_mut()).await {
            Ok(Ok(Some(answer))) => return Ok(answer),
            answer => answer,
        };
        let servers = self.servers();
        let silence = SilenceCheck::new(&servers, about_name()).map_err(|_| unasked())?;
        let answers_until = deadline.min(Instant::now() + CANARY_WAIT);
        let mut listened = pin!(silence.run().fuse());
        if early.is_err() {
            let answer = match select(asked, listened.as_mut()).await {
                Either::Left((answer, _)) => answer,
                Either::Right(((), asked)) => asked.await,
            };
            if let Ok(Some(answer)) = answer {
                return Ok(answer);
            }
        }
        if let Some(trouble) = find_local_fault() {
            return Err(ProbeAbort::Trouble(trouble));
        }
        if !listened.is_terminated() {
            // The timeout itself does not matter: the received answers decide.
            let _ = timeout_at(answers_until, listened).await;
        }
        Err(if silence.is_of_name() { LookupFailure::Silence.into() } else { unasked() })
    }

    /// Returns the addresses of a name in the hosts file. For such a name no server is asked, not even for a
    /// missing family.
    fn known_to_hosts(&self, name: &Name, version: IpVersion) -> Option<ResolvedAddresses> {
        let (v6, v4) = find_in_hosts(&self.names.current().hosts, name)?;
        let found = ResolvedAddresses {
            v6: if version == IpVersion::Ipv4 { Vec::new() } else { v6 },
            v4: if version == IpVersion::Ipv6 { Vec::new() } else { v4 },
        };
        (!found.v6.is_empty() || !found.v4.is_empty()).then_some(found)
    }

    /// Returns the addresses of a name in the hosts file, of both families; `None` if the file has none.
    pub(crate) fn in_hosts_file(&self, name: &Name) -> Option<Vec<IpAddr>> {
        let found = self.known_to_hosts(name, IpVersion::Auto)?;
        Some(found.v6.into_iter().chain(found.v4).collect())
    }

    async fn ask(
        &self,
        name: &Name,
        version: IpVersion,
        both: bool,
    ) -> Result<ResolvedAddresses, LookupFailure> {
        match version {
            IpVersion::Ipv4 => self.family(name, RecordType::A).await.map(ResolvedAddresses::of_v4),
            IpVersion::Ipv6 => self.family(name, RecordType::AAAA).await.map(ResolvedAddresses::of_v6),
            IpVersion::Auto => self.families(name, both).await,
        }
    }

    async fn families(&self, name: &Name, both: bool) -> Result<ResolvedAddresses, LookupFailure> {
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
            (v6, v4) => Ok(ResolvedAddresses { v6: v6.unwrap_or_default(), v4: v4.unwrap_or_default() }),
        }
    }

    async fn family(&self, name: &Name, record: RecordType) -> Result<Vec<IpAddr>, LookupFailure> {
        let answer = self.names.current().resolver.lookup(name.clone(), record).await;
        let found = answer.map_err(|error| LookupFailure::of(&error))?;
        let found = addresses(&found);
        if found.is_empty() { Err(LookupFailure::NoRecords) } else { Ok(found) }
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("servers", &self.servers()).finish_non_exhaustive()
    }
}

impl ResolvedAddresses {
    const fn of_v4(v4: Vec<IpAddr>) -> Self {
        Self { v6: Vec::new(), v4 }
    }

    const fn of_v6(v6: Vec<IpAddr>) -> Self {
        Self { v6, v4: Vec::new() }
    }
}

impl LookupFailure {
    fn of(error: &NetError) -> Self {
        match error {
            NetError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
                Self::of_code(*response_code)
            }
            NetError::Dns(DnsError::ResponseCode(code)) => Self::of_code(*code),
            NetError::Timeout => Self::Silence,
            NetError::Io(error) => local_fault(error).map_or(Self::Silence, Self::Unasked),
            // No connection to a server could be opened, or too many questions are pending: no server was asked.
            NetError::NoConnections | NetError::Busy => {
                Self::Unasked(find_local_fault().unwrap_or(LocalFault::ResolverUnavailable))
            }
            NetError::Dns(_) => Self::Servfail,
            NetError::Proto(_) => Self::Unreadable,
            // The error of hickory-resolver when none of its tries has completed.
            _ => Self::Silence,
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

impl From<LookupFailure> for ProbeAbort {
    fn from(absence: LookupFailure) -> Self {
        let (code, message) = match absence {
            LookupFailure::NoRecords => (ErrorCode::DnsNoRecords, "The name has no address"),
            LookupFailure::Servfail => (ErrorCode::DnsServfail, "The name server failed or refused"),
            LookupFailure::Unreadable => (ErrorCode::DnsServfail, UNREADABLE),
            LookupFailure::Silence => (ErrorCode::DnsTimeout, "The name servers did not answer in time"),
            LookupFailure::Unasked(trouble) => return Self::Trouble(trouble),
            LookupFailure::Nxdomain => (ErrorCode::DnsNxdomain, "The name does not exist"),
        };
        CheckFailure::new(code, message).into()
    }
}

/// Returns the questions about a name in wire format.
fn questions(name: &Name, version: IpVersion) -> Vec<Vec<u8>> {
    let records: &[RecordType] = match version {
        IpVersion::Ipv4 => &[RecordType::A],
        IpVersion::Ipv6 => &[RecordType::AAAA],
        IpVersion::Auto => &[RecordType::A, RecordType::AAAA],
    };
    let question = |record: &RecordType| {
        let mut message = Message::query();
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(name.clone(), *record));
        message.to_vec().ok()
    };
    records.iter().filter_map(question).collect()
}

/// The trouble of this process when name servers cannot be asked or do not answer.
const fn unasked() -> ProbeAbort {
    ProbeAbort::Trouble(LocalFault::ResolverUnavailable)
}

async fn lagging<T>(
    family: impl Future<Output = Result<T, LookupFailure>>,
    patient: bool,
) -> Result<T, LookupFailure> {
    if patient {
        family.await
    } else {
        timeout(FAMILY_LAG, family).await.unwrap_or(Err(LookupFailure::Silence))
    }
}

/// Returns the resource that this process lacks for sending questions; `None` when it can open a socket.
fn find_local_fault() -> Option<LocalFault> {
    let any = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
    std::net::UdpSocket::bind(any).err().as_ref().and_then(local_fault)
}

#[cfg(test)]
mod tests {
    use tokio::net::UdpSocket;

    use super::*;

    fn name(text: &str) -> Name {
        Name::from_ascii(text).unwrap()
    }

    /// The server answers once, after all queries have arrived, and then dies: the answer is read after the
    /// other query was sent, but is no evidence about a silent name or server.
    #[tokio::test]
    async fn a_response_to_an_older_query_is_ignored() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let resolver = Resolver::new(&[socket.local_addr().unwrap()], NameFiles::default()).unwrap();
        let dies = async {
            let mut datagram = [0; 512];
            let (length, from) = socket.recv_from(&mut datagram).await.unwrap();
            let mut answer = Message::from_vec(&datagram[..length]).unwrap().into_response();
            answer.metadata.response_code = ResponseCode::NXDomain;
            socket.recv_from(&mut datagram).await.unwrap();
            socket.send_to(&answer.to_vec().unwrap(), from).await.unwrap();
        };
        let lookup = |text| {
            let resolver = &resolver;
            async move {
                let deadline = Instant::now() + Duration::from_secs(1);
                resolver.lookup(&name(text), IpVersion::Ipv4, false, deadline).await
            }
        };
        let (first, second, ()) = tokio::join!(lookup("first.test."), lookup("second.test."), dies);
        for stop in [first.unwrap_err(), second.unwrap_err()] {
            let is_held_against_name =
                matches!(&stop, ProbeAbort::Failed(failure) if failure.code == ErrorCode::DnsTimeout);
            assert!(!is_held_against_name, "{stop:?}");
        }
    }
}
