//! Audiences: listeners with the same visibility and filter. Each event is rendered once for all of them.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast;

use crate::events::fact::{Fact, Origin};

/// An event cannot be rendered, because a database does not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotTold(pub String);

/// The rendered events of an audience.
pub type Words<'a> = Pin<Box<dyn Future<Output = Result<Vec<Told>, NotTold>> + 'a>>;

/// Renders facts for an audience: omits those that it may not see or does not want.
pub trait Tell: Send + Sync {
    /// Renders these facts, all of the audience's organisation, in their order.
    fn tell<'a>(&'a self, facts: &'a [Fact]) -> Words<'a>;

    /// Returns true if results are wanted.
    fn wants_results(&self) -> bool;
}

/// A rendered event.
#[derive(Clone, Debug)]
pub struct Told {
    /// The identity of the fact.
    pub origin: Origin,
    /// Its text, in the lines of the stream.
    pub text: String,
}

/// The events of an audience that are sent together.
#[derive(Debug, Default)]
pub struct Round {
    bytes: Bytes,
    parts: Vec<(Origin, Range<usize>)>,
}

impl Round {
    fn of(told: Vec<Told>) -> Self {
        let (mut text, mut parts) = (String::new(), Vec::with_capacity(told.len()));
        for one in told {
            let start = text.len();
            text.push_str(&one.text);
            parts.push((one.origin, start..text.len()));
        }
        Self { bytes: text.into(), parts }
    }

    /// Number of events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.parts.len()
    }

    /// Returns all events.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Returns the wanted events, and their number.
    pub fn only(&self, is_wanted: impl Fn(&Origin) -> bool) -> (Bytes, usize) {
        let wanted = self.parts.iter().filter(|(origin, _)| is_wanted(origin));
        let (mut text, mut count) = (Vec::new(), 0);
        for (_, range) in wanted {
            text.extend_from_slice(&self.bytes[range.clone()]);
            count += 1;
        }
        (text.into(), count)
    }
}

/// Listeners that receive the same events.
pub struct Audience {
    /// Database key of its organisation.
    pub(super) organisation: i64,
    teller: Box<dyn Tell>,
    rounds: broadcast::Sender<Option<Arc<Round>>>,
}

impl Audience {
    pub(super) fn new(organisation: i64, teller: Box<dyn Tell>, rounds_waiting: usize) -> Self {
        Self { organisation, teller, rounds: broadcast::Sender::new(rounds_waiting.max(1)) }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Option<Arc<Round>>> {
        self.rounds.subscribe()
    }

    /// Renders facts for a single listener.
    ///
    /// # Errors
    /// When a database does not answer.
    pub async fn words(&self, facts: &[Fact]) -> Result<Vec<Told>, NotTold> {
        self.teller.tell(facts).await
    }

    /// Publishes these facts, without waiting for slow listeners.
    pub(super) async fn tell(&self, facts: &[Fact]) {
        match self.words(facts).await {
            // The last listener may be gone.
            Ok(told) if !told.is_empty() => drop(self.rounds.send(Some(Arc::new(Round::of(told))))),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "events cannot be told; whoever listens has to come again");
                self.cut_off();
            }
        }
    }

    /// Returns true if the listeners want results.
    pub(super) fn wants_results(&self) -> bool {
        self.rounds.receiver_count() > 0 && self.teller.wants_results()
    }

    /// Ends the streams of all listeners, which read missed events when they reconnect.
    pub(super) fn cut_off(&self) {
        drop(self.rounds.send(None));
    }
}
