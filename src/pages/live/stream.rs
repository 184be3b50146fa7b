//! The body of a response with live events of a page, or of the console.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::pages::live::fragments::RELOAD;
use crate::pages::live::live_seats::LiveSeat;

/// Longest time without an event, after which one is sent that says nothing: proxies keep the connection, and the browser
/// notices a dead one.
const HEARTBEAT: Duration = Duration::from_secs(20);
const ALIVE: &str = "event: alive\ndata:\n\n";
/// Milliseconds after which a browser connects again.
const RECONNECT_MS: RangeInclusive<u64> = 3_000..=10_000;

/// A browser that has a page open.
#[derive(Debug)]
pub struct LiveListener {
    events: Receiver<Bytes>,
    /// The first event; taken when it was sent.
    hello: Option<Bytes>,
    /// Takes room until the stream ends.
    _seat: LiveSeat,
}

impl LiveListener {
    /// Creates the listener of a page with this revision. The first event tells the revision, so that the browser can see
    /// whether the page has changed since it was loaded. After a break browsers connect again within 3 to 10 seconds, not all
    /// at the same time.
    #[must_use]
    pub fn new(events: Receiver<Bytes>, revision: &str, seat: LiveSeat) -> Self {
        let wait_ms = RECONNECT_MS.start()
            + RandomState::new().hash_one(0) % (RECONNECT_MS.end() - RECONNECT_MS.start());
        let hello = format!("retry: {wait_ms}\nevent: hello\ndata: {revision}\n\n");
        Self { events, hello: Some(hello.into()), _seat: seat }
    }

    /// Returns the next chunk; `None` when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(hello) = self.hello.take() {
            return Some(hello);
        }
        match timeout(HEARTBEAT, self.events.recv()).await {
            Ok(Ok(event)) => Some(event),
            Ok(Err(RecvError::Lagged(_))) => Some(Bytes::from_static(RELOAD.as_bytes())),
            Ok(Err(RecvError::Closed)) => None,
            Err(_) => Some(Bytes::from_static(ALIVE.as_bytes())),
        }
    }
}

/// Returns the chunks of a stream.
pub fn events(listener: LiveListener) -> impl Stream<Item = Bytes> + 'static {
    unfold(listener, |mut listener| async move {
        let chunk = listener.next().await?;
        Some((chunk, listener))
    })
}
