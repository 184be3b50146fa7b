//! Snapshots of the pages that visitors view. Each is read once for all requests that arrive at the same time, and rendered
//! once for each change and language.
//!
//! A snapshot is current for a second, and until a commit of this process changes what pages show. While the databases are
//! unavailable the last snapshot is shown, marked with its time.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::representation::Representation;
use crate::store::changes::{CommitStamp, CommitTracker};

/// Time for which a snapshot is current. Changes of verdicts, and changes written by other nodes, are seen after this time.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// Time between two attempts to read from databases that are unavailable.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Longest wait for a read while an earlier snapshot could be shown.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for the read of another visitor while an earlier snapshot could be shown.
const TURN_PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of cached pages; the next constant is the approximate maximum of the bytes rendered from them.
const PAGES_MAX: usize = 1_000;
const BYTES_MAX: usize = 64 * 1_024 * 1_024;
/// Maximum number of bytes rendered from one page.
const PAGE_BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// Maximum number of representations of one page: its languages, colour schemes and formats.
const PARTS_MAX: usize = 500;
/// Maximum number of pages that are read at the same time.
const READS_MAX: usize = 64;

/// A cache of snapshots of kind `S`, one for each key `K`, which contains the host of the page. Cheap to clone.
#[derive(Debug)]
pub struct SnapshotCache<K, S> {
    pages: Arc<Mutex<HashMap<K, CachedSnapshot<S>>>>,
    /// Lets only one caller read a page, while the others wait for the result.
    turns: ReadTurns,
}

/// Locks for reading pages; the hash of a page's key selects its lock.
#[derive(Clone, Debug)]
struct ReadTurns(Arc<[tokio::sync::Mutex<()>; READS_MAX]>);

impl Default for ReadTurns {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| tokio::sync::Mutex::default())))
    }
}

/// A snapshot of a page, and the times of its last reads.
#[derive(Debug)]
struct CachedSnapshot<S> {
    rendered: Arc<RenderedSnapshot<S>>,
    /// Time of the last successful read: by commits, by the monotonic clock, and by the wall clock.
    stamp: CommitStamp,
    read_at: Instant,
    as_of: Timestamp,
    /// Time of the last attempt to read the page, if that attempt failed.
    failed_at: Option<Instant>,
    used_at: Instant,
}

/// A snapshot with the representations that were rendered from it.
#[derive(Debug)]
pub(super) struct RenderedSnapshot<S> {
    pub(super) snapshot: S,
    parts: Mutex<HashMap<PartKey, Arc<Representation>>>,
    /// Size of the representations, without their compressed forms; written while `parts` is locked.
    bytes: AtomicUsize,
}

/// Identifies a representation of a page: its path, and everything else on which its content depends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartKey {
    /// The path, with the known parts of the query.
    pub(super) name: String,
    pub(super) locale: String,
    /// Time of the snapshot; set while the page cannot be read.
    pub(super) as_of: Option<Timestamp>,
}

/// A snapshot that can be shown now.
#[derive(Debug)]
pub(super) struct CurrentSnapshot<S> {
    pub(super) rendered: Arc<RenderedSnapshot<S>>,
    /// Time of the snapshot; set while a later one cannot be read.
    pub(super) as_of: Option<Timestamp>,
}

impl<S> RenderedSnapshot<S> {
    fn new(snapshot: S) -> Self {
        Self { snapshot, parts: Mutex::default(), bytes: AtomicUsize::new(0) }
    }

    /// Returns a representation, rendered on first use.
    ///
    /// # Errors
    /// The error of `render`.
    pub(super) fn part<E>(
        &self,
        key: PartKey,
        render: impl FnOnce(&S) -> Result<Vec<u8>, E>,
    ) -> Result<Arc<Representation>, E> {
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        render(&self.snapshot).map(|content| self.keep(key, Arc::new(Representation::new(content))))
    }

