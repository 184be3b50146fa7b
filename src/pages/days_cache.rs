//! The days of services, read once a minute and after a change of the verdict for each service, whichever pages show it.
//!
//! A page is shown without waiting for the history database: while it is unavailable, the days read last are shown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::history_figures::service_days::MeasuredService;
use crate::model::service::ServiceKey;
use crate::model::verdict::Verdict;
use crate::stats::service_days::ServiceDays;

/// Time for which the days of a service are current.
const FRESH_FOR: Duration = Duration::from_secs(60);
/// The same after a change of the verdict, which may not have been written yet.
const CHANGED_FRESH_FOR: Duration = Duration::from_secs(2);
/// Longest wait of visitors for the days.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two attempts to read while reading fails, or takes too long.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// Number of services from which on those that no page has shown for [`UNUSED_AFTER`] are dropped.
const SERVICES_MAX: usize = 20_000;
const UNUSED_AFTER: Duration = Duration::from_secs(600);

/// The days of the services on pages that visitors view. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct DaysCache {
    state: Arc<Mutex<CachedServices>>,
    /// Longest wait for the days.
    patience: Duration,
}

impl Default for DaysCache {
    fn default() -> Self {
        Self::with_patience(PATIENCE)
    }
}

#[derive(Debug, Default)]
struct CachedServices {
    services: HashMap<ServiceKey, CachedDays>,
    /// Time of the last failed read, unless a later one has succeeded.
    failed_at: Option<Instant>,
}

#[derive(Debug)]
struct CachedDays {
    /// `None` if the service was never checked.
    days: Option<Arc<ServiceDays>>,
    /// The verdict of the service at that time.
    verdict: Verdict,
    current_until: Instant,
    used_at: Instant,
}

impl DaysCache {
    /// Creates a cache whose callers wait for the days this long.
    pub(super) fn with_patience(patience: Duration) -> Self {
        Self { state: Arc::default(), patience }
    }

    /// Returns the days of these services, as far as they are known. `read` reads the days of the services that are not
    /// current, from the history database.
    pub(super) async fn current<E: std::fmt::Display>(
        &self,
        services: &[ServiceKey],
        measured: &[MeasuredService],
        read: impl AsyncFnOnce(&[MeasuredService]) -> Result<HashMap<ServiceKey, ServiceDays>, E>,
    ) -> HashMap<ServiceKey, Arc<ServiceDays>> {
        let outdated = self.outdated(measured);
        if !outdated.is_empty() {
            let begin = Instant::now();
            match timeout(self.patience, read(&outdated)).await {
                Ok(Ok(found)) => self.keep(&outdated, found, begin),
                Ok(Err(error)) => self.note_failure(&error.to_string()),
                Err(_) => self.postpone(&outdated),
            }
        }
        self.known(services)
    }

