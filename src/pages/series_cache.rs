//! The response times of services on pages that visitors view, read at most once a minute for each service.
//!
//! A document is shown without waiting long for the history database: while it is unavailable, the times read last are shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::history_figures::response_series::ResponseSeries;
use crate::model::service::ServiceKey;

/// Time for which the response times of a service are current; after a failed read, the time until the next one.
const FRESH_FOR: Duration = Duration::from_secs(60);
/// Longest wait for the response times.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of services; each takes about 10 kB.
const SERVICES_MAX: usize = 2_000;

/// Response times of services. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct SeriesCache {
    services: Arc<Mutex<HashMap<ServiceKey, CachedSeries>>>,
    /// Number of the last read.
    reads: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
struct CachedSeries {
    series: Arc<ReadSeries>,
    read_at: Instant,
}

/// Response times as they were read once.
#[derive(Debug, Default)]
pub(super) struct ReadSeries {
    pub(super) ranges: Vec<ResponseSeries>,
    /// Number of the read in this process; 0 if nothing was read.
    pub(super) number: u64,
}

impl SeriesCache {
    /// Returns the response times of a service; none while they cannot be read. `read` reads them.
    pub(super) async fn current<E: std::fmt::Display>(
        &self,
        service: ServiceKey,
        read: impl AsyncFnOnce() -> Result<Vec<ResponseSeries>, E>,
    ) -> Arc<ReadSeries> {
        let known = self.lock().get(&service).cloned();
        if let Some(known) = &known
            && known.read_at.elapsed() < FRESH_FOR
        {
            return Arc::clone(&known.series);
        }
        let found = match timeout(PATIENCE, read()).await {
            Ok(Ok(ranges)) => {
                let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
                Some(Arc::new(ReadSeries { ranges, number }))
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the response times of a component; the last known ones are shown");
                None
            }
            Err(_) => None,
        };
        let series = found.or(known.map(|known| known.series)).unwrap_or_default();
        let mut services = self.lock();
        if services.len() >= SERVICES_MAX {
            services.retain(|_, cached| cached.read_at.elapsed() < FRESH_FOR);
        }
        if services.len() < SERVICES_MAX {
            services.insert(service, CachedSeries { series: Arc::clone(&series), read_at: Instant::now() });
        }
        series
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ServiceKey, CachedSeries>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::history_figures::response_series::RANGES;

    fn series(p50_us: u32) -> Vec<ResponseSeries> {
        let [range, ..] = RANGES;
        let from = Timestamp::from_ms(0);
        vec![ResponseSeries { range, from, buckets: Vec::new(), p50_us: Some(p50_us), p95_us: None }]
    }

    #[tokio::test(start_paused = true)]
    async fn response_times_are_read_once_a_minute_and_kept_while_they_cannot_be_read() {
        let cache = SeriesCache::default();
        let shown = async |found: Result<u32, &'static str>| {
            let series = cache.current(1, async || found.map(series)).await;
            series.ranges.first().and_then(|series| series.p50_us)
        };
        assert_eq!(shown(Err("away")).await, None);
        assert_eq!(shown(Ok(1)).await, None, "not asked again at once");
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(Ok(1)).await, Some(1));
        assert_eq!(shown(Ok(2)).await, Some(1));
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(Err("away")).await, Some(1));
    }
}
