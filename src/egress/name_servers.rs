//! The configuration of name resolution: the servers that the operator names, or the system's.
//!
//! How long to wait, and what to keep, is for whoever resolves. The hosts file is left out: it is asked first, for
//! both families at once, by [`known_to_hosts`].

use std::net::{IpAddr, SocketAddr};

use hickory_proto::op::Query;
use hickory_proto::rr::{Name, RecordType};
use hickory_resolver::Hosts;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;

/// Returns how to ask `servers` (over UDP, then TCP), or the system's when there are none.
///
/// # Errors
/// When the system's configuration cannot be read.
pub(crate) fn name_servers(servers: &[SocketAddr]) -> Result<(ResolverConfig, ResolverOpts), NetError> {
    let (config, mut options) = if servers.is_empty() {
        hickory_resolver::system_conf::read_system_conf()?
    } else {
        let servers = servers.iter().map(|address| name_server(*address)).collect();
        (ResolverConfig::from_parts(None, Vec::new(), servers), ResolverOpts::default())
    };
    options.use_hosts_file = ResolveHosts::Never;
    // Some servers refuse questions with EDNS or do not answer them (RFC 6891, section 7), and addresses fit without;
    // glibc leaves it out as well. What is longer comes over TCP.
    options.edns0 = false;
    Ok((config, options))
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let connections = [ProtocolConfig::Udp, ProtocolConfig::Tcp].map(|protocol| {
        let mut connection = ConnectionConfig::new(protocol);
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// The addresses of a name in the hosts file, IPv6 and IPv4; `None` when it is not there. A name that is there is
/// never asked for, not even its missing family.
pub(crate) fn known_to_hosts(hosts: &Hosts, name: &Name) -> Option<(Vec<IpAddr>, Vec<IpAddr>)> {
    let of = |record: RecordType| {
        let query = Query::query(name.clone(), record);
        hosts.lookup_static_host(&query).map(|lookup| addresses(&lookup))
    };
    match (of(RecordType::AAAA), of(RecordType::A)) {
        (None, None) => None,
        (v6, v4) => Some((v6.unwrap_or_default(), v4.unwrap_or_default())),
    }
}

/// The addresses in an answer.
pub(crate) fn addresses(lookup: &Lookup) -> Vec<IpAddr> {
    lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect()
}
