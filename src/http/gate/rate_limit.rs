//! The rate limit (contract 1.9): fixed windows per token, and per client address for requests without a valid token.
//!
//! A window starts with its first request and lets exactly `limit` requests pass, also under concurrency. Time is an
//! argument. Memory is bounded: ended windows are dropped, and addresses beyond the capacity share one window.
//!
//! In a cluster one node counts the requests of a token, whichever node receives them. While that node is unreachable, each
//! node counts on its own, so that the limit is exceeded at most by a factor of the number of nodes. Requests of addresses
//! are always counted by each node.
//!
//! An unknown secret (a token, a ping address) costs a database lookup. The request is counted for its address before the
//! lookup, and uncounted if the secret is valid, so a flood of invented secrets costs little.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::model::rate_limit::{RateLimitDecision, WINDOW_MS};
use crate::service_router::peers::RequestCounter;

/// Lookups per second that an address may make although its window is full, so that a valid secret among invented ones is
/// still found.
const SPARE_LOOK_UPS_PER_SECOND: u32 = 100;
const SECOND_MS: i64 = 1_000;
/// Decision of the limiter for an address, before an unknown secret is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookUp {
    /// The allowance, with this request counted.
    pub allowance: RateLimitDecision,
    /// True if the database may be queried.
    pub may_ask: bool,
}

/// The windows of all tokens and addresses.
#[derive(Debug)]
pub struct RateLimiter {
    tokens: RateWindows<i64>,
    addresses: AddressLimiter,
}

/// Windows of requests without a valid secret, by address.
#[derive(Debug)]
pub struct AddressLimiter(RateWindows<IpAddr>);

impl AddressLimiter {
    /// Allows `limit` requests per window. At most `most_addresses` addresses have windows of their own; the others share
    /// one.
    #[must_use]
    pub fn new(limit: u32, most_addresses: usize) -> Self {
        Self(RateWindows::new(limit, most_addresses))
    }

    /// Counts a request from this address.
    pub fn count(&self, address: IpAddr, now: Timestamp) -> RateLimitDecision {
        self.0.with_window(address.to_canonical(), now, |window, limit| window.count(limit, now))
    }

    /// Counts a request with an unknown secret.
    pub fn begin_look_up(&self, address: IpAddr, now: Timestamp) -> LookUp {
        self.0.with_window(address.to_canonical(), now, |window, limit| {
            let allowance = window.count(limit, now);
            LookUp { allowance, may_ask: allowance.passes || window.spare.take(now) }
        })
    }

    /// Uncounts a request whose secret was valid: the request is counted for the secret instead.
    pub fn give_back(&self, address: IpAddr, look_up: &LookUp, now: Timestamp) {
        self.0.with_window(address.to_canonical(), now, |window, _| window.give_back(&look_up.allowance));
    }
}

impl RateLimiter {
    /// Allows `limit` requests per window. At most `most_addresses` addresses have windows of their own; the others share
    /// one. The number of tokens is bounded by the database.
    #[must_use]
    pub fn new(limit: u32, most_addresses: usize) -> Self {
        Self {
            tokens: RateWindows::new(limit, usize::MAX),
            addresses: AddressLimiter::new(limit, most_addresses),
        }
    }

    /// Counts a request of the token with this database key.
    pub fn count_token(&self, token: i64, now: Timestamp) -> RateLimitDecision {
        self.tokens.with_window(token, now, |window, limit| window.count(limit, now))
    }

    /// The counter of requests without a valid token.
    #[must_use]
    pub const fn addresses(&self) -> &AddressLimiter {
        &self.addresses
    }
}

impl RequestCounter for RateLimiter {
    fn count(&self, token: i64, now: Timestamp) -> RateLimitDecision {
        self.count_token(token, now)
    }
}

/// Counts requests in fixed windows, by key.
#[derive(Debug)]
struct RateWindows<K> {
    limit: u32,
    capacity: usize,
    state: Mutex<RateWindowTable<K>>,
}

