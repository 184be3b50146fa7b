//! A cache of the host names of all active custom domains. They are read at most once in some seconds, so that requests with
//! invented host names cost no queries.
//!
//! A change made by this node counts at once, a change by another node after 3 s. While the database is unavailable, the
//! last names that were read count.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::service_router::host_changes::HostChanges;

/// Time for which the names count, and time between two reads of an unavailable database.
const FRESH_FOR: Duration = Duration::from_secs(3);
/// Timeout of the read for a request to the API: load balancers wait for a second.
pub(super) const API_PATIENCE: Duration = Duration::from_millis(500);
/// Timeout of the read for a visitor. The limits of the database end a query earlier.
pub(super) const VISITOR_PATIENCE: Duration = Duration::from_secs(600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostOwner {
    /// The host is a custom domain of a page.
    Page,
    /// The host does not belong to a page.
    Nobody,
    /// The owner is unknown, because the names could not be read since the start.
    Unclear,
}

/// The cache of host names. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HostCache {
    changes: HostChanges,
    names: Arc<Mutex<ActiveNames>>,
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct ActiveNames {
    /// The host names of all active custom domains; `None` = never read.
    names: Option<HashSet<String>>,
    /// Time of the last attempt to read the names, and the number of changes before it.
    asked: Option<(Instant, u64)>,
}

impl HostCache {
    /// Creates an empty cache that these changes invalidate.
    #[must_use]
    pub fn new(changes: HostChanges) -> Self {
        Self { changes, names: Arc::default(), reading: Arc::default() }
    }

    /// Returns the owner of the host. The database is read only when the names are older than [`FRESH_FOR`] and do not
    /// contain the host. `read` returns the host names of all active custom domains; it has to answer within `patience`.
    pub(super) async fn owner_of<E: Display>(
        &self,
        host: &str,
        patience: Duration,
        read: impl AsyncFnOnce() -> Result<HashSet<String>, E>,
    ) -> HostOwner {
        if let Some(owner) = self.known(host) {
            return owner;
        }
        // Only one caller reads; the others wait for the result.
        let Ok(_reading) = timeout(patience, self.reading.lock()).await else {
            return self.lock().owner_of(host);
        };
        if let Some(owner) = self.known(host) {
            return owner;
        }
        let changes = self.changes.count();
        let names = match timeout(patience, read()).await {
            Ok(Ok(names)) => Some(names),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the host names of custom domains");
                None
            }
            Err(_) => {
                tracing::warn!(
                    limit_seconds = patience.as_secs_f64(),
                    "host names of custom domains not read within the time limit"
                );
                None
            }
        };
        let mut known = self.lock();
        known.asked = Some((Instant::now(), changes));
        if names.is_some() {
            known.names = names;
        }
        known.owner_of(host)
    }

    /// Returns the owner if it is known without the database.
    fn known(&self, host: &str) -> Option<HostOwner> {
        let known = self.lock();
        let owner = known.owner_of(host);
        let changes = self.changes.count();
        let is_fresh = known.asked.is_some_and(|(at, before)| before == changes && at.elapsed() < FRESH_FOR);
        // If a host belonged to a page, this is checked again when the page is read.
        (is_fresh || owner == HostOwner::Page).then_some(owner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ActiveNames> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveNames {
    fn owner_of(&self, host: &str) -> HostOwner {
        match &self.names {
            None => HostOwner::Unclear,
            Some(names) if names.contains(host) => HostOwner::Page,
            Some(_) => HostOwner::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rstest::rstest;

    use super::*;
    use DatabaseState::{Answers, Fails, HangsForever};

    /// A database with one custom domain that counts its reads.
    #[derive(Default)]
    struct CountingDatabase {
        asked: Cell<u32>,
    }

    /// How the database behaves.
    #[derive(Clone, Copy, Debug)]
    enum DatabaseState {
        Answers,
        Fails,
        HangsForever,
    }

    impl CountingDatabase {
        /// Returns the owner of the host according to the cache, which may read this database.
        async fn owner(&self, cache: &HostCache, host: &str, state: DatabaseState) -> HostOwner {
            cache.owner_of(host, API_PATIENCE, async || self.read(state).await).await
        }

        async fn read(&self, state: DatabaseState) -> Result<HashSet<String>, &'static str> {
            self.asked.set(self.asked.get() + 1);
            match state {
                DatabaseState::Answers => Ok(HashSet::from(["status.shop.example".to_owned()])),
                DatabaseState::Fails => Err("the database is away"),
                DatabaseState::HangsForever => std::future::pending().await,
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_hosts_cause_one_query_every_few_seconds() {
        let (cache, database) = (HostCache::new(HostChanges::default()), CountingDatabase::default());
        for number in 0..1_000 {
            let owner = database.owner(&cache, &format!("host{number}.example"), Answers).await;
            assert_eq!((owner, database.asked.get()), (HostOwner::Nobody, 1));
        }
        tokio::time::advance(FRESH_FOR).await;
        let owner = database.owner(&cache, "host.example", Answers).await;
        assert_eq!((owner, database.asked.get()), (HostOwner::Nobody, 2));
        let owner = database.owner(&cache, "status.shop.example", Answers).await;
        assert_eq!((owner, database.asked.get()), (HostOwner::Page, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_on_this_node_applies_at_once() {
        let (changes, database) = (HostChanges::default(), CountingDatabase::default());
        let cache = HostCache::new(changes.clone());
        let read_none = async || Ok::<_, String>(HashSet::new());
        let none = cache.owner_of("status.shop.example", API_PATIENCE, read_none).await;
        assert_eq!(none, HostOwner::Nobody);
        changes.note();
        assert_eq!(database.owner(&cache, "status.shop.example", Answers).await, HostOwner::Page);
    }

    #[rstest]
    #[case::fails(Fails)]
    #[case::hangs(HangsForever)]
    #[tokio::test(start_paused = true)]
    async fn an_unavailable_database_is_queried_once_every_few_seconds(#[case] away: DatabaseState) {
        let (cache, database) = (HostCache::new(HostChanges::default()), CountingDatabase::default());
        let begin = Instant::now();
        for _ in 0..3 {
            let owner = database.owner(&cache, "host.example", away).await;
            assert_eq!((owner, database.asked.get()), (HostOwner::Unclear, 1));
        }
        tokio::time::advance(FRESH_FOR).await;
        database.owner(&cache, "host.example", Answers).await;
        tokio::time::advance(FRESH_FOR).await;
        // The last names that were read still count.
        assert_eq!(database.owner(&cache, "status.shop.example", away).await, HostOwner::Page);
        assert_eq!(database.owner(&cache, "host.example", away).await, HostOwner::Nobody);
        assert!(begin.elapsed() <= FRESH_FOR * 2 + API_PATIENCE * 2, "{:?}", begin.elapsed());
    }
}
