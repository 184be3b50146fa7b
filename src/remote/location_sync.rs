//! Updates the registry with the stored remote locations, while services are watched.
//!
//! A location is part of the registry from its creation on, even before a machine has enrolled: it is then
//! offline, like any location that sends no reports. A disabled location keeps its history, and gets no more
//! requests.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::engine::registry::LocationRegistry;
use crate::model::location::LocationCode;
use crate::remote::check_requests::CheckRequestSender;
use crate::service_router::change_queue::ChangeQueue;
use crate::store::probe_locations::{self, EnrolledMachine};
use crate::store::{Databases, MainError};
use crate::supervise::ActorHandle;

/// The poll interval: another process may have changed the stored locations.
const EVERY: Duration = Duration::from_secs(5);

/// Public keys for sealing definitions, by location.
#[derive(Debug, Default)]
pub struct RecipientKeys(RwLock<HashMap<LocationCode, String>>);

impl RecipientKeys {
    /// Returns the key of a location; `None` if it has no key, or is disabled.
    #[must_use]
    pub fn key_of(&self, location: &LocationCode) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(location).cloned()
    }

    /// Sets or removes a key; returns true if that is a change.
    fn set(&self, location: &LocationCode, key: Option<&str>) -> bool {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = match key {
            Some(key) => keys.insert(location.clone(), key.to_owned()),
            None => keys.remove(location),
        };
        before.as_deref() != key
    }
}

/// Keeps the registry consistent with the stored locations. Cheap to clone.
#[derive(Clone)]
pub struct LocationSync {
    /// The databases; the main one has the locations.
    pub databases: Databases,
    /// The locations that the engine knows.
    pub roster: Arc<LocationRegistry>,
    /// Sealing keys of the locations.
    pub recipients: Arc<RecipientKeys>,
    /// Sends requests for checks to locations.
    pub looker: ActorHandle<CheckRequestSender>,
    /// Marked when the locations of every service have changed.
    pub changes: ChangeQueue,
    /// Notified of the same changes, for the engine.
    pub grown: Arc<Notify>,
    /// Notified when a machine has become a location.
    pub enrolled: Arc<Notify>,
    /// True once the locations are known: before that no assignment may be removed.
    pub is_known: watch::Sender<bool>,
}

impl std::fmt::Debug for LocationSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Census").field("recipients", &self.recipients).finish_non_exhaustive()
    }
}

impl LocationSync {
    /// Polls until the future is dropped.
    pub async fn run(self) {
        loop {
            if let Err(error) = self.sync_once().await {
                tracing::warn!(%error, "cannot read the remote locations; retrying");
            }
            // Elapsed or notified, it is time to poll.
            let _ = timeout(EVERY, self.enrolled.notified()).await;
        }
    }

    /// Updates the registry once.
    pub async fn sync_once(&self) -> Result<(), MainError> {
        let mut has_changed = false;
        for stored in probe_locations::list(self.databases.main.reader()).await? {
            let code = stored.location.code.clone();
            let machine = stored.machine.filter(|_| stored.is_enabled);
            has_changed |= self
                .recipients
                .set(&code, machine.as_ref().map(|EnrolledMachine { keys, .. }| keys.sealing.as_str()));
            if !stored.is_enabled {
                has_changed |= self.roster.set_used(&code, false);
                continue;
            }
            let is_new = self.roster.find(code.as_str()).is_none();
            if is_new {
                tracing::info!(location = %code, "remote location added");
            }
            // Also for a known location: the actor may have been replaced.
            self.roster.add_remote(stored.location, self.looker.address().recipient());
            has_changed |= self.roster.set_used(&code, true) | is_new;
        }
        self.is_known.send_replace(true);
        if has_changed {
            self.changes.mark_all();
            self.grown.notify_one();
        }
        Ok(())
    }
}
