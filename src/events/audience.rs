//! Those who are told the same: listeners with one sight and one filter. Each event is worded once for all of them.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast;

use crate::events::fact::{Fact, Origin};

/// An event cannot be told, because a database does not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotTold(pub String);

/// The words of facts for one audience.
pub type Words<'a> = Pin<Box<dyn Future<Output = Result<Vec<Told>, NotTold>> + 'a>>;

/// Words facts for an audience: leaves out what it may not see or does not want.
pub trait Tell: Send + Sync {
    /// Words these facts, all of them of the audience's organisation, in their order.
    fn tell<'a>(&'a self, facts: &'a [Fact]) -> Words<'a>;

    /// Returns true if results are wanted.
    fn wants_results(&self) -> bool;
}

/// An event as it is sent.
#[derive(Clone, Debug)]
pub struct Told {
    /// The identity of what it tells.
    pub origin: Origin,
    /// Its lines.
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

    /// The number of events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.parts.len()
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The events that are wanted; how many they are.
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

/// Those who are told the same.
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

    /// Words facts for whoever is told them alone.
    ///
    /// # Errors
    /// When a database does not answer.
    pub async fn words(&self, facts: &[Fact]) -> Result<Vec<Told>, NotTold> {
        self.teller.tell(facts).await
    }

    /// Tells these facts. Whoever is behind is not waited for.
    pub(super) async fn tell(&self, facts: &[Fact]) {
        match self.words(facts).await {
            // It may have lost its last listener.
            Ok(told) if !told.is_empty() => drop(self.rounds.send(Some(Arc::new(Round::of(told))))),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "events cannot be told; whoever listens has to come again");
                self.cut_off();
            }
        }
    }

    /// Returns true if those who listen want results.
    pub(super) fn wants_results(&self) -> bool {
        self.rounds.receiver_count() > 0 && self.teller.wants_results()
    }

    /// Ends the streams of all who listen: what they missed they are told when they come again.
    pub(super) fn cut_off(&self) {
        drop(self.rounds.send(None));
    }
}
