//! Staggered connection attempts to several addresses of one host.
//!
//! The next address is tried when the previous one fails or is slow (RFC 8305), so a dead family costs a
//! quarter of a second.
//! The caller determines the order and the total timeout.

use std::io;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{EgressGate, PermittedAddress};

/// The time that one address may be silent before the next one is tried as well.
const HEAD_START: Duration = Duration::from_millis(250);

impl EgressGate {
    /// Dials the candidates, staggered; the first open connection wins, the others are dropped. `None` when all have
    /// failed; each failure is passed to `lost`.
    pub(crate) async fn race(
        &self,
        candidates: &[PermittedAddress],
        port: u16,
        mut lost: impl FnMut(PermittedAddress, &io::Error),
    ) -> Option<(TcpStream, PermittedAddress)> {
        let dial = |pinned: PermittedAddress| async move { (pinned, self.connect(pinned, port).await) };
        let mut waiting = candidates.iter().copied();
        let mut running: FuturesUnordered<_> = waiting.next().map(dial).into_iter().collect();
        let mut next_start = Instant::now() + HEAD_START;
        loop {
            tokio::select! {
                biased;
                Some((pinned, result)) = running.next() => match result {
                    Ok(stream) => return Some((stream, pinned)),
                    Err(error) => lost(pinned, &error),
                },
                () = tokio::time::sleep_until(next_start), if waiting.len() > 0 => {}
                else => return None,
            }
            if let Some(next) = waiting.next() {
                running.push(dial(next));
                next_start = Instant::now() + HEAD_START;
            }
        }
    }
}
