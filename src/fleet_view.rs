//! The services of an organisation in memory, for the lists of the console, and for searches by `GET /v1/services` where no
//! other process writes to the database: a query of 100,000 services takes milliseconds.
//!
//! A [`FleetView`] has the services of one organisation as columns (`columns`): at most 200 bytes a service, with the names, the
//! targets to search in, and the tags. It is read as a whole when it is first used. After that [`FleetViews::of`] brings it up
//! to date before it is returned (`follower`):
//!
//! ```text
//! commits of this process ─► store::commit_log ─► services that a commit names: read by key (`reader`)
//!                                              └► without names: revisions are compared; tags, maintenances and open
//!                                                 incidents are read as a whole, of which there are few
//! status changes, of any node ─► the owners of these services are asked for their states
//! verdicts of the own engine ─► the same, before they are recorded
//! ownership ─► services of a partition without an owner are marked, and read again when it has one
//! ```
//!
//! So the cost of a change does not depend on the number of services. On PostgreSQL, where other processes write too, the
//! revisions are also compared once a second, or less often if that takes long.
//!
//! A list is asked for by a [`FleetQuery`](query::FleetQuery), which [`query_parser`] reads as a person types it; each filter is
//! an operation on sets of rows or a pass over columns (`evaluation`), and a page is cut behind a cursor (`listing`). A stream of
//! live updates calls [`FleetViews::of`] at most four times a second, and sends the rows of [`FleetView::changes_since`].
//!
//! While a view is in use, the owners of all services are asked once a minute, a few services at a time. So the uptime of 30 days
//! is at most a minute old. Percentiles of response times are not in the view: they are read for the rows of a page.

pub mod fleet_facts;
pub mod fleet_row;
pub mod list_by_age;
pub mod listing;
pub mod query;
pub mod query_parser;
pub mod revision_log;
pub mod summary;
pub mod tag_dictionary;
pub mod view;
pub mod visible_tags;

mod columns;
mod evaluation;
mod filter_sets;
mod follower;
mod location_sets;
mod owner_absence;
mod packed_lists;
mod reader;
mod row_set;
mod row_state;
mod state_notes;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::fleet_view::follower::FleetFollower;
use crate::fleet_view::follower::first_read::FirstRead;
use crate::fleet_view::reader::FleetReader;
use crate::fleet_view::view::FleetView;
use crate::fleet_view::visible_tags::VisibleTags;
use crate::model::visibility::Visibility;
use crate::service_router::ServiceRouter;
use crate::store::{MainError, StoreError, access_scopes};

/// Time limit for bringing a view up to date; after it the view is returned as it is.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time for which nothing is read again after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The time after which a view that nobody uses is dropped.
const UNUSED_AFTER: Duration = Duration::from_secs(600);
/// Maximum number of views; the one that was not used for the longest time is dropped first.
const VIEWS_MAX: usize = 64;

/// The views of all organisations that are in use.
#[derive(Debug)]
pub struct FleetViews {
    router: ServiceRouter,
    entries: Mutex<HashMap<i64, Arc<ViewEntry>>>,
}

/// A view, brought up to date.
#[derive(Clone, Debug)]
pub struct CurrentFleet {
    /// The view.
    pub view: Arc<FleetView>,
    /// Set if the view, or the statuses in it, cannot be brought up to date: the last time at which they were.
    pub as_of: Option<Timestamp>,
}

struct ViewEntry {
    used_at: Mutex<Instant>,
    shown: Mutex<Option<ShownView>>,
    /// One caller at a time brings the view up to date.
    stage: tokio::sync::Mutex<FollowerStage>,
}

/// What brings a view up to date.
#[derive(Default)]
struct FollowerStage {
    /// Set while not all services have been read.
    first: Option<FirstRead>,
    /// Set after that.
    follower: Option<FleetFollower>,
}

#[derive(Clone, Debug)]
struct ShownView {
    view: Arc<FleetView>,
    current_at: Timestamp,
    failed_at: Option<Instant>,
}

impl FleetViews {
    /// Creates an empty collection.
    #[must_use]
    pub fn new(router: ServiceRouter) -> Self {
        Self { router, entries: Mutex::default() }
    }