    /// As [`part`](Self::part), for a representation that may not exist.
    ///
    /// # Errors
    /// The error of `render`.
    pub(super) fn part_if<E>(
        &self,
        key: PartKey,
        render: impl FnOnce(&S) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<Arc<Representation>>, E> {
        if let Some(known) = self.known(&key) {
            return Ok(Some(known));
        }
        let rendered = render(&self.snapshot)?;
        Ok(rendered.map(|content| self.keep(key, Arc::new(Representation::new(content)))))
    }

    /// Returns a representation that was rendered before.
    pub(super) fn known(&self, key: &PartKey) -> Option<Arc<Representation>> {
        lock(&self.parts).get(key).map(Arc::clone)
    }

    /// Stores a representation, and returns it.
    pub(super) fn keep(&self, key: PartKey, made: Arc<Representation>) -> Arc<Representation> {
        let size = made.plain().len();
        let mut parts = lock(&self.parts);
        let bytes = self.bytes.load(Ordering::Relaxed) + size;
        if parts.len() >= PARTS_MAX || bytes > PAGE_BYTES_MAX {
            parts.clear();
            self.bytes.store(size, Ordering::Relaxed);
        } else {
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        parts.insert(key, Arc::clone(&made));
        made
    }

    /// Returns the bytes of all representations, without their compressed forms.
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl<K, S> Clone for SnapshotCache<K, S> {
    fn clone(&self) -> Self {
        Self { pages: Arc::clone(&self.pages), turns: self.turns.clone() }
    }
}

impl<K, S> Default for SnapshotCache<K, S> {
    fn default() -> Self {
        Self { pages: Arc::default(), turns: ReadTurns::default() }
    }
}

impl<K: Clone + Eq + Hash, S: PartialEq> SnapshotCache<K, S> {
    /// Returns the current snapshot for a key; `None` if there is none. `now` returns the wall time. `read` reads the page, and
    /// gets the earlier snapshot.
    ///
    /// # Errors
    /// The error of `read`, when there is no earlier snapshot.
    pub(super) async fn current<E>(
        &self,
        key: &K,
        changes: &CommitTracker,
        now: impl Fn() -> Timestamp,
        read: impl AsyncFnOnce(Option<&S>) -> Result<Option<S>, E>,
    ) -> Result<Option<CurrentSnapshot<S>>, E> {
        if let Some(page) = self.known(key, changes) {
            return Ok(Some(page));
        }
        // While another visitor waits for a slow read, an earlier snapshot is better than nothing.
        let earlier = lock(&self.pages).get(key).map(CachedSnapshot::outdated);
        let turn = self.turns.0[turn(key)].lock();
        let _turn = match earlier {
            None => turn.await,
            Some(earlier) => match timeout(TURN_PATIENCE, turn).await {
                Ok(turn) => turn,
                Err(_) => return Ok(Some(earlier)),
            },
        };
        if let Some(page) = self.known(key, changes) {
            return Ok(Some(page));
        }
        let (stamp, as_of) = (changes.stamp(), now());
        let earlier = lock(&self.pages).get(key).map(CachedSnapshot::outdated);
        let is_known = earlier.is_some();
        let reading = read(earlier.as_ref().map(|earlier| &earlier.rendered.snapshot));
        let found = if is_known { timeout(PATIENCE, reading).await.ok() } else { Some(reading.await) };
        let mut pages = lock(&self.pages);
        match found {
            Some(Ok(None)) => {
                pages.remove(key);
                Ok(None)
            }
            Some(Ok(Some(snapshot))) => {
                let now = Instant::now();
                let earlier = earlier.map(|earlier| earlier.rendered);
                let unchanged = earlier.filter(|earlier| earlier.snapshot == snapshot);
                let rendered = unchanged.unwrap_or_else(|| Arc::new(RenderedSnapshot::new(snapshot)));
                let cached =
                    CachedSnapshot { rendered, stamp, read_at: now, as_of, failed_at: None, used_at: now };
                Ok(Some(keep(&mut pages, key, cached)))
            }
            Some(Err(error)) if !is_known => Err(error),
            _ => {
                // Other pages may have taken its room meanwhile; this visitor sees it all the same.
                if let Some(cached) = pages.get_mut(key) {
                    cached.failed_at = Some(Instant::now());
                }
                Ok(earlier)
            }
        }
    }

    /// Returns the snapshot that was read last, however old it is.
    pub(super) fn latest(&self, key: &K) -> Option<Arc<RenderedSnapshot<S>>> {
        lock(&self.pages).get(key).map(|cached| Arc::clone(&cached.rendered))
    }

    /// Returns the page if it need not be read.
    fn known(&self, key: &K, changes: &CommitTracker) -> Option<CurrentSnapshot<S>> {
        let mut pages = lock(&self.pages);
        let cached = pages.get_mut(key)?;
        let is_current = cached.read_at.elapsed() < FRESH_FOR && changes.are_pages_current(cached.stamp);
        let has_just_failed = cached.failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER);
        (is_current || has_just_failed).then(|| cached.show())
    }
}

impl<S> CachedSnapshot<S> {
    /// The snapshot, marked with its time.
    fn outdated(&self) -> CurrentSnapshot<S> {
        CurrentSnapshot { rendered: Arc::clone(&self.rendered), as_of: Some(self.as_of) }
    }

    fn show(&mut self) -> CurrentSnapshot<S> {
        self.used_at = Instant::now();
        CurrentSnapshot {
            rendered: Arc::clone(&self.rendered),
            as_of: self.failed_at.is_some().then_some(self.as_of),
        }
    }
}

/// Stores a snapshot in place of the earlier one with its key. The snapshots that were not used for the longest time are
/// dropped to make room.
fn keep<K: Clone + Eq + Hash, S>(
    pages: &mut HashMap<K, CachedSnapshot<S>>,
    key: &K,
    cached: CachedSnapshot<S>,
) -> CurrentSnapshot<S> {
    pages.remove(key);
    let mut bytes: usize = pages.values().map(|cached| cached.rendered.bytes()).sum();
    while pages.len() >= PAGES_MAX || bytes > BYTES_MAX {
        let oldest = pages.iter().min_by_key(|(_, cached)| cached.used_at).map(|(key, _)| key.clone());
        let Some(removed) = oldest.and_then(|key| pages.remove(&key)) else { break };
        bytes = bytes.saturating_sub(removed.rendered.bytes());
    }
    pages.entry(key.clone()).insert_entry(cached).get_mut().show()
}

fn turn(key: &impl Hash) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % READS_MAX as u64).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::pages::page_host::PageHost;

