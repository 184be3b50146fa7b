//! Open pages that follow the present state: a stream of server-sent events for each browser.
//!
//! One task compares the pages that somebody has open once a second. After a change it renders the fragments of the page once
//! for each language, and sends the changed ones to all open pages in that language.

pub(super) mod fragments;
pub mod live_seats;
pub mod stream;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::pages::live::fragments::PageFragments;
use crate::pages::live::live_seats::LiveSeats;
use crate::pages::live::stream::LiveListener;
use crate::pages::page_host::PageHost;

/// Shortest time between two comparisons of the open pages.
const PACE: Duration = Duration::from_secs(1);
/// Time between two comparisons for each page that is open: reading a page takes up to a few milliseconds.
const PACE_OF_PAGE: Duration = Duration::from_millis(20);
/// Number of events that wait for a browser; one that is further behind is asked to load the page again.
const EVENTS_WAITING: usize = 8;

/// The open pages of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LivePages {
    topics: Arc<Mutex<LiveTopics>>,
    seats: LiveSeats,
    /// Notified when a page is opened.
    opened: Arc<Notify>,
}

#[derive(Debug, Default)]
struct LiveTopics {
    open: HashMap<LiveKey, LiveTopic>,
    is_closed: bool,
}

/// A page in one language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LiveKey {
    pub(super) host: PageHost,
    pub(super) locale: String,
}

/// The streams of a page in one language.
#[derive(Debug)]
struct LiveTopic {
    events: broadcast::Sender<Bytes>,
    /// The fragments that open pages show.
    shown: Arc<PageFragments>,
}

impl LivePages {
    /// Creates the hub for at most this many streams.
    #[must_use]
    pub fn new(listeners_max: usize) -> Self {
        Self { topics: Arc::default(), seats: LiveSeats::new(listeners_max), opened: Arc::default() }
    }

    /// Opens a stream of a page for a client; `None` if there are too many streams, the page cannot be rendered, or after the
    /// end. `present` renders the fragments of the page, which is done for its first stream only.
    pub(super) fn listen(
        &self,
        key: LiveKey,
        client: IpAddr,
        present: impl FnOnce() -> Option<PageFragments>,
    ) -> Option<LiveListener> {
        let seat = self.seats.take(client)?;
        let mut topics = self.lock();
        if topics.is_closed {
            return None;
        }
        let topic = match topics.open.entry(key) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(missing) => {
                let (events, shown) = (broadcast::channel(EVENTS_WAITING).0, Arc::new(present()?));
                missing.insert(LiveTopic { events, shown })
            }
        };
        let listener = LiveListener::new(topic.events.subscribe(), topic.shown.revision(), seat);
        drop(topics);
        self.opened.notify_one();
        Some(listener)
    }

    /// Ends all streams; no further one is opened.
    pub fn close(&self) {
        let mut topics = self.lock();
        topics.is_closed = true;
        topics.open.clear();
    }

    /// Waits until somebody has a page open, and for the pace; returns the open pages.
    pub(super) async fn next_round(&self, last: Instant) -> Vec<LiveKey> {
        loop {
            let open = self.open_pages();
            if !open.is_empty() {
                let pages = u32::try_from(open.len()).unwrap_or(u32::MAX);
                tokio::time::sleep_until(last + PACE.max(PACE_OF_PAGE.saturating_mul(pages))).await;
                return self.open_pages();
            }
            self.opened.notified().await;
        }
    }

    /// Ends the streams of a page that is not shown any more.
    pub(super) fn end(&self, key: &LiveKey) {
        self.lock().open.remove(key);
    }

    /// Returns the pages with a stream; forgets the others.
    fn open_pages(&self) -> Vec<LiveKey> {
        let mut topics = self.lock();
        topics.open.retain(|_, topic| topic.events.receiver_count() > 0);
        topics.open.keys().cloned().collect()
    }

    /// Sends the difference between these fragments and the ones that open pages show. Ends the streams if other visitors may
    /// see the page now: their browsers ask again.
    pub(super) fn publish(&self, key: &LiveKey, present: PageFragments) {
        let mut topics = self.lock();
        let Some(topic) = topics.open.get_mut(key) else { return };
        if !present.has_same_access(&topic.shown) {
            topics.open.remove(key);
            return;
        }
        if let Some(event) = present.changes_since(&topic.shown) {
            topic.shown = Arc::new(present);
            // Without receivers the page is forgotten in the next round.
            let _ = topic.events.send(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, LiveTopics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;
    use crate::pages::live::fragments::PageFragment;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn key() -> LiveKey {
        LiveKey { host: PageHost::Slug("shop".into()), locale: "en".into() }
    }

    fn page(html: &str) -> PageFragments {
        with_access(html, 0)
    }

    fn with_access(html: &str, access: u64) -> PageFragments {
        PageFragments::new(vec![PageFragment { id: "overall".into(), html: html.into() }], access)
    }

    #[tokio::test]
    async fn a_change_reaches_every_open_page_and_the_end_ends_them() {
        let pages = LivePages::new(2);
        let [first, second] =
            [(), ()].map(|()| pages.listen(key(), CLIENT, || Some(page("<p>a</p>"))).unwrap());
        assert!(pages.listen(key(), CLIENT, || Some(page("<p>a</p>"))).is_none(), "there is room for two");
        let mut streams = [Box::pin(stream::events(first)), Box::pin(stream::events(second))];
        for stream in &mut streams {
            let hello = stream.next().await.unwrap();
            assert!(hello.ends_with(b"\n\n") && hello.starts_with(b"retry: "));
        }
        pages.publish(&key(), page("<p>a</p>"));
        pages.publish(&key(), page("<p>b</p>"));
        for stream in &mut streams {
            let change = stream.next().await.unwrap();
            assert!(String::from_utf8_lossy(&change).contains("<p>b</p>"), "{change:?}");
        }
        pages.close();
        for stream in &mut streams {
            assert!(stream.next().await.is_none());
        }
        assert!(pages.listen(key(), CLIENT, || Some(page("<p>a</p>"))).is_none());
    }

    #[tokio::test]
    async fn streams_end_when_other_visitors_may_see_the_page() {
        let pages = LivePages::new(1);
        let mut stream = Box::pin(stream::events(pages.listen(key(), CLIENT, || Some(page("a"))).unwrap()));
        stream.next().await.unwrap();
        pages.publish(&key(), with_access("a", 1));
        assert!(stream.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn pages_without_a_stream_are_forgotten() {
        let pages = LivePages::new(2);
        let listener = pages.listen(key(), CLIENT, || Some(page("a"))).unwrap();
        assert_eq!(pages.next_round(Instant::now()).await, [key()]);
        drop(listener);
        assert_eq!(pages.open_pages(), []);
        let free = [(), ()].map(|()| pages.seats.take(CLIENT));
        assert!(free.iter().all(Option::is_some));
    }
}
