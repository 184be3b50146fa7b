//! Events for listening clients: status changes, results, and changes of incidents and maintenances, as they happen.
//!
//! One tail reads each source once, and only while there are listeners ([`tail`]). Listeners with equal visibility and
//! filter share a [`subscription`], for which the API renders each event once. Nothing waits for slow listeners: their
//! stream is closed, they reconnect with the id of the last event that they received, and miss nothing.

pub mod fact;
mod publication_queue;
mod remote_results;
pub mod subscription;
pub mod tail;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{AcquireError, Notify, Semaphore, SemaphorePermit, broadcast, watch};

use crate::clock::Timestamp;
use crate::config::limits::EventLimits;
use crate::events::fact::{EventCursor, EventFact};
use crate::events::publication_queue::PublicationQueue;
use crate::events::subscription::{EventBatch, EventSubscription, FactRenderer};
use crate::model::access::ApiToken;
use crate::telemetry::{Exposition, MetricCollector};

/// Time limit for the start of the tail, for which a new listener waits.
const BEGINNING: Duration = Duration::from_secs(3);

/// The reason why a listener is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionRefusal {
    /// The organisation has its maximum number of listeners, or too many different filters.
    #[error("the organisation has too many listeners")]
    Organisation,
    /// This process has its maximum number of listeners, is stopping, or cannot read events.
    #[error("this process accepts no further event streams at present")]
    Process,
}

/// The listeners of this process, and the queue of events for them.
pub struct EventHub {
    limits: EventLimits,
    listening: Mutex<SubscriptionRegistry>,
    /// True while the tail reads events.
    is_read: watch::Sender<bool>,
    wanted: Notify,
    publication_queue: PublicationQueue,
    replays: Semaphore,
    sent: AtomicU64,
    cut_off: AtomicU64,
}

#[derive(Default)]
struct SubscriptionRegistry {
    audiences: HashMap<String, Weak<EventSubscription>>,
    tokens: HashMap<i64, Weak<SubscribedToken>>,
    of_organisation: HashMap<i64, usize>,
    count: usize,
    is_closed: bool,
}

struct SubscribedToken {
    token: ApiToken,
    is_over: watch::Sender<bool>,
}

/// A listener; dropping it ends its stream.
pub struct EventSubscriber {
    hub: Arc<EventHub>,
    audience: Arc<EventSubscription>,
    rounds: broadcast::Receiver<Option<Arc<EventBatch>>>,
    life: Arc<SubscribedToken>,
    is_over: watch::Receiver<bool>,
}

impl EventHub {
    /// Creates a hub without listeners.
    #[must_use]
    pub fn new(limits: EventLimits) -> Self {
        Self {
            replays: Semaphore::new(limits.replays.max(1)),
            limits,
            listening: Mutex::default(),
            is_read: watch::Sender::default(),
            wanted: Notify::default(),
            publication_queue: PublicationQueue::default(),
            sent: AtomicU64::default(),
            cut_off: AtomicU64::default(),
        }
    }

    /// Adds a listener, which receives the events from now on. Listeners with the same `key` share a subscription;
    /// `renderer` creates the renderer of a new subscription.
    ///
    /// # Errors
    /// When there are too many listeners, or events cannot be read.
    pub async fn subscribe_token(
        self: &Arc<Self>,
        token: &ApiToken,
        key: String,
        renderer: impl FnOnce() -> Box<dyn FactRenderer>,
    ) -> Result<EventSubscriber, SubscriptionRefusal> {
        let mut is_read = self.is_read.subscribe();
        let subscriber = self.register_subscriber(token, key, renderer)?;
        self.wanted.notify_one();
        let began = tokio::time::timeout(BEGINNING, is_read.wait_for(|is_read| *is_read)).await;
        match began {
            Ok(Ok(_)) => Ok(subscriber),
            _ => Err(SubscriptionRefusal::Process),
        }
    }

