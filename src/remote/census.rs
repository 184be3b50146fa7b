//! Which locations in other places there are: what is stored becomes the roster, while services are watched.
//!
//! A location takes part from the moment at which it is made, also before a machine has become it: it is offline then, as
//! whenever nobody hears of it. One that is taken out of use keeps its history, and is asked for nothing any more.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::announcer::changes::Changes;
use crate::engine::roster::Roster;
use crate::model::location::LocationCode;
use crate::remote::looks::Looker;
use crate::store::probe_locations::{self, Machine};
use crate::store::{Databases, MainError};
use crate::supervise::Handle;

/// The interval between two looks at what is stored: another process may have changed it.
const EVERY: Duration = Duration::from_secs(5);

/// Public keys that definitions are sealed to, by location.
#[derive(Debug, Default)]
pub struct Recipients(RwLock<HashMap<LocationCode, String>>);

impl Recipients {
    /// The key of a location; `None` = it is none, or not in use.
    #[must_use]
    pub fn key_of(&self, location: &LocationCode) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(location).cloned()
    }

    /// Sets a key, or takes it away; whether that is news.
    fn set(&self, location: &LocationCode, key: Option<&str>) -> bool {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = match key {
            Some(key) => keys.insert(location.clone(), key.to_owned()),
            None => keys.remove(location),
        };
        before.as_deref() != key
    }
}

/// Keeps the roster in line with what is stored. Cheap to clone.
#[derive(Clone)]
pub struct Census {
    /// The locations are in the main one.
    pub databases: Databases,
    /// The locations that the engine knows.
    pub roster: Arc<Roster>,
    /// Their keys.
    pub recipients: Arc<Recipients>,
    /// Takes what a location is asked for.
    pub looker: Handle<Looker>,
    /// Told when every service has other locations.
    pub changes: Changes,
    /// Told the same, for the engine.
    pub grown: Arc<Notify>,
    /// Woken when a machine has become a location.
    pub enrolled: Arc<Notify>,
    /// True once the locations are known: before that nothing may be taken away from them.
    pub is_known: watch::Sender<bool>,
}

impl std::fmt::Debug for Census {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Census").field("recipients", &self.recipients).finish_non_exhaustive()
    }
}

impl Census {
    /// Looks for ever, until the future is dropped.
    pub async fn run(self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "the locations in other places cannot be read");
            }
            // Elapsed or woken, it is time to look.
            let _ = timeout(EVERY, self.enrolled.notified()).await;
        }
    }

    /// Looks once.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn look(&self) -> Result<(), MainError> {
        let mut is_news = false;
        for stored in probe_locations::list(self.databases.main.reader()).await? {
            let code = stored.location.code.clone();
            let machine = stored.machine.filter(|_| stored.is_enabled);
            is_news |= self
                .recipients
                .set(&code, machine.as_ref().map(|Machine { keys, .. }| keys.sealing.as_str()));
            if !stored.is_enabled {
                is_news |= self.roster.set_used(&code, false);
                continue;
            }
            let is_new = self.roster.find(code.as_str()).is_none();
            if is_new {
                tracing::info!(location = %code, "a location in another place takes part");
            }
            // Also to one that is known: the actor may be another one by now.
            self.roster.add_elsewhere(stored.location, self.looker.address().recipient());
            is_news |= self.roster.set_used(&code, true) | is_new;
        }
        self.is_known.send_replace(true);
        if is_news {
            self.changes.mark_all();
            self.grown.notify_one();
        }
        Ok(())
    }
}