    /// Returns those services whose days have to be read.
    fn outdated(&self, measured: &[MeasuredService]) -> Vec<MeasuredService> {
        let state = self.lock();
        if state.failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            return Vec::new();
        }
        let is_current = |service: &&MeasuredService| {
            state
                .services
                .get(&service.key)
                .is_some_and(|known| known.verdict == service.verdict && Instant::now() < known.current_until)
        };
        measured.iter().filter(|service| !is_current(service)).copied().collect()
    }

    fn keep(&self, asked: &[MeasuredService], mut found: HashMap<ServiceKey, ServiceDays>, read_at: Instant) {
        let mut state = self.lock();
        state.failed_at = None;
        if state.services.len() + asked.len() > SERVICES_MAX {
            state.services.retain(|_, known| known.used_at.elapsed() < UNUSED_AFTER);
        }
        for service in asked {
            let days = found.remove(&service.key).map(Arc::new);
            let known = state.services.remove(&service.key);
            let has_changed = known.as_ref().is_some_and(|known| known.verdict != service.verdict);
            let fresh_for = if has_changed { CHANGED_FRESH_FOR } else { FRESH_FOR };
            // An unchanged value stays the same one, which is quickly compared.
            let known = known.and_then(|known| known.days).filter(|known| Some(known) == days.as_ref());
            let cached = CachedDays {
                days: known.or(days),
                verdict: service.verdict,
                current_until: read_at + fresh_for,
                used_at: read_at,
            };
            state.services.insert(service.key, cached);
        }
    }

    fn note_failure(&self, problem: &str) {
        tracing::warn!(
            problem,
            "cannot read the uptime bars of a status page; the last known ones are shown"
        );
        self.lock().failed_at = Some(Instant::now());
    }

    /// Reads these services, whose read takes too long, only after some time. Other services may be read quickly.
    fn postpone(&self, asked: &[MeasuredService]) {
        tracing::warn!(
            services = asked.len(),
            "reading the uptime bars of a status page takes too long; the last known ones are shown"
        );
        let mut state = self.lock();
        let now = Instant::now();
        for service in asked {
            let known = state.services.remove(&service.key);
            let cached = CachedDays {
                days: known.and_then(|known| known.days),
                verdict: service.verdict,
                current_until: now + RETRY_AFTER,
                used_at: now,
            };
            state.services.insert(service.key, cached);
        }
    }

    fn known(&self, services: &[ServiceKey]) -> HashMap<ServiceKey, Arc<ServiceDays>> {
        let mut state = self.lock();
        let now = Instant::now();
        let known = services.iter().filter_map(|service| {
            let known = state.services.get_mut(service)?;
            known.used_at = now;
            Some((*service, Arc::clone(known.days.as_ref()?)))
        });
        known.collect()
    }

    fn lock(&self) -> MutexGuard<'_, CachedServices> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::clock::Timestamp;

    fn days(uptime: i64) -> ServiceDays {
        ServiceDays {
            from: Timestamp::from_ms(0),
            first_day: 1,
            last_day: 2,
            troubled: Vec::new(),
            uptime: Some(uptime),
            coverage: 100_000,
            periods: Vec::new(),
        }
    }

    /// Returns the uptimes that the cache shows for services 1 and 2, and how many services were read.
    async fn shown(cache: &DaysCache, found: Result<i64, &'static str>) -> (Vec<Option<i64>>, usize) {
        shown_with(cache, found, Verdict::Up).await
    }

    /// As [`shown`], while service 2 has this verdict.
    async fn shown_with(
        cache: &DaysCache,
        found: Result<i64, &'static str>,
        verdict: Verdict,
    ) -> (Vec<Option<i64>>, usize) {
        let verdicts = [(1, Verdict::Up), (2, verdict)];
        let measured = verdicts.map(|(key, verdict)| MeasuredService {
            key,
            verdict,
            measured_until: Timestamp::from_ms(0),
        });
        let reads = Cell::new(0);
        let read = async |asked: &[MeasuredService]| {
            reads.set(asked.len());
            found.map(|uptime| asked.iter().map(|one| (one.key, days(uptime))).collect())
        };
        let known = cache.current(&[1, 2], &measured, read).await;
        let uptime = |key: i64| known.get(&key).and_then(|days| days.uptime);
        ([1, 2].map(uptime).to_vec(), reads.get())
    }

    #[tokio::test(start_paused = true)]
    async fn days_are_read_once_a_minute() {
        let cache = DaysCache::default();
        assert_eq!(shown(&cache, Ok(5)).await, (vec![Some(5), Some(5)], 2));
        assert_eq!(shown(&cache, Ok(6)).await, (vec![Some(5), Some(5)], 0));
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(&cache, Ok(6)).await, (vec![Some(6), Some(6)], 2));
        assert_eq!(shown_with(&cache, Ok(7), Verdict::Down).await, (vec![Some(6), Some(7)], 1));
        tokio::time::advance(CHANGED_FRESH_FOR).await;
        assert_eq!(shown_with(&cache, Ok(8), Verdict::Down).await, (vec![Some(6), Some(8)], 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_read_does_not_stop_those_of_other_services() {
        let cache = DaysCache::default();
        let measured =
            |key| MeasuredService { key, verdict: Verdict::Up, measured_until: Timestamp::from_ms(0) };
        let read = async |key: i64, wait: Duration| {
            let read = async |asked: &[MeasuredService]| {
                tokio::time::sleep(wait).await;
                Ok::<_, &str>(asked.iter().map(|one| (one.key, days(5))).collect())
            };
            cache.current(&[key], &[measured(key)], read).await.len()
        };
        assert_eq!(read(1, PATIENCE * 2).await, 0);
        assert_eq!((read(2, Duration::ZERO).await, read(1, Duration::ZERO).await), (1, 0));
        tokio::time::advance(RETRY_AFTER).await;
        assert_eq!(read(1, Duration::ZERO).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_days_are_shown_while_they_cannot_be_read() {
        let cache = DaysCache::default();
        assert_eq!(shown(&cache, Err("away")).await, (vec![None, None], 2));
        assert_eq!(shown(&cache, Ok(5)).await, (vec![None, None], 0), "not asked again at once");
        tokio::time::advance(RETRY_AFTER).await;
        assert_eq!(shown(&cache, Ok(5)).await, (vec![Some(5), Some(5)], 2));
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(shown(&cache, Err("away")).await.0, [Some(5), Some(5)]);
    }
}