    fn register_subscriber(
        self: &Arc<Self>,
        token: &ApiToken,
        key: String,
        renderer: impl FnOnce() -> Box<dyn FactRenderer>,
    ) -> Result<EventSubscriber, SubscriptionRefusal> {
        let mut listening = self.listening();
        if listening.is_closed || listening.count >= self.limits.listeners {
            return Err(SubscriptionRefusal::Process);
        }
        let of_organisation = listening.of_organisation.get(&token.organisation).copied().unwrap_or_default();
        let known = listening.audiences.get(&key).and_then(Weak::upgrade);
        let has_room = known.is_some()
            || listening.audiences_of(token.organisation).len() < self.limits.audiences_per_organisation;
        if of_organisation >= self.limits.listeners_per_organisation || !has_room {
            return Err(SubscriptionRefusal::Organisation);
        }
        listening.of_organisation.insert(token.organisation, of_organisation + 1);
        listening.count += 1;
        let audience = known.unwrap_or_else(|| {
            let waiting = self.limits.rounds_waiting;
            let audience = Arc::new(EventSubscription::new(token.organisation, renderer(), waiting));
            listening.audiences.insert(key, Arc::downgrade(&audience));
            audience
        });
        let known = listening.tokens.get(&token.key).and_then(Weak::upgrade);
        let life = known.filter(|life| life.token == *token).unwrap_or_else(|| {
            let life = Arc::new(SubscribedToken { token: token.clone(), is_over: watch::Sender::new(false) });
            listening.tokens.insert(token.key, Arc::downgrade(&life));
            life
        });
        drop(listening);
        let (rounds, is_over) = (audience.subscribe(), life.is_over.subscribe());
        Ok(EventSubscriber { hub: Arc::clone(self), audience, rounds, life, is_over })
    }

    /// Ends all streams for good, because the process stops.
    pub fn close(&self) {
        self.listening().is_closed = true;
        for life in self.subscribed_tokens() {
            life.is_over.send_replace(true);
        }
    }

    /// Waits for permission to replay missed events to a listener. Dropping the returned permit ends the permission.
    ///
    /// # Errors
    /// Never: the semaphore is not closed.
    pub async fn acquire_replay_permit(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.replays.acquire().await
    }

    /// Adds to the number of events that were sent to clients.
    pub fn note_sent(&self, events: usize) {
        self.sent.fetch_add(events as u64, Ordering::Relaxed);
    }

    fn listening(&self) -> MutexGuard<'_, SubscriptionRegistry> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribed_tokens(&self) -> Vec<Arc<SubscribedToken>> {
        let mut listening = self.listening();
        listening.tokens.retain(|_, life| life.strong_count() > 0);
        listening.tokens.values().filter_map(Weak::upgrade).collect()
    }

    fn audiences(&self) -> Vec<Arc<EventSubscription>> {
        let mut listening = self.listening();
        listening.audiences.retain(|_, audience| audience.strong_count() > 0);
        listening.audiences.values().filter_map(Weak::upgrade).collect()
    }

    fn begin(&self, cursor: EventCursor) {
        self.publication_queue.begin(cursor);
        self.is_read.send_replace(true);
    }

    /// Stops reading if there are no listeners; returns true if reading has stopped.
    fn pause_if_unused(&self) -> bool {
        // A new listener is added under the same lock, and waits for the next start.
        let listening = self.listening();
        let nobody = listening.count == 0;
        if nobody {
            self.is_read.send_replace(false);
        }
        nobody
    }

    async fn wait_for_subscriber(&self) {
        while self.listening().count == 0 {
            self.wanted.notified().await;
        }
    }

    /// Publishes facts to all subscriptions, filtered for each, without waiting for any of them.
    fn publish_facts(&self, facts: Vec<EventFact>, then: EventCursor) {
        let listening: HashSet<i64> = self.audiences().iter().map(|audience| audience.organisation).collect();
        let mut by_organisation: HashMap<i64, Vec<EventFact>> = HashMap::new();
        for fact in facts.into_iter().filter(|fact| listening.contains(&fact.organisation)) {
            by_organisation.entry(fact.organisation).or_default().push(fact);
        }
        for organisation in self.publication_queue.add(by_organisation, then) {
            tracing::warn!(
                organisation_key = organisation,
                "too many unpublished events; subscribers must reconnect"
            );
            self.audiences_of(organisation).iter().for_each(|audience| audience.cut_off());
        }
    }

    /// Publishes queued facts, until the future is dropped.
    async fn publish_pending(&self) {
        self.publication_queue.run(|organisation| self.audiences_of(organisation)).await;
    }

    fn audiences_of(&self, organisation: i64) -> Vec<Arc<EventSubscription>> {
        self.listening().audiences_of(organisation)
    }

    /// Ends all streams after events were missed; listeners read the missed events when they reconnect.
    fn cut_off_all(&self) {
        self.audiences().iter().for_each(|audience| audience.cut_off());
    }

    /// Returns true if a listener wants results.
    fn wants_results(&self) -> bool {
        self.audiences().iter().any(|audience| audience.wants_results())
    }

    /// Ends the streams that include results, after results were missed.
    fn cut_off_from_results(&self) {
        let audiences = self.audiences();
        audiences.iter().filter(|audience| audience.wants_results()).for_each(|audience| audience.cut_off());
    }

    /// Ends the streams of tokens that are no longer valid or have changed.
    fn end_invalid_tokens(&self, valid: &[ApiToken], now: Timestamp) {
        for life in self.subscribed_tokens() {
            let is_same = valid.contains(&life.token);
            if !is_same || life.token.expires_at.is_some_and(|end| end <= now) {
                life.is_over.send_replace(true);
            }
        }
    }
}

