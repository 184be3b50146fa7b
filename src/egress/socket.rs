//! A TCP socket as probes need it: no delay for small writes, an optional source address, closed without a trace.
//!
//! Which address may be dialled is the gate's decision, not made here.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use socket2::SockRef;
use tokio::net::{TcpSocket, TcpStream};

pub(super) async fn connect(to: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = if to.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    socket.set_nodelay(true)?;
    if let Some(source) = source {
        // Leaves the choice of the port to `connect`, which may reuse one towards another destination: a source
        // address is good for 28,000 connections to each target, not for 28,000 in all.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        socket.bind(SocketAddr::new(source, 0))?;
    }
    socket.connect(to).await
}

pub(super) fn close_by_reset(stream: &TcpStream) {
    // A socket that refuses the option is closed the usual way.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
