//! A TCP socket for probes: an optional source address, closed without `TIME_WAIT`.
//!
//! The gate decides which addresses may be dialled.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpStream;

/// Opens a connection. One that is open at once, such as to this machine itself, is not waited for.
pub(super) async fn connect(to: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    if let Some(source) = source {
        // Leaves the choice of the port to `connect`, which may reuse one for another destination: a source address then allows
        // 28,000 connections to each target, not 28,000 in total.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    let is_open = match socket.connect(&to.into()) {
        Ok(()) => true,
        Err(error) if error.raw_os_error().map(Errno::from_raw) == Some(Errno::EINPROGRESS) => false,
        Err(error) => return Err(error),
    };
    let stream = TcpStream::from_std(socket.into())?;
    if !is_open {
        stream.writable().await?;
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
    }
    Ok(stream)
}

pub(super) fn close_by_reset(stream: &TcpStream) {
    // A socket that refuses the option is closed in the usual way.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