impl SubscriptionRegistry {
    fn audiences_of(&self, organisation: i64) -> Vec<Arc<EventSubscription>> {
        let audiences = self.audiences.values().filter_map(Weak::upgrade);
        audiences.filter(|audience| audience.organisation == organisation).collect()
    }
}

impl EventSubscriber {
    /// Returns the next batch of events; `None` when the stream ends.
    pub async fn next(&mut self) -> Option<Arc<EventBatch>> {
        tokio::select! {
            biased;
            _ = self.is_over.wait_for(|is_over| *is_over) => None,
            round = self.rounds.recv() => {
                let round = round.ok().flatten();
                if round.is_none() {
                    self.hub.cut_off.fetch_add(1, Ordering::Relaxed);
                }
                round
            }
        }
    }

    /// Cursor of the events received so far; `None` while further events are queued for this listener.
    #[must_use]
    pub fn delivered_cursor(&self) -> Option<EventCursor> {
        // Read first: an event published after this point is still queued.
        let cursor = self.hub.publication_queue.organisation_cursor(self.audience.organisation);
        self.rounds.is_empty().then_some(cursor)
    }

    /// Cursor of the organisation's events: every event up to this position has been published.
    #[must_use]
    pub fn settled(&self) -> EventCursor {
        self.hub.publication_queue.organisation_cursor(self.audience.organisation)
    }

    /// Skips the queued events if the queue is more than half full, because some could be lost; returns true if events
    /// were skipped.
    pub fn skip_if_behind(&mut self) -> bool {
        let is_behind = self.rounds.len() > self.hub.limits.rounds_waiting / 2;
        if is_behind {
            self.rounds = self.rounds.resubscribe();
        }
        is_behind
    }

    /// Returns true if the stream has to end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        *self.is_over.borrow()
    }

    /// Waits until the stream has to end: the process stops, or the token is no longer valid or has changed.
    pub fn over(&self) -> impl Future<Output = ()> + use<> {
        let mut is_over = self.is_over.clone();
        async move {
            // The sender for the token lives until the token's last listener is dropped.
            drop(is_over.wait_for(|is_over| *is_over).await);
        }
    }

    /// The subscription of this listener.
    #[must_use]
    pub fn audience(&self) -> &EventSubscription {
        &self.audience
    }

    /// The hub that sends the events.
    #[must_use]
    pub fn hub(&self) -> &EventHub {
        &self.hub
    }
}

impl Drop for EventSubscriber {
    fn drop(&mut self) {
        let mut listening = self.hub.listening();
        listening.count -= 1;
        let organisation = self.life.token.organisation;
        let left = listening.of_organisation.get_mut(&organisation).map(|count| {
            *count -= 1;
            *count
        });
        if left == Some(0) {
            listening.of_organisation.remove(&organisation);
        }
    }
}

impl MetricCollector for EventHub {
    fn collect(&self, out: &mut Exposition) {
        let count = self.listening().count;
        out.gauge("event_listeners", "Clients that listen to events.").value(count);
        let sent = self.sent.load(Ordering::Relaxed);
        out.counter("events_sent_total", "Events that clients were handed.").value(sent);
        let cut_off = self.cut_off.load(Ordering::Relaxed);
        out.counter("event_listeners_cut_off_total", "Clients that were too far behind.").value(cut_off);
    }
}
