//! The sockets on which the server accepts connections: one for each address family.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use nix::errno::Errno;
use socket2::{Domain, Protocol, Socket, Type};

use crate::config::listen_address::ListenAddress;

/// The sockets of a server.
#[derive(Debug, Default)]
pub struct ServerSockets {
    /// For the API and the status pages, in plain HTTP.
    pub plain: Vec<TcpListener>,
    /// For HTTPS, with the certificates of custom domains; empty if none are obtained.
    pub https: Vec<TcpListener>,
    /// For HTTP at the public port, which redirects to HTTPS; empty if there is none.
    pub http: Vec<TcpListener>,
}

/// Maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 1_024;

/// The server cannot listen on an address; includes advice where the reason is known.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {wanted}{}", advice(problem.kind()))]
pub struct ListenError {
    wanted: ListenAddress,
    #[source]
    problem: io::Error,
}

const fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::AddrInUse => "; is another Watchkeeper running?",
        ErrorKind::AddrNotAvailable => {
            "; no interface of this machine has this address: use one that it has, localhost or *"
        }
        ErrorKind::PermissionDenied => "; this user may not use this port: choose one from 1024 on",
        _ => "",
    }
}

/// Listens on an address, with both address families if it stands for both and the machine has both.
///
/// # Errors
/// When an address is in use, or does not belong to this machine.
pub fn listen_on(wanted: ListenAddress) -> Result<Vec<TcpListener>, ListenError> {
    open_sockets(wanted).map_err(|problem| ListenError { wanted, problem })
}

fn open_sockets(wanted: ListenAddress) -> io::Result<Vec<TcpListener>> {
    let first = TcpListener::bind(wanted.address())?;
    // The system may have chosen the port, which both families have to share.
    let wanted = wanted.with_port(first.local_addr()?.port());
    let mut listeners = vec![first];
    match wanted.second_address().map(listen_on_ipv6_alone) {
        None => {}
        Some(Ok(second)) => listeners.push(second),
        Some(Err(error)) if is_without_ipv6(&error) => {
            tracing::info!(address = %wanted, "no IPv6 on this machine; listening on IPv4 only");
        }
        Some(Err(error)) => return Err(error),
    }
    Ok(listeners)
}

/// Opens a socket for IPv6 only, since the other socket listens on the same port of IPv4.
fn listen_on_ipv6_alone(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_only_v6(true)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn is_without_ipv6(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(Errno::EAFNOSUPPORT as i32)
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use rstest::rstest;

    use super::*;

    /// On a machine with both address families, both are served on one port.
    #[rstest]
    fn both_families_are_listened_on(#[values("localhost:0", "*:0")] text: &str) {
        let listeners = listen_on(text.parse().unwrap()).unwrap();
        let port = listeners[0].local_addr().unwrap().port();
        TcpStream::connect(("127.0.0.1", port)).unwrap();
        if listeners.len() == 2 {
            TcpStream::connect(("::1", port)).unwrap();
        }
        assert_eq!(listeners.len() == 2, TcpListener::bind("[::1]:0").is_ok());
    }

    #[test]
    fn an_address_alone_is_one_socket_and_a_taken_one_is_refused() {
        let first = listen_on("127.0.0.1:0".parse().unwrap()).unwrap();
        assert_eq!(first.len(), 1);
        let taken = ListenAddress::from(first[0].local_addr().unwrap());
        let refused = listen_on(taken).unwrap_err();
        assert_eq!(refused.problem.kind(), ErrorKind::AddrInUse);
        assert_eq!(refused.to_string(), format!("cannot listen on {taken}; is another Watchkeeper running?"));
    }

    /// 203.0.113.0/24 is reserved for documentation (RFC 5737), so no machine has this address.
    #[test]
    fn an_address_of_another_machine_is_refused_as_that() {
        let refused = listen_on("203.0.113.5:8080".parse().unwrap()).unwrap_err().to_string();
        assert!(
            refused.starts_with("cannot listen on 203.0.113.5:8080; no interface of this machine"),
            "{refused}"
        );
    }
}
