//! The queue of facts to publish, by organisation. The tail adds to it and reads on; organisations are served in parallel.
//!
//! A slow organisation delays only itself: its later facts are published together, and when too many wait, its streams end.
//! The streams of a slow subscription end, too. The queue also keeps the cursors of published events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _, iter};
use tokio::sync::Notify;

use crate::events::fact::{EventCursor, EventFact};
use crate::events::subscription::EventSubscription;

/// Time limit for publishing to a subscription.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of subscriptions of an organisation that are served at the same time.
const AT_A_TIME: usize = 2;
/// Maximum number of waiting facts of an organisation.
const WAITING: usize = 20_000;

/// The queue of facts to publish.
#[derive(Default)]
pub(super) struct PublicationQueue {
    state: Mutex<PublicationState>,
    added: Notify,
}

#[derive(Default)]
struct PublicationState {
    /// Cursor of all organisations without waiting facts.
    published: EventCursor,
    behind: HashMap<i64, OrganisationQueue>,
}

/// An organisation with waiting facts, or with facts being published.
struct OrganisationQueue {
    published: EventCursor,
    facts: Vec<EventFact>,
    /// Cursor after this batch.
    then: EventCursor,
    is_publishing: bool,
}

/// The facts that are published to an organisation together.
struct OrganisationBatch {
    organisation: i64,
    facts: Vec<EventFact>,
    then: EventCursor,
}

impl PublicationQueue {
    /// Clears the queue, and takes everything up to this cursor as published.
    pub(super) fn begin(&self, published: EventCursor) {
        *self.state() = PublicationState { published, behind: HashMap::new() };
    }

    pub(super) fn organisation_cursor(&self, organisation: i64) -> EventCursor {
        let state = self.state();
        state.behind.get(&organisation).map_or(state.published, |behind| behind.published)
    }

    /// Adds facts, and the cursor after them. Returns the organisations with too many waiting facts, whose facts are
    /// dropped.
    pub(super) fn add(&self, facts: HashMap<i64, Vec<EventFact>>, then: EventCursor) -> Vec<i64> {
        let mut too_slow = Vec::new();
        let mut state = self.state();
        let published = std::mem::replace(&mut state.published, then);
        for (organisation, facts) in facts {
            let new = OrganisationQueue { published, facts: Vec::new(), then, is_publishing: false };
            let behind = state.behind.entry(organisation).or_insert(new);
            if behind.is_publishing && behind.facts.len() + facts.len() > WAITING {
                behind.facts = Vec::new();
                too_slow.push(organisation);
            } else {
                behind.facts.extend(facts);
            }
        }
        for behind in state.behind.values_mut() {
            behind.then = then;
        }
        drop(state);
        self.added.notify_one();
        too_slow
    }

    /// Publishes queued facts, until the future is dropped.
    pub(super) async fn run(&self, audiences: impl Fn(i64) -> Vec<Arc<EventSubscription>>) {
        let mut rounds = FuturesUnordered::new();
        loop {
            for batch in self.take() {
                let audiences = audiences(batch.organisation);
                rounds.push(async move {
                    publish_to_subscriptions(&audiences, &batch.facts).await;
                    self.note_published(batch.organisation, batch.then);
                });
            }
            tokio::select! {
                () = self.added.notified() => {}
                Some(()) = rounds.next() => {}
            }
        }
    }

    fn take(&self) -> Vec<OrganisationBatch> {
        let mut state = self.state();
        let idle = state.behind.iter_mut().filter(|(_, behind)| !behind.is_publishing);
        idle.map(|(organisation, behind)| {
            behind.is_publishing = true;
            let facts = std::mem::take(&mut behind.facts);
            OrganisationBatch { organisation: *organisation, facts, then: behind.then }
        })
        .collect()
    }

    fn note_published(&self, organisation: i64, published: EventCursor) {
        let mut state = self.state();
        let waits = state.behind.get_mut(&organisation).is_some_and(|behind| {
            behind.published = published;
            behind.is_publishing = false;
            !behind.facts.is_empty()
        });
        if !waits {
            state.behind.remove(&organisation);
        }
    }

    fn state(&self) -> MutexGuard<'_, PublicationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Publishes to each subscription the facts that it may see and wants. The streams of a slow subscription end.
async fn publish_to_subscriptions(audiences: &[Arc<EventSubscription>], facts: &[EventFact]) {
    iter(audiences)
        .for_each_concurrent(AT_A_TIME, |audience| async move {
            if tokio::time::timeout(PATIENCE, audience.publish_events(facts)).await.is_err() {
                tracing::warn!(
                    organisation_key = audience.organisation,
                    "publishing events took too long; subscribers must reconnect"
                );
                audience.cut_off();
            }
        })
        .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fact::FactContent;
    use crate::events::subscription::{FactRenderer, RenderedEvent, Words};
    use crate::id::Id;
    use crate::model::event::{EventAction, EventSubjectKind};
    use crate::store::events::StoredEvent;

    /// A renderer that takes this time.
    struct After(Duration);

    impl FactRenderer for After {
        fn render<'a>(&'a self, facts: &'a [EventFact]) -> Words<'a> {
            Box::pin(async move {
                tokio::time::sleep(self.0).await;
                let rendered =
                    |fact: &EventFact| RenderedEvent { origin: fact.what.origin(), text: "event".into() };
                Ok(facts.iter().map(rendered).collect())
            })
        }

        fn wants_results(&self) -> bool {
            false
        }
    }

    fn happened(organisations: [i64; 2], cursor: EventCursor) -> HashMap<i64, Vec<EventFact>> {
        let fact = |organisation| {
            let (number, through, subject) = (cursor.event, cursor.event, Id::random());
            let (kind, act) = (EventSubjectKind::Incident, EventAction::Created);
            let (services, former) = (Vec::new(), Vec::new());
            let what = FactContent::Event(StoredEvent {
                number,
                through,
                organisation,
                kind,
                act,
                subject,
                services,
                former,
            });
            (organisation, vec![EventFact { organisation, cursor, what }])
        };
        organisations.map(fact).into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_organisation_delays_and_drops_only_its_own_events() {
        let queue = PublicationQueue::default();
        let audience = |organisation, seconds| {
            let renderer = Box::new(After(Duration::from_secs(seconds)));
            Arc::new(EventSubscription::new(organisation, renderer, 64))
        };
        let (slow, quick) = (audience(1, 3_600), audience(2, 0));
        let (mut of_slow, mut of_quick) = (slow.subscribe(), quick.subscribe());
        let all = [slow, quick];
        let of = |organisation| all.iter().filter(|one| one.organisation == organisation).cloned().collect();
        let listen = async {
            for event in 1..=3 {
                let cursor = EventCursor { event, ..EventCursor::default() };
                assert_eq!(queue.add(happened([1, 2], cursor), cursor), [0; 0]);
                let round = of_quick.recv().await.unwrap().expect("it is told at once");
                assert_eq!(round.events(), 1);
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert_eq!(
                    (queue.organisation_cursor(1).event, queue.organisation_cursor(2).event),
                    (0, event)
                );
            }
            assert!(of_slow.recv().await.unwrap().is_none(), "its streams end");
        };
        tokio::select! {
            () = queue.run(of) => {}
            () = listen => {}
        }
    }
}
