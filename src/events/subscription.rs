//! Subscriptions: listeners with the same visibility and filter. Each event is rendered once for all of them.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast;

use crate::events::fact::{EventFact, FactIdentity};

/// The error when an event cannot be rendered, because a database does not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RenderError(pub String);

/// Future of the rendered events of a subscription.
pub type Words<'a> = Pin<Box<dyn Future<Output = Result<Vec<RenderedEvent>, RenderError>> + 'a>>;

/// Renders facts for a subscription: omits those that its listeners may not see or do not want.
pub trait FactRenderer: Send + Sync {
    /// Renders these facts in their order. All belong to the subscription's organisation.
    fn render<'a>(&'a self, facts: &'a [EventFact]) -> Words<'a>;

    /// Returns true if the subscription includes results.
    fn wants_results(&self) -> bool;
}

/// An event, rendered for one subscription.
#[derive(Clone, Debug)]
pub struct RenderedEvent {
    /// The identity of the fact.
    pub origin: FactIdentity,
    /// Text of the event, in the format of the stream.
    pub text: String,
}

/// The events of a subscription that are sent together.
#[derive(Debug, Default)]
pub struct EventBatch {
    bytes: Bytes,
    parts: Vec<(FactIdentity, Range<usize>)>,
}

impl EventBatch {
    fn of(rendered: Vec<RenderedEvent>) -> Self {
        let (mut text, mut parts) = (String::new(), Vec::with_capacity(rendered.len()));
        for one in rendered {
            let start = text.len();
            text.push_str(&one.text);
            parts.push((one.origin, start..text.len()));
        }
        Self { bytes: text.into(), parts }
    }

    /// Number of events in the batch.
    #[must_use]
    pub fn events(&self) -> usize {
        self.parts.len()
    }

    /// Returns the bytes of all events.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Returns the bytes and the number of the events for which `is_wanted` is true.
    pub fn select_events(&self, is_wanted: impl Fn(&FactIdentity) -> bool) -> (Bytes, usize) {
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
pub struct EventSubscription {
    /// Database key of the listeners' organisation.
    pub(super) organisation: i64,
    renderer: Box<dyn FactRenderer>,
    rounds: broadcast::Sender<Option<Arc<EventBatch>>>,
}

impl EventSubscription {
    pub(super) fn new(organisation: i64, renderer: Box<dyn FactRenderer>, rounds_waiting: usize) -> Self {
        Self { organisation, renderer, rounds: broadcast::Sender::new(rounds_waiting.max(1)) }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Option<Arc<EventBatch>>> {
        self.rounds.subscribe()
    }

    /// Renders facts without publishing them.
    pub async fn render_once(&self, facts: &[EventFact]) -> Result<Vec<RenderedEvent>, RenderError> {
        self.renderer.render(facts).await
    }

    /// Publishes these facts, without waiting for slow listeners.
    pub(super) async fn publish_events(&self, facts: &[EventFact]) {
        match self.render_once(facts).await {
            // Sending fails if the last listener is gone.
            Ok(rendered) if !rendered.is_empty() => {
                drop(self.rounds.send(Some(Arc::new(EventBatch::of(rendered)))));
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot render events; subscribers must reconnect");
                self.cut_off();
            }
        }
    }

    /// Returns true if the listeners want results.
    pub(super) fn wants_results(&self) -> bool {
        self.rounds.receiver_count() > 0 && self.renderer.wants_results()
    }

    /// Ends the streams of all listeners, which read missed events when they reconnect.
    pub(super) fn cut_off(&self) {
        drop(self.rounds.send(None));
    }
}
