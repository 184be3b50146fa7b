//! The ICMP sockets of one location, shared by all its checks.
//!
//! Every runtime has its own socket per family, opened when it pings for the first time, and one task that reads it.
//! So a reply wakes a task of the thread that received it: no reader thread, no wake-up across threads, and the
//! socket filter keeps the other runtimes' replies out. Pacing is for the location as a whole.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, Id};
use tokio::task::AbortHandle;

use super::echo::AddressFamily;
use super::pace::PacketPacer;
use super::socket::IcmpSocket;

/// The ICMP sockets of one location.
#[derive(Debug)]
pub(crate) struct Pinger {
    source: Option<IpAddr>,
    pace: PacketPacer,
    lanes: Mutex<HashMap<(Id, AddressFamily), OpenSocket>>,
}

/// A socket and the task that reads it.
#[derive(Debug)]
struct OpenSocket {
    lane: Arc<IcmpSocket>,
    listener: AbortHandle,
}

impl Pinger {
    /// Creates a pinger without opening sockets: a location without ICMP checks needs no privilege. `source` is the local
    /// address of requests of its family.
    pub(crate) fn new(source: Option<IpAddr>) -> Self {
        Self { source, pace: PacketPacer::new(), lanes: Mutex::default() }
    }

    pub(super) const fn pace(&self) -> &PacketPacer {
        &self.pace
    }

    /// Returns the current runtime's socket for a family. A failure is not cached: it may be temporary.
    pub(super) fn lane(&self, family: AddressFamily) -> io::Result<Arc<IcmpSocket>> {
        let runtime = Handle::current();
        let key = (runtime.id(), family);
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = lanes.get(&key) {
            return Ok(Arc::clone(&open.lane));
        }
        // Remove the sockets of runtimes that have ended.
        lanes.retain(|_, open| !open.listener.is_finished());
        let source = self.source.filter(|source| source.is_ipv4() == (family == AddressFamily::V4));
        let lane = Arc::new(IcmpSocket::open(family, source)?);
        let reader = Arc::clone(&lane);
        let listener = runtime.spawn(async move { reader.listen().await }).abort_handle();
        let open = OpenSocket { lane: Arc::clone(&lane), listener };
        lanes.insert(key, open);
        Ok(lane)
    }
}

impl Drop for Pinger {
    fn drop(&mut self) {
        let lanes = self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner);
        for open in lanes.values() {
            open.listener.abort();
        }
    }
}
