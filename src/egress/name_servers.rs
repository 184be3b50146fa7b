//! The configuration of name resolution: the operator's servers, or the system's.
//!
//! `system_names` follows changes of the files. The hosts file is not part of this configuration: it is read
//! first, for both families at once, by [`find_in_hosts`].

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use hickory_proto::op::Query;
use hickory_proto::rr::{Name, RecordType};
use hickory_resolver::Hosts;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::system_conf::parse_resolv_conf;

/// Returns the configuration for asking `servers` (over UDP, then TCP), or those in the file `resolv_conf` if there are none.
///
/// # Errors
/// When the file cannot be read, or names no server.
pub(super) fn name_servers(
    servers: &[SocketAddr],
    resolv_conf: &Path,
) -> Result<(ResolverConfig, ResolverOpts), NetError> {
    let (config, mut options) = if servers.is_empty() {
        parse_resolv_conf(std::fs::read(resolv_conf)?)?
    } else {
        let servers = servers.iter().map(|address| name_server(*address)).collect();
        (ResolverConfig::from_parts(None, Vec::new(), servers), ResolverOpts::default())
    };
    options.use_hosts_file = ResolveHosts::Never;
    // Some servers refuse questions with EDNS or do not answer them (RFC 6891, section 7), and addresses fit without;
    // glibc omits it too. Longer answers come over TCP.
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

/// Returns the addresses of a name in the hosts file, IPv6 and IPv4; `None` when it is not listed. No server is asked for a
/// listed name, not even for its missing family.
pub(crate) fn find_in_hosts(hosts: &Hosts, name: &Name) -> Option<(Vec<IpAddr>, Vec<IpAddr>)> {
    let of = |record: RecordType| {
        let query = Query::query(name.clone(), record);
        hosts.lookup_static_host(&query).map(|lookup| addresses(&lookup))
    };
    match (of(RecordType::AAAA), of(RecordType::A)) {
        (None, None) => None,
        (v6, v4) => Some((v6.unwrap_or_default(), v4.unwrap_or_default())),
    }
}

/// Returns the servers to ask: the chosen ones, or those in the system's file.
///
/// # Errors
/// When the file cannot be read, or names no server.
pub(crate) fn configured_name_servers(chosen: &[SocketAddr]) -> Result<Vec<SocketAddr>, NetError> {
    let (config, _) = name_servers(chosen, Path::new("/etc/resolv.conf"))?;
    Ok(config.name_servers().iter().map(address_of).collect())
}

pub(super) fn address_of(server: &NameServerConfig) -> SocketAddr {
    let port = server.connections.first().map_or(53, |connection| connection.port);
    SocketAddr::new(server.ip, port)
}

/// Returns the addresses in an answer.
pub(crate) fn addresses(lookup: &Lookup) -> Vec<IpAddr> {
    lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect()
}