    /// A page that counts how often it is read.
    #[derive(Default)]
    struct CountingPage {
        reads: Cell<u32>,
    }

    fn host() -> PageHost {
        PageHost::Slug("shop".into())
    }

    impl CountingPage {
        /// Returns the snapshot that the cache shows while a read has this result, and whether it is marked as old.
        async fn shown(
            &self,
            cache: &SnapshotCache<PageHost, u32>,
            changes: &CommitTracker,
            found: Result<Option<u32>, &'static str>,
        ) -> Result<Option<(u32, bool)>, &'static str> {
            let read = async |_: Option<&u32>| {
                self.reads.set(self.reads.get() + 1);
                found
            };
            let current = cache.current(&host(), changes, || Timestamp::from_ms(0), read).await?;
            Ok(current.map(|current| (current.rendered.snapshot, current.as_of.is_some())))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_snapshot_is_read_again_after_a_commit_and_after_a_second() {
        let (cache, changes, page) =
            (SnapshotCache::default(), CommitTracker::default(), CountingPage::default());
        for _ in 0..3 {
            assert_eq!(page.shown(&cache, &changes, Ok(Some(1))).await, Ok(Some((1, false))));
        }
        assert_eq!(page.reads.get(), 1);
        changes.mark_all();
        assert_eq!(page.shown(&cache, &changes, Ok(Some(2))).await, Ok(Some((2, false))));
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(page.shown(&cache, &changes, Ok(Some(2))).await, Ok(Some((2, false))));
        assert_eq!(page.reads.get(), 3);
        changes.mark_all();
        assert_eq!(page.shown(&cache, &changes, Ok(None)).await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_snapshot_is_shown_with_its_time_while_it_cannot_be_read() {
        let (cache, changes, page) =
            (SnapshotCache::default(), CommitTracker::default(), CountingPage::default());
        assert_eq!(page.shown(&cache, &changes, Err("away")).await, Err("away"), "nothing is known yet");
        page.shown(&cache, &changes, Ok(Some(1))).await.unwrap();
        tokio::time::advance(FRESH_FOR).await;
        for _ in 0..3 {
            assert_eq!(page.shown(&cache, &changes, Err("away")).await, Ok(Some((1, true))));
        }
        assert_eq!(page.reads.get(), 3, "an absent database is asked once a second");
        tokio::time::advance(RETRY_AFTER).await;
        assert_eq!(page.shown(&cache, &changes, Ok(Some(1))).await, Ok(Some((1, false))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_without_end_does_not_hold_up_visitors() {
        let (cache, changes, page) =
            (SnapshotCache::default(), CommitTracker::default(), CountingPage::default());
        page.shown(&cache, &changes, Ok(Some(1))).await.unwrap();
        tokio::time::advance(FRESH_FOR).await;
        let endless = async |_: Option<&u32>| std::future::pending::<Result<Option<u32>, &str>>().await;
        let begin = Instant::now();
        let current = cache.current(&host(), &changes, || Timestamp::from_ms(0), endless).await;
        assert!(current.unwrap().unwrap().as_of.is_some() && begin.elapsed() == PATIENCE);
    }

    #[tokio::test]
    async fn equal_snapshots_are_rendered_once() {
        let (cache, changes) = (SnapshotCache::default(), CommitTracker::default());
        let renders = Cell::new(0);
        for snapshot in [1, 1, 2] {
            let read = async |_: Option<&u32>| Ok::<_, ()>(Some(snapshot));
            let current = cache.current(&host(), &changes, || Timestamp::from_ms(0), read).await;
            let key = PartKey { name: "page".into(), locale: "en".into(), as_of: None };
            let render = |snapshot: &u32| {
                renders.set(renders.get() + 1);
                Ok::<_, ()>(snapshot.to_string().into_bytes())
            };
            let content = current.unwrap().unwrap().rendered.part(key, render).unwrap();
            assert_eq!(content.plain(), snapshot.to_string().as_bytes());
            changes.mark_all();
        }
        assert_eq!(renders.get(), 2);
    }
}
