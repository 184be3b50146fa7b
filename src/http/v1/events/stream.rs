//! The body of the response: first missed events, then live ones, and heartbeats in between.
//!
//! Chunks are bounded, and the next chunk is built only when the previous one has been sent. So a connection holds little in
//! memory.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use tokio::time::Instant;

use crate::events::EventSubscriber;
use crate::events::subscription::EventBatch;
use crate::http::v1::events::missed_events::{MissedEvents, MissedPage};
use crate::http::v1::events::position::EventIdCodec;

/// Longest time without an event, after which a heartbeat is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Largest chunk in bytes.
const CHUNK: usize = 64 * 1_024;
/// Time after the replay during which live events may repeat replayed ones.
const REPEATS: Duration = Duration::from_secs(60);
/// Tells clients to reconnect after 2000 ms. The comment makes proxies send the head of the response at once.
const GREETING: &str = "retry: 2000\n: listening\n\n";

struct SubscriberStream {
    subscriber: EventSubscriber,
    positions: EventIdCodec,
    missed: Option<MissedEvents>,
    is_missing: bool,
    repeats_until: Option<Instant>,
    left: Bytes,
}

/// Returns the chunks of a stream.
pub(super) fn events(
    subscriber: EventSubscriber,
    positions: EventIdCodec,
    missed: Option<MissedEvents>,
) -> impl Stream<Item = Bytes> + 'static {
    let is_missing = missed.is_some();
    let left = Bytes::new();
    let mut live = SubscriberStream { subscriber, positions, missed, is_missing, repeats_until: None, left };
    let begun = if is_missing { Bytes::new() } else { live.heartbeat() };
    live.left = [GREETING.as_bytes(), &begun].concat().into();
    unfold(live, |mut live| async move {
        let chunk = live.next().await?;
        Some((chunk, live))
    })
}

impl SubscriberStream {
    /// Returns the next chunk; `None` when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        while self.left.is_empty() {
            self.left = if self.is_missing { self.next_missed().await? } else { self.next_live().await? };
        }
        if self.subscriber.is_over() {
            return None;
        }
        Some(self.left.split_to(self.left.len().min(CHUNK)))
    }

    /// Returns the text of the next missed events, which may be empty; `None` when the stream has to end.
    async fn next_missed(&mut self) -> Option<Bytes> {
        let Self { subscriber, positions, missed, .. } = self;
        let page = async {
            let _turn = subscriber.hub().acquire_replay_permit().await;
            match missed {
                Some(missed) => missed.next(subscriber.audience(), positions, subscriber.settled()).await,
                None => Ok(None),
            }
        };
        let page = tokio::select! {
            biased;
            () = subscriber.over() => return None,
            page = page => page,
        };
        match page {
            Ok(Some(MissedPage { text, events })) => {
                self.subscriber.hub().note_sent(events);
                Some(text.into())
            }
            Ok(None) => {
                if let Some(missed) = &mut self.missed
                    && self.subscriber.skip_if_behind()
                {
                    missed.restart();
                    return Some(Bytes::new());
                }
                self.is_missing = false;
                self.repeats_until = Some(Instant::now() + REPEATS);
                Some(Bytes::new())
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read missed events; the subscriber must reconnect");
                None
            }
        }
    }

    /// Returns the next batch of live events, or a heartbeat if there is none for a long time.
    async fn next_live(&mut self) -> Option<Bytes> {
        match tokio::time::timeout(HEARTBEAT, self.subscriber.next()).await {
            Ok(round) => Some(self.render_round(&*round?)),
            Err(_) => Some(self.heartbeat()),
        }
    }

    fn render_round(&mut self, round: &EventBatch) -> Bytes {
        if self.repeats_until.is_some_and(|until| Instant::now() > until) {
            self.missed = None;
        }
        let (bytes, events) = match &self.missed {
            Some(missed) => round.select_events(|origin| missed.is_new(origin)),
            None => (round.bytes(), round.events()),
        };
        self.subscriber.hub().note_sent(events);
        bytes
    }

    /// Returns a comment with the client's position, so that a quiet stream can be resumed as well.
    fn heartbeat(&self) -> Bytes {
        match self.subscriber.delivered_cursor() {
            Some(cursor) => format!(": alive\nid: {}\n\n", self.positions.id(cursor)).into(),
            None => Bytes::from_static(b": alive\n\n"),
        }
    }
}
