//! Limits how often visitors may do something: try a password, ask for a link, subscribe. Each node counts for itself.
//!
//! An attempt is counted before it is carried out, so that many at the same time do not pass. Memory is bounded: beyond a
//! number of sources, the others share some thousand windows, chosen by a secret hash. So somebody needs very many addresses
//! to shut out other visitors, and never gets an unlimited number of attempts.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of windows of single sources.
const WINDOWS_MAX: usize = 100_000;
/// Number of windows that all other sources share.
const SHARED_WINDOWS: u64 = 4_096;
/// Shortest time between two removals of ended windows.
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// The bits of an IPv6 address that identify a connection to the internet; a customer has all addresses that begin with
/// them.
const NETWORK: u128 = !0 << 64;

/// The number of attempts in a window, which starts with the first one.
#[derive(Clone, Copy, Debug)]
pub struct VisitorLimit {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// Length of the window.
    pub window: Duration,
}

/// Counts attempts of sources, such as clients or addresses. Cheap to clone.
#[derive(Clone, Debug)]
pub struct VisitorLimiter<K> {
    limit: VisitorLimit,
    state: Arc<Mutex<LimiterState<K>>>,
    /// Chooses the shared window of a source.
    hasher: RandomState,
}

/// The windows of all sources.
#[derive(Debug)]
struct LimiterState<K> {
    windows: HashMap<AttemptSource<K>, AttemptWindow>,
    /// Time at which ended windows were last removed.
    swept_at: Option<Instant>,
}

/// Whose attempts are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AttemptSource<K> {
    /// A single source.
    Single(K),
    /// Sources for which there is no room, and whose hashes have this remainder.
    Shared(u64),
}

/// The attempts of a source.
#[derive(Clone, Copy, Debug)]
struct AttemptWindow {
    started_at: Instant,
    used: u32,
}

/// An attempt that was counted.
#[derive(Clone, Copy, Debug)]
pub struct CountedAttempt<K> {
    source: AttemptSource<K>,
    started_at: Instant,
}

impl<K: Copy + Eq + Hash> VisitorLimiter<K> {
    /// A limiter that has counted nothing.
    #[must_use]
    pub fn new(limit: VisitorLimit) -> Self {
        let state = LimiterState { windows: HashMap::new(), swept_at: None };
        Self { limit, state: Arc::new(Mutex::new(state)), hasher: RandomState::new() }
    }

    /// Counts an attempt.
    ///
    /// # Errors
    /// The time to wait, when there were too many.
    pub fn begin(&self, source: K, now: Instant) -> Result<CountedAttempt<K>, Duration> {
        let VisitorLimit { attempts, window: length } = self.limit;
        let has_ended = |window: &AttemptWindow| now.duration_since(window.started_at) >= length;
        let mut state = self.lock();
        // Removing takes a while, so that it is not done for every attempt of somebody with very many addresses.
        let was_swept = state.swept_at.is_some_and(|at| now.duration_since(at) < SWEEP_EVERY);
        if state.windows.len() >= WINDOWS_MAX && !was_swept {
            state.windows.retain(|_, window| !has_ended(window));
            state.swept_at = Some(now);
        }
        let windows = &mut state.windows;
        let single = AttemptSource::Single(source);
        let has_room = windows.len() < WINDOWS_MAX || windows.contains_key(&single);
        let shared = || AttemptSource::Shared(self.hasher.hash_one(source) % SHARED_WINDOWS);
        let source = if has_room { single } else { shared() };
        let window = windows.entry(source).or_insert(AttemptWindow { started_at: now, used: 0 });
        if has_ended(window) {
            *window = AttemptWindow { started_at: now, used: 0 };
        }
        if window.used >= attempts {
            return Err(length.saturating_sub(now.duration_since(window.started_at)));
        }
        window.used += 1;
        Ok(CountedAttempt { source, started_at: window.started_at })
    }

    /// Uncounts an attempt.
    pub fn give_back(&self, counted: CountedAttempt<K>) {
        let mut state = self.lock();
        let window = state.windows.get_mut(&counted.source);
        if let Some(window) = window.filter(|window| window.started_at == counted.started_at) {
            window.used = window.used.saturating_sub(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, LimiterState<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the address, or the network of an IPv6 address: whose visitors count as one.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIMIT: VisitorLimit = VisitorLimit { attempts: 10, window: Duration::from_secs(900) };

    fn limiter() -> VisitorLimiter<u32> {
        VisitorLimiter::new(LIMIT)
    }

    #[test]
    fn ten_attempts_pass_in_fifteen_minutes() {
        let (limiter, start) = (limiter(), Instant::now());
        for _ in 0..10 {
            assert!(limiter.begin(1, start).is_ok());
        }
        assert_eq!(limiter.begin(1, start).unwrap_err(), LIMIT.window);
        let late = start + Duration::from_secs(899);
        assert_eq!(limiter.begin(1, late).unwrap_err(), Duration::from_secs(1));
        assert!(limiter.begin(2, start).is_ok(), "another source");
        assert!(limiter.begin(1, start + LIMIT.window).is_ok());
    }

    #[test]
    fn attempts_that_are_given_back_do_not_count() {
        let (limiter, start) = (limiter(), Instant::now());
        for _ in 0..100 {
            let counted = limiter.begin(1, start).unwrap();
            limiter.give_back(counted);
        }
        let counted = limiter.begin(1, start).unwrap();
        for _ in 0..10 {
            limiter.begin(1, start + LIMIT.window).unwrap();
        }
        limiter.give_back(counted);
        assert!(limiter.begin(1, start + LIMIT.window).is_err(), "it belonged to an earlier window");
    }

    /// A customer with many IPv6 addresses counts once.
    #[rstest]
    #[case("192.0.2.1", "192.0.2.1")]
    #[case("::ffff:192.0.2.1", "192.0.2.1")]
    #[case("2001:db8::ffff:1", "2001:db8::")]
    #[case("2001:db8:0:1::1", "2001:db8:0:1::")]
    fn visitors_of_a_network_count_as_one(#[case] address: &str, #[case] network: &str) {
        assert_eq!(network_of(address.parse().unwrap()).to_string(), network);
    }

    /// A limiter without room for further sources.
    fn full(start: Instant) -> VisitorLimiter<u32> {
        let limiter = limiter();
        for source in 0..u32::try_from(WINDOWS_MAX).unwrap() {
            limiter.begin(source, start).unwrap();
        }
        limiter
    }

    #[test]
    fn sources_beyond_the_capacity_share_windows() {
        let start = Instant::now();
        let limiter = full(start);
        let admitted = (200_000..280_000).filter(|source| limiter.begin(*source, start).is_ok()).count();
        let shared = usize::try_from(SHARED_WINDOWS).unwrap();
        assert!(admitted <= shared * 10, "{admitted}");
        assert!(limiter.begin(1, start).is_ok(), "a known source keeps its window");
        assert!(limiter.lock().windows.len() <= WINDOWS_MAX + shared);
        assert!(limiter.begin(200_099, start + LIMIT.window).is_ok());
        assert_eq!(limiter.lock().windows.len(), 1);
    }

    #[test]
    fn a_few_sources_beyond_the_capacity_do_not_shut_out_another() {
        let start = Instant::now();
        let limiter = full(start);
        let is_shut_out = |source: &u32| limiter.begin(*source, start).is_err();
        assert_eq!((200_000..200_100).filter(is_shut_out).count(), 0, "100 sources, 4,096 windows");
    }
}
