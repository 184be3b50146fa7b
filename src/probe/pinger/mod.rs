//! The ICMP sockets of one location, shared by all its checks.
//!
//! Every runtime has its own socket per family, opened when it pings for the first time, and one task that reads it.
//! So a reply wakes a task of the thread that received it: no reader thread, no wake-up across threads, and the
//! socket filter keeps the other runtimes' replies out. Pacing is for the location as a whole.

mod echo;
mod pace;
mod socket;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, Id};
use tokio::task::AbortHandle;

use pace::PacketPacer;
use socket::IcmpSocket;

pub(super) use echo::AddressFamily;
pub(super) use socket::ExpectedReply;
pub use socket::is_permitted;

/// The ICMP sockets of one location.
#[derive(Debug)]
pub(crate) struct Pinger {
    source: Option<IpAddr>,
    pace: PacketPacer,
    sockets: Mutex<HashMap<(Id, AddressFamily), OpenSocket>>,
}

/// A socket and the task that reads it.
#[derive(Debug)]
struct OpenSocket {
    socket: Arc<IcmpSocket>,
    listener: AbortHandle,
}

impl Pinger {
    /// Creates a pinger without opening sockets: a location without ICMP checks needs no privilege. `source` is the local
    /// address of requests of its family.
    pub(crate) fn new(source: Option<IpAddr>) -> Self {
        Self { source, pace: PacketPacer::new(), sockets: Mutex::default() }
    }

    pub(super) const fn pace(&self) -> &PacketPacer {
        &self.pace
    }

    /// Returns the current runtime's socket for a family. A failure is not cached: it may be temporary.
    pub(super) fn socket(&self, family: AddressFamily) -> io::Result<Arc<IcmpSocket>> {
        let runtime = Handle::current();
        let key = (runtime.id(), family);
        let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = sockets.get(&key) {
            return Ok(Arc::clone(&open.socket));
        }
        // Remove the sockets of runtimes that have ended.
        sockets.retain(|_, open| !open.listener.is_finished());
        let source = self.source.filter(|source| source.is_ipv4() == (family == AddressFamily::V4));
        let socket = Arc::new(IcmpSocket::open(family, source)?);
        let reader = Arc::clone(&socket);
        let listener = runtime.spawn(async move { reader.listen().await }).abort_handle();
        let open = OpenSocket { socket: Arc::clone(&socket), listener };
        sockets.insert(key, open);
        Ok(socket)
    }
}

impl Drop for Pinger {
    fn drop(&mut self) {
        let sockets = self.sockets.get_mut().unwrap_or_else(PoisonError::into_inner);
        for open in sockets.values() {
            open.listener.abort();
        }
    }
}

/// Sends one echo request and waits for the reply to it, without a timeout. The port of `to` is 0.
///
/// # Errors
/// An error of the operating system; echo requests may not be permitted.
pub(crate) async fn echo(pinger: &Pinger, to: SocketAddr) -> io::Result<()> {
    let family = if to.is_ipv4() { AddressFamily::V4 } else { AddressFamily::V6 };
    let socket = pinger.socket(family)?;
    let _ = socket.send(to).await?.round_trip().await;
    Ok(())
}
