//! Timestamps of two moments: the last byte of the request sent, the first byte of the response received.
//!
//! Taken at the actual read and write, below the HTTP library, so that no buffering is measured.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::probe::link::ProbeConnection;

/// The timestamps of one exchange, shared between the connection, which the HTTP library owns, and the check.
#[derive(Debug)]
pub(super) struct ExchangeTimestamps {
    base: Instant,
    /// Nanoseconds after `base`; zero while unset.
    sent_ns: AtomicU64,
    first_byte_ns: AtomicU64,
}

impl ExchangeTimestamps {
    pub(super) fn new() -> Self {
        Self { base: Instant::now(), sent_ns: AtomicU64::new(0), first_byte_ns: AtomicU64::new(0) }
    }

    /// Returns the moments at which the request was sent and the response started, once both have happened.
    pub(super) fn response(&self) -> Option<(Instant, Instant)> {
        let first_byte = self.at(&self.first_byte_ns)?;
        Some((self.at(&self.sent_ns).unwrap_or(self.base), first_byte))
    }

    fn at(&self, stamp: &AtomicU64) -> Option<Instant> {
        let ns = stamp.load(Ordering::Relaxed);
        (ns > 0).then(|| self.base + std::time::Duration::from_nanos(ns))
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    fn wrote(&self) {
        // Bytes written after the response has started (window updates of HTTP/2) are not part of the request.
        if self.first_byte_ns.load(Ordering::Relaxed) == 0 {
            self.sent_ns.store(self.now_ns(), Ordering::Relaxed);
        }
    }

    fn read(&self) {
        if self.first_byte_ns.load(Ordering::Relaxed) == 0 {
            self.first_byte_ns.store(self.now_ns(), Ordering::Relaxed);
        }
    }
}

/// A connection with timestamps. Dropping it resets the connection, so that no port is left in `TIME_WAIT`.
#[derive(Debug)]
pub(super) struct TimedConnection {
    link: ProbeConnection,
    stamps: Arc<ExchangeTimestamps>,
}

impl TimedConnection {
    pub(super) const fn new(link: ProbeConnection, stamps: Arc<ExchangeTimestamps>) -> Self {
        Self { link, stamps }
    }
}

impl Drop for TimedConnection {
    fn drop(&mut self) {
        self.link.close_by_reset();
    }
}

impl AsyncRead for TimedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.link).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.stamps.read();
        }
        polled
    }
}

impl AsyncWrite for TimedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.link).poll_write(context, bytes);
        if polled.is_ready() {
            self.stamps.wrote();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.link).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Dropping a plain-text connection resets it, so an orderly end before that would be a needless system
        // call.
        if self.link.is_plain() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.link).poll_shutdown(context)
    }
}
