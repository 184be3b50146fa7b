//! Screens that are open follow the present state.
//!
//! ```text
//! commits, status changes ─► follow: at most four times a second ─► "change 17" on one stream for each browser
//! open documents ─► ask for their content, with the number ─► rendered once for all users who see the same (`documents`)
//! ```
//!
//! The stream has no data of the organisation: what a user sees is decided when the document is asked for. It ends soon after
//! the user's sign-in (`sign_in_watch`).

pub(super) mod documents;
pub(super) mod sign_in_watch;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::clock::{Clock, Timestamp};
use crate::console::live::documents::SharedDocuments;
use crate::fleet_view::FleetViews;
use crate::fleet_view::revision_log::FleetRevision;
use crate::pages::live::live_seats::LiveSeats;
use crate::pages::live::stream::LiveListener;
use crate::store::Databases;
use crate::store::changes::CommitStamp;

/// Path of the stream of events below `/console`.
pub(super) const EVENTS: &str = "/events";
/// Shortest time between two events.
const PACE: Duration = Duration::from_millis(250);
/// Number of events that wait for a browser; one that is further behind asks for everything.
const EVENTS_WAITING: usize = 8;
/// Maximum number of streams of this process.
const STREAMS_MAX: usize = 2_000;

/// The open screens of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct LiveScreens {
    topics: Arc<Mutex<ScreenTopics>>,
    seats: LiveSeats,
    /// Notified when a stream is opened.
    opened: Arc<Notify>,
    /// The documents that open screens ask for.
    pub(super) documents: SharedDocuments,
}

/// What the screens show, and what tells that it has changed.
#[derive(Clone, Debug)]
pub(super) struct ChangeSource {
    /// The services of organisations in memory.
    pub(super) fleets: Arc<FleetViews>,
    /// Incidents, maintenances and everything else.
    pub(super) databases: Databases,
    pub(super) clock: Clock,
}

/// The organisations (database keys) with a stream.
#[derive(Debug, Default)]
struct ScreenTopics {
    open: HashMap<i64, ScreenTopic>,
    is_closed: bool,
}

/// The streams of an organisation.
#[derive(Debug)]
struct ScreenTopic {
    events: broadcast::Sender<Bytes>,
    /// The number of the last change. It starts with the time, so that a later process has greater ones.
    change: u64,
    state: ShownState,
}

/// A moment in the life of what the screens show.
#[derive(Clone, Copy, Debug)]
struct ShownState {
    commits: CommitStamp,
    /// `None` while the services cannot be read.
    fleet: Option<FleetRevision>,
    /// Set while the services are not up to date.
    as_of: Option<Timestamp>,
}

impl ChangeSource {
    /// Reads the present state of an organisation.
    async fn state(&self, organisation: i64) -> ShownState {
        let commits = self.databases.main.own_changes().stamp();
        match self.fleets.of(organisation, self.clock.now()).await {
            Ok(current) => ShownState { commits, fleet: Some(current.view.revision()), as_of: current.as_of },
            Err(error) => {
                tracing::debug!(%error, organisation, "cannot follow the services of an open screen");
                ShownState { commits, fleet: None, as_of: None }
            }
        }
    }

    /// Returns true if what the screens show may have changed between two states.
    fn has_changed(&self, before: ShownState, now: ShownState) -> bool {
        before.fleet != now.fleet
            || before.as_of.is_some() != now.as_of.is_some()
            || !self.databases.main.own_changes().are_pages_current(before.commits)
    }
}

impl LiveScreens {
    /// Creates the hub.
    pub(super) fn new() -> Self {
        Self {
            topics: Arc::default(),
            seats: LiveSeats::new(STREAMS_MAX),
            opened: Arc::default(),
            documents: SharedDocuments::default(),
        }
    }

    /// Opens a stream for a browser; `None` if there are too many, or after the end. The first event has the number of the last
    /// change: what is asked for after it shows at least that one.
    pub(super) async fn listen(
        &self,
        organisation: i64,
        client: IpAddr,
        source: &ChangeSource,
    ) -> Option<LiveListener> {
        let seat = self.seats.take(client)?;
        let state = match self.change(organisation) {
            Some(_) => None,
            None => Some(source.state(organisation).await),
        };
        let mut topics = self.lock();
        if topics.is_closed {
            return None;
        }
        let topic = match (topics.open.entry(organisation), state) {
            (Entry::Occupied(open), _) => open.into_mut(),
            (Entry::Vacant(missing), Some(state)) => {
                let change = u64::try_from(source.clock.now().ms()).unwrap_or_default();
                missing.insert(ScreenTopic { events: broadcast::channel(EVENTS_WAITING).0, change, state })
            }
            // The last other stream has ended meanwhile: the browser connects again.
            (Entry::Vacant(_), None) => return None,
        };
        let listener = LiveListener::new(topic.events.subscribe(), &topic.change.to_string(), seat);
        drop(topics);
        self.opened.notify_one();
        Some(listener)
    }

    /// Returns the number of the last change of an organisation; `None` if it has no stream.
    pub(super) fn change(&self, organisation: i64) -> Option<u64> {
        self.lock().open.get(&organisation).map(|topic| topic.change)
    }

    /// Ends all streams; no further one is opened.
    pub(super) fn close(&self) {
        let mut topics = self.lock();
        topics.is_closed = true;
        topics.open.clear();
    }

    /// Tells open screens about changes, for ever.
    pub(super) async fn follow(&self, source: &ChangeSource) {
        let mut last = Instant::now();
        loop {
            let open = self.next_round(last).await;
            last = Instant::now();
            join_all(open.into_iter().map(|organisation| async move {
                let state = source.state(organisation).await;
                self.publish(organisation, state, source);
            }))
            .await;
        }
    }

    /// Waits until somebody has a screen open, and for the pace; returns the organisations.
    async fn next_round(&self, last: Instant) -> Vec<i64> {
        loop {
            if !self.open_topics().is_empty() {
                tokio::time::sleep_until(last + PACE).await;
                return self.open_topics();
            }
            self.opened.notified().await;
        }
    }

    /// Returns the organisations with a stream; forgets the others.
    fn open_topics(&self) -> Vec<i64> {
        let mut topics = self.lock();
        topics.open.retain(|_, topic| topic.events.receiver_count() > 0);
        topics.open.keys().copied().collect()
    }

    /// Sends an event if something has changed.
    fn publish(&self, organisation: i64, state: ShownState, source: &ChangeSource) {
        let mut topics = self.lock();
        let Some(topic) = topics.open.get_mut(&organisation) else { return };
        if source.has_changed(topic.state, state) {
            topic.change += 1;
            // Without receivers the topic is forgotten in the next round.
            let _ = topic.events.send(format!("event: change\ndata: {}\n\n", topic.change).into());
        }
        topic.state = state;
    }

    fn lock(&self) -> MutexGuard<'_, ScreenTopics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