    /// Returns the services of an organisation (database key), with everything that this process has committed before the call
    /// and the status changes recorded up to a quarter of a second before it.
    ///
    /// # Errors
    /// When the services were never read, and the database fails. Later failures only make the view outdated.
    pub async fn of(&self, organisation: i64, now: Timestamp) -> Result<CurrentFleet, StoreError> {
        let entry = self.entry(organisation);
        let known = self.shown(&entry, organisation, now).await?;
        if known.failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            return Ok(known.outdated());
        }
        let refreshed = timeout(PATIENCE, async {
            match &mut entry.stage.lock().await.follower {
                Some(follower) => follower.refresh(&known.view, now).await,
                None => Ok(None),
            }
        });
        let outcome = match refreshed.await {
            Ok(Ok(as_of)) => Ok(as_of),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the databases do not answer in time".to_owned()),
        };
        let shown = match &outcome {
            Ok(_) => ShownView { current_at: now.max(known.current_at), failed_at: None, ..known },
            Err(_) => ShownView { failed_at: Some(Instant::now()), ..known },
        };
        *lock(&entry.shown) = Some(shown.clone());
        Ok(match outcome {
            Ok(as_of) => CurrentFleet { view: shown.view, as_of },
            Err(error) => {
                tracing::warn!(organisation, error, "cannot bring the list of services up to date; retrying");
                shown.outdated()
            }
        })
    }

    /// Returns the services of an organisation as [`Self::of`] does, but never an outdated view. On a single node, the view also
    /// has every verdict that the engine has answered with before the call.
    ///
    /// # Errors
    /// When a database fails.
    pub async fn current(&self, organisation: i64, now: Timestamp) -> Result<Arc<FleetView>, StoreError> {
        let entry = self.entry(organisation);
        let ShownView { view, .. } = self.shown(&entry, organisation, now).await?;
        if let Some(follower) = &mut entry.stage.lock().await.follower {
            follower.refresh(&view, now).await?;
        }
        Ok(view)
    }

    /// Returns true if the services of an organisation are in memory, or can be without dropping those of another one.
    #[must_use]
    pub fn has_room(&self, organisation: i64) -> bool {
        let mut entries = lock(&self.entries);
        drop_unused(&mut entries);
        entries.contains_key(&organisation) || entries.len() < VIEWS_MAX
    }

    /// Returns true if the services of an organisation are in memory and in use.
    #[must_use]
    pub fn is_loaded(&self, organisation: i64) -> bool {
        lock(&self.entries).get(&organisation).is_some_and(|entry| {
            lock(&entry.used_at).elapsed() < UNUSED_AFTER && lock(&entry.shown).is_some()
        })
    }

    /// Returns the part of the services that a caller may see at present.
    pub async fn visible_tags(&self, visibility: Visibility) -> Result<VisibleTags, MainError> {
        let Some(scope) = visibility.scope() else { return Ok(VisibleTags::ALL) };
        let mut tags = access_scopes::tags_of(self.router.databases.main.reader(), &[scope]).await?;
        let tags = tags.remove(&scope).unwrap_or_default();
        Ok(VisibleTags::of(tags.into_iter().map(|tag| tag.row).collect()))
    }

    /// Returns the view as it was shown last. Reads all services, or those that are left, if it has never been.
    async fn shown(
        &self,
        entry: &ViewEntry,
        organisation: i64,
        now: Timestamp,
    ) -> Result<ShownView, StoreError> {
        if let Some(shown) = lock(&entry.shown).clone() {
            return Ok(shown);
        }
        let mut stage = entry.stage.lock().await;
        // Another caller may have read them meanwhile.
        if let Some(shown) = lock(&entry.shown).clone() {
            return Ok(shown);
        }
        if stage.first.is_none() {
            let reader = FleetReader::new(self.router.clone(), organisation);
            stage.first = Some(FirstRead::begin(reader, now).await?);
        }
        if let Some(first) = &mut stage.first {
            first.read_rest(now).await?;
        }
        let (follower, view) = match stage.first.take() {
            Some(first) => first.finish(now),
            None => return Err(StoreError::Panicked("reading of services")),
        };
        stage.follower = Some(follower);
        let shown = ShownView { view: Arc::new(view), current_at: now, failed_at: None };
        *lock(&entry.shown) = Some(shown.clone());
        Ok(shown)
    }

    fn entry(&self, organisation: i64) -> Arc<ViewEntry> {
        let mut entries = lock(&self.entries);
        let now = Instant::now();
        if let Some(entry) = entries.get(&organisation) {
            *lock(&entry.used_at) = now;
            return Arc::clone(entry);
        }
        drop_unused(&mut entries);
        while entries.len() >= VIEWS_MAX {
            let oldest = entries.iter().min_by_key(|(_, entry)| *lock(&entry.used_at));
            let Some(oldest) = oldest.map(|(organisation, _)| *organisation) else { break };
            entries.remove(&oldest);
        }
        let (used_at, shown, stage) = (Mutex::new(now), Mutex::default(), tokio::sync::Mutex::default());
        let entry = Arc::new(ViewEntry { used_at, shown, stage });
        entries.insert(organisation, Arc::clone(&entry));
        entry
    }
}

impl ShownView {
    fn outdated(self) -> CurrentFleet {
        CurrentFleet { view: self.view, as_of: Some(self.current_at) }
    }
}

impl fmt::Debug for ViewEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewEntry").field("used_at", &self.used_at).finish_non_exhaustive()
    }
}

fn drop_unused(entries: &mut HashMap<i64, Arc<ViewEntry>>) {
    entries.retain(|_, entry| lock(&entry.used_at).elapsed() < UNUSED_AFTER);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