#[derive(Debug)]
struct RateWindowTable<K> {
    windows: HashMap<K, RateWindow>,
    /// Shared by all keys beyond the capacity, so that a flood of addresses uses no memory and is still limited.
    overflow: RateWindow,
    /// Time at which ended windows are dropped next: once per window length, so that each request pays O(1) on average.
    next_sweep: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct RateWindow {
    started_at: Timestamp,
    used: u32,
    spare: OverLimitLookUps,
}

/// The lookups that an address has made in one second although its window was full.
#[derive(Clone, Copy, Debug)]
struct OverLimitLookUps {
    since: Timestamp,
    used: u32,
}

impl OverLimitLookUps {
    fn take(&mut self, now: Timestamp) -> bool {
        if !(0..SECOND_MS).contains(&now.ms_since(self.since)) {
            *self = Self { since: now, used: 0 };
        }
        self.used = self.used.saturating_add(1);
        self.used <= SPARE_LOOK_UPS_PER_SECOND
    }
}

impl RateWindow {
    const fn starting(now: Timestamp) -> Self {
        Self { started_at: now, used: 0, spare: OverLimitLookUps { since: now, used: 0 } }
    }

    /// Reverts a count that was made in this window; ignores any other.
    fn give_back(&mut self, counted: &RateLimitDecision) {
        if counted.passes && counted.ends_at == self.started_at.plus_ms(WINDOW_MS) {
            self.used = self.used.saturating_sub(1);
        }
    }

    /// Returns true if the window has ended. A wall clock that was set back by a window length ends it as well: no client
    /// should wait for a time that is hours away. A request that read the clock just before the start of the window, but is
    /// counted after it, belongs to the window.
    fn has_ended(&self, now: Timestamp) -> bool {
        !(-WINDOW_MS..WINDOW_MS).contains(&now.ms_since(self.started_at))
    }

    fn count(&mut self, limit: u32, now: Timestamp) -> RateLimitDecision {
        if self.has_ended(now) {
            *self = Self::starting(now);
        }
        let passes = self.used < limit;
        self.used += u32::from(passes);
        RateLimitDecision {
            limit,
            remaining: limit - self.used,
            ends_at: self.started_at.plus_ms(WINDOW_MS),
            passes,
        }
    }
}

impl<K: Copy + Eq + Hash> RateWindows<K> {
    fn new(limit: u32, capacity: usize) -> Self {
        let long_ago = Timestamp::from_ms(i64::MIN);
        Self {
            limit,
            capacity,
            state: Mutex::new(RateWindowTable {
                windows: HashMap::new(),
                overflow: RateWindow::starting(long_ago),
                next_sweep: long_ago,
            }),
        }
    }

    fn with_window<T>(&self, key: K, now: Timestamp, act: impl FnOnce(&mut RateWindow, u32) -> T) -> T {
        // Counting cannot panic half-way, so the values behind a poisoned lock are consistent.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sweep(now);
        act(state.window(key, self.capacity, now), self.limit)
    }
}

impl<K: Copy + Eq + Hash> RateWindowTable<K> {
    fn sweep(&mut self, now: Timestamp) {
        let due = now >= self.next_sweep || self.next_sweep.ms_since(now) > WINDOW_MS;
        if due {
            self.windows.retain(|_, window| !window.has_ended(now));
            self.windows.shrink_to(self.windows.len() * 2);
            self.next_sweep = now.plus_ms(WINDOW_MS);
        }
    }

    fn window(&mut self, key: K, capacity: usize, now: Timestamp) -> &mut RateWindow {
        if self.windows.len() >= capacity && !self.windows.contains_key(&key) {
            return &mut self.overflow;
        }
        self.windows.entry(key).or_insert(RateWindow::starting(now))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rstest::rstest;

    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_795_193_460_250);

    fn at(ms: i64) -> Timestamp {
        START.plus_ms(ms)
    }

    #[test]
    fn exactly_the_limit_passes_in_a_window_and_the_next_one_starts_with_its_first_request() {
        let limiter = RateLimiter::new(3, 10);
        let remaining = |ms| {
            let allowance = limiter.count_token(1, at(ms));
            (allowance.passes, allowance.remaining, allowance.ends_at.ms_since(START))
        };
        assert_eq!(remaining(0), (true, 2, 60_000));
        assert_eq!(remaining(10), (true, 1, 60_000));
        assert_eq!(remaining(59_998), (true, 0, 60_000));
        assert_eq!(remaining(59_999), (false, 0, 60_000));
        assert_eq!(remaining(75_000), (true, 2, 135_000));
    }

