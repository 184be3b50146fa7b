//! From the name of a host to its addresses, of both families, IPv6 and IPv4 alternating.
//!
//! The hosts file is read first, then the name servers are asked; answers are cached for their TTL. The egress
//! gate judges the addresses later.

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RecordType};
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use tokio::time::timeout;

use super::failure::{ExchangeFailure, NameFault};
use crate::egress::{NameFiles, SystemNames, addresses, find_in_hosts, local_fault};
use crate::model::check::LocalFault;

/// The time that one family may lag behind the other, once the other has addresses.
const FAMILY_LAG: Duration = Duration::from_millis(500);
/// Maximum number of cached answers.
const CACHED: u64 = 4_096;

/// Name resolution of the client.
pub(super) struct HostResolver(SystemNames);

impl HostResolver {
    pub(super) fn new(servers: &[SocketAddr]) -> Result<Self, NetError> {
        Ok(Self(SystemNames::new(servers, NameFiles::default(), CACHED)?))
    }

    /// Returns the addresses of a host, at least one. A literal address is returned as it is.
    pub(super) async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, ExchangeFailure> {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(host).parse() {
            return Ok(vec![address]);
        }
        let mut name = Name::from_ascii(host).map_err(|_| ExchangeFailure::Name(NameFault::NoSuchName))?;
        name.set_fqdn(true); // The system's search list is not for hosts of others.
        let (v6, v4) = match find_in_hosts(&self.0.current().hosts, &name) {
            Some(known) => known,
            None => self.families(&name).await?,
        };
        let turns = v6.len().max(v4.len());
        Ok((0..turns).flat_map(|turn| [v6.get(turn), v4.get(turn)]).flatten().copied().collect())
    }

    async fn families(&self, name: &Name) -> Result<(Vec<IpAddr>, Vec<IpAddr>), ExchangeFailure> {
        let v6 = pin!(self.family(name, RecordType::AAAA));
        let v4 = pin!(self.family(name, RecordType::A));
        let (v6, v4) = match select(v6, v4).await {
            Either::Left((v6, v4)) => {
                let has_some = v6.is_ok();
                (v6, limit_lag(v4, has_some).await)
            }
            Either::Right((v4, v6)) => {
                let has_some = v4.is_ok();
                (limit_lag(v6, has_some).await, v4)
            }
        };
        match (v6, v4) {
            (Err(ExchangeFailure::Name(v6)), Err(ExchangeFailure::Name(v4))) => {
                Err(ExchangeFailure::Name(v6.max(v4)))
            }
            (Err(ExchangeFailure::Name(_)), Err(other)) | (Err(other), Err(_)) => Err(other),
            (v6, v4) => Ok((v6.unwrap_or_default(), v4.unwrap_or_default())),
        }
    }

    async fn family(&self, name: &Name, record: RecordType) -> Result<Vec<IpAddr>, ExchangeFailure> {
        let names = self.0.current();
        let found =
            names.resolver.lookup(name.clone(), record).await.map_err(|error| failure_from(&error))?;
        let found = addresses(&found);
        if found.is_empty() { Err(ExchangeFailure::Name(NameFault::NoAddress)) } else { Ok(found) }
    }
}

async fn limit_lag<T>(
    family: impl Future<Output = Result<T, ExchangeFailure>>,
    has_other: bool,
) -> Result<T, ExchangeFailure> {
    if has_other {
        timeout(FAMILY_LAG, family).await.unwrap_or(Err(ExchangeFailure::Name(NameFault::Silence)))
    } else {
        family.await
    }
}

fn failure_from(error: &NetError) -> ExchangeFailure {
    let of_code = |code| match code {
        ResponseCode::NXDomain => NameFault::NoSuchName,
        ResponseCode::NoError => NameFault::NoAddress,
        _ => NameFault::ServerFailed,
    };
    match error {
        NetError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
            ExchangeFailure::Name(of_code(*response_code))
        }
        NetError::Dns(DnsError::ResponseCode(code)) => ExchangeFailure::Name(of_code(*code)),
        NetError::Timeout => ExchangeFailure::Name(NameFault::Silence),
        NetError::Io(error) => {
            local_fault(error).map_or(ExchangeFailure::Name(NameFault::Silence), ExchangeFailure::Ours)
        }
        NetError::NoConnections | NetError::Busy => ExchangeFailure::Ours(LocalFault::ResolverUnavailable),
        _ => ExchangeFailure::Name(NameFault::ServerFailed),
    }
}
