//! The figures of services on pages that visitors view, read at most once a minute for each service.
//!
//! A document is shown without waiting long for the history database: while it is unavailable, the figures read last are shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::pages::service_figures::{FiguresKey, ServiceFigures};

/// Time for which the figures of a service are current; after a failed read, the time until the next one.
const FRESH_FOR: Duration = Duration::from_secs(60);
/// Longest wait of visitors for the figures.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of services; each takes about 10 kB.
const SERVICES_MAX: usize = 2_000;

/// Figures of services. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct FiguresCache {
    services: Arc<Mutex<HashMap<FiguresKey, Arc<FiguresEntry>>>>,
    /// Longest wait for the figures.
    patience: Duration,
    /// Number of the last read.
    reads: Arc<AtomicU64>,
}

/// The place of a service in the cache.
#[derive(Debug, Default)]
struct FiguresEntry {
    known: Mutex<Option<CachedFigures>>,
    /// Held by the visitor for whom the figures are being read.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct CachedFigures {
    figures: Arc<CurrentFigures>,
    read_at: Instant,
}

impl FiguresEntry {
    fn known(&self) -> Option<CachedFigures> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, figures: CachedFigures) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(figures);
    }

    fn is_fresh(&self) -> bool {
        self.known().is_some_and(|known| known.read_at.elapsed() < FRESH_FOR)
    }
}

/// Figures as they were read once.
#[derive(Debug, Default)]
pub(super) struct CurrentFigures {
    pub(super) figures: ServiceFigures,
    /// Number of the read in this process; 0 if nothing was read.
    pub(super) number: u64,
}

impl Default for FiguresCache {
    fn default() -> Self {
        Self::with_patience(PATIENCE)
    }
}

impl FiguresCache {
    /// Creates a cache whose callers wait for the figures this long.
    pub(super) fn with_patience(patience: Duration) -> Self {
        Self { services: Arc::default(), patience, reads: Arc::default() }
    }

    /// Returns the figures of a service; none while they cannot be read. `read` reads them, for one visitor at a time:
    /// the others see those read before.
    pub(super) async fn current<E: std::fmt::Display>(
        &self,
        key: FiguresKey,
        read: impl AsyncFnOnce() -> Result<ServiceFigures, E>,
    ) -> Arc<CurrentFigures> {
        let entry = self.entry(key);
        let is_being_read = entry.reading.try_lock().is_err();
        if let Some(known) = entry.known().filter(|_| is_being_read || entry.is_fresh()) {
            return known.figures;
        }
        let _turn = entry.reading.lock().await;
        let known = entry.known();
        if let Some(known) = known.clone().filter(|_| entry.is_fresh()) {
            return known.figures;
        }
        let found = match timeout(self.patience, read()).await {
            Ok(Ok(figures)) => {
                let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
                Some(Arc::new(CurrentFigures { figures, number }))
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the figures of a component; the last known ones are shown");
                None
            }
            Err(_) => None,
        };
        let figures = found.or(known.map(|known| known.figures)).unwrap_or_default();
        entry.set(CachedFigures { figures: Arc::clone(&figures), read_at: Instant::now() });
        figures
    }

    /// Returns the place of a service; one that nobody else finds if there is no room.
    fn entry(&self, key: FiguresKey) -> Arc<FiguresEntry> {
        let mut services = self.lock();
        if let Some(entry) = services.get(&key) {
            return Arc::clone(entry);
        }
        if services.len() >= SERVICES_MAX {
            services.retain(|_, entry| entry.is_fresh());
        }
        let entry = Arc::<FiguresEntry>::default();
        if services.len() < SERVICES_MAX {
            services.insert(key, Arc::clone(&entry));
        }
        entry
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FiguresKey, Arc<FiguresEntry>>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::history_figures::response_series::{RANGES, ResponseSeries};

    const KEY: FiguresKey = FiguresKey { service: 1, shows_locations: false, shows_agreements: false };

    fn figures(p50_us: u32) -> ServiceFigures {
        let [range, ..] = RANGES;
        let from = Timestamp::from_ms(0);
        let series = ResponseSeries {
            range,
            from,
            buckets: Vec::new(),
            p50_us: Some(p50_us),
            p95_us: None,
            p99_us: None,
        };
        ServiceFigures { ranges: vec![series], ..ServiceFigures::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn figures_are_read_once_a_minute_and_kept_while_they_cannot_be_read() {
        let cache = FiguresCache::default();
        let shown = async |found: Result<u32, &'static str>| {
            let figures = cache.current(KEY, async || found.map(figures)).await;
            figures.figures.ranges.first().and_then(|series| series.p50_us)
        };
        assert_eq!(shown(Err("away")).await, None);
        assert_eq!(shown(Ok(1)).await, None, "not asked again at once");
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(Ok(1)).await, Some(1));
        assert_eq!(shown(Ok(2)).await, Some(1));
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(Err("away")).await, Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn many_visitors_cause_one_read() {
        let cache = FiguresCache::default();
        let reads = AtomicU64::new(0);
        let visit = async || {
            let read = async || {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok::<_, &str>(figures(u32::try_from(reads.fetch_add(1, Ordering::Relaxed)).unwrap()))
            };
            cache.current(KEY, read).await.figures.ranges[0].p50_us.unwrap()
        };
        let first = tokio::join!(visit(), visit(), visit());
        assert_eq!((first, reads.load(Ordering::Relaxed)), ((0, 0, 0), 1), "nobody knew them before");
        tokio::time::advance(FRESH_FOR).await;
        let second = tokio::join!(visit(), visit(), visit());
        assert_eq!(
            (second, reads.load(Ordering::Relaxed)),
            ((1, 0, 0), 2),
            "the others see the earlier ones"
        );
    }
}