    #[test]
    fn tokens_and_addresses_have_separate_windows() {
        let limiter = RateLimiter::new(1, 10);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(limiter.count_token(1, START).passes);
        assert!(limiter.count_token(2, START).passes);
        assert!(limiter.addresses().count(address("192.0.2.1"), START).passes);
        assert!(limiter.addresses().count(address("192.0.2.2"), START).passes);
        assert!(!limiter.addresses().count(address("::ffff:192.0.2.2"), START).passes);
        assert!(!limiter.count_token(2, START).passes);
    }

    /// Contract 1.9: `Retry-After` has whole seconds, rounded up, 1 to 60; the window ends at START + 60 s.
    #[rstest]
    #[case(0, 60)]
    #[case(1, 60)]
    #[case(1_000, 59)]
    #[case(43_000, 17)]
    #[case(59_001, 1)]
    #[case(59_999, 1)]
    #[case(60_000, 1)]
    #[case(-5_000, 60)]
    fn waiting_times_are_rounded_up(#[case] now_ms: i64, #[case] seconds: u64) {
        let allowance = RateLimiter::new(1, 1).count_token(1, START);
        assert_eq!(allowance.retry_after_seconds(at(now_ms)), seconds);
        assert_eq!(allowance.reset_seconds(), 1_795_193_521);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_a_new_window() {
        let limiter = RateLimiter::new(1, 10);
        assert!(limiter.count_token(1, START).passes);
        let allowance = limiter.count_token(1, at(-3_600_000));
        assert!(allowance.passes);
        assert_eq!(allowance.retry_after_seconds(at(-3_600_000)), 60);
    }

    /// Two threads read the clock in one order and count in the other order.
    #[test]
    fn a_request_that_read_the_clock_before_the_first_one_belongs_to_its_window() {
        let limiter = RateLimiter::new(1, 10);
        assert!(limiter.count_token(1, START).passes);
        assert!(!limiter.count_token(1, at(-1)).passes);
        assert!(!limiter.count_token(1, START).passes);
    }

    #[test]
    fn addresses_beyond_the_capacity_share_one_window() {
        let limiter = RateLimiter::new(2, 3);
        let count = |last: u8, ms| limiter.addresses().count(IpAddr::from([192, 0, 2, last]), at(ms));
        assert!((1..=3).all(|last| count(last, 0).passes));
        assert_eq!(count(4, 0).remaining, 1);
        assert_eq!(count(5, 0).remaining, 0);
        assert!(!count(6, 0).passes);
        assert_eq!(count(1, 1).remaining, 0, "a known address keeps its own window");
        assert_eq!(count(6, 60_000).remaining, 1, "ended windows make room");
        let state = limiter.addresses.0.state.lock().unwrap();
        assert_eq!(state.windows.len(), 1);
    }

    /// In a flood of invented secrets the database lookups are bounded, and a valid secret among them is not counted.
    #[test]
    fn token_lookups_are_counted_in_advance() {
        let strangers = AddressLimiter::new(3, 10);
        let address = IpAddr::from([192, 0, 2, 1]);
        let valid = strangers.begin_look_up(address, START);
        assert!(valid.may_ask);
        strangers.give_back(address, &valid, START);
        let asked = |ms| (0..1_000).filter(|_| strangers.begin_look_up(address, at(ms)).may_ask).count();
        assert_eq!(asked(0), 3 + 100);
        assert_eq!(asked(999), 0);
        assert_eq!(asked(1_000), 100);
        let late = strangers.begin_look_up(address, at(59_999));
        assert!(late.may_ask && !late.allowance.passes);
        strangers.give_back(address, &late, at(59_999));
        assert_eq!(strangers.count(address, at(59_999)).remaining, 0, "what did not pass is not given back");
        strangers.give_back(address, &valid, at(60_000));
        assert_eq!(strangers.count(address, at(60_000)).remaining, 2, "nor what another window counted");
    }

    #[test]
    fn sixty_four_threads_share_exactly_the_limit() {
        let limiter = RateLimiter::new(120, 10);
        let passed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    let passes = (0..10).filter(|_| limiter.count_token(1, START).passes).count();
                    passed.fetch_add(passes, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(passed.into_inner(), 120);
    }
}
