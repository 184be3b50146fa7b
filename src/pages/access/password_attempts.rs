//! Limits how often an address may try passwords of a page: 10 wrong ones in 15 minutes. Each node counts for itself.
//!
//! An attempt is counted before the password is checked, so that many at the same time do not pass. Memory is bounded:
//! beyond a number of addresses, the others share a window.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Wrong passwords that an address may send in a window.
const ATTEMPTS_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Maximum number of windows.
const WINDOWS_MAX: usize = 100_000;
/// The bits of an IPv6 address that identify a connection to the internet; a customer has all addresses that begin with
/// them.
const NETWORK: u128 = !0 << 64;

/// Counts attempts to give the password of a page. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PasswordAttempts(Arc<Mutex<HashMap<AttemptSource, AttemptWindow>>>);

/// Whose attempts are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AttemptSource {
    /// An address at a page with this key.
    Address(i64, IpAddr),
    /// All addresses for which there is no room.
    Others,
}

/// The attempts of a source in a window, which starts with the first one.
#[derive(Clone, Copy, Debug)]
struct AttemptWindow {
    started_at: Instant,
    used: u32,
}

/// An attempt that was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedAttempt {
    source: AttemptSource,
    started_at: Instant,
}

impl PasswordAttempts {
    /// Counts an attempt.
    ///
    /// # Errors
    /// The time to wait, when there were too many.
    pub(super) fn begin(&self, page: i64, address: IpAddr, now: Instant) -> Result<CountedAttempt, Duration> {
        let mut windows = self.lock();
        if windows.len() >= WINDOWS_MAX {
            windows.retain(|_, window| !window.has_ended(now));
        }
        let known = AttemptSource::Address(page, network_of(address));
        let has_room = windows.len() < WINDOWS_MAX || windows.contains_key(&known);
        let source = if has_room { known } else { AttemptSource::Others };
        let window = windows.entry(source).or_insert(AttemptWindow { started_at: now, used: 0 });
        if window.has_ended(now) {
            *window = AttemptWindow { started_at: now, used: 0 };
        }
        if window.used >= ATTEMPTS_MAX {
            return Err(WINDOW.saturating_sub(now.duration_since(window.started_at)));
        }
        window.used += 1;
        Ok(CountedAttempt { source, started_at: window.started_at })
    }

    /// Uncounts an attempt with the right password.
    pub(super) fn give_back(&self, counted: CountedAttempt) {
        let mut windows = self.lock();
        let window = windows.get_mut(&counted.source);
        if let Some(window) = window.filter(|window| window.started_at == counted.started_at) {
            window.used = window.used.saturating_sub(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AttemptSource, AttemptWindow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AttemptWindow {
    fn has_ended(&self, now: Instant) -> bool {
        now.duration_since(self.started_at) >= WINDOW
    }
}

/// Returns the address, or the network of an IPv6 address.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn ten_attempts_pass_in_fifteen_minutes() {
        let (attempts, start) = (PasswordAttempts::default(), Instant::now());
        let one = address("192.0.2.1");
        for _ in 0..10 {
            assert!(attempts.begin(1, one, start).is_ok());
        }
        assert_eq!(attempts.begin(1, one, start).unwrap_err(), WINDOW);
        let late = start + Duration::from_secs(899);
        assert_eq!(attempts.begin(1, one, late).unwrap_err(), Duration::from_secs(1));
        assert!(attempts.begin(2, one, start).is_ok(), "another page");
        assert!(attempts.begin(1, address("192.0.2.2"), start).is_ok(), "another address");
        assert!(attempts.begin(1, one, start + WINDOW).is_ok());
    }

    #[test]
    fn right_passwords_are_not_counted() {
        let (attempts, start) = (PasswordAttempts::default(), Instant::now());
        let one = address("192.0.2.1");
        for _ in 0..100 {
            let counted = attempts.begin(1, one, start).unwrap();
            attempts.give_back(counted);
        }
        let counted = attempts.begin(1, one, start).unwrap();
        for _ in 0..10 {
            attempts.begin(1, one, start + WINDOW).unwrap();
        }
        attempts.give_back(counted);
        assert!(attempts.begin(1, one, start + WINDOW).is_err(), "it belonged to an earlier window");
    }

    #[test]
    fn a_customer_with_many_ipv6_addresses_counts_once() {
        let (attempts, start) = (PasswordAttempts::default(), Instant::now());
        for last in 0..10 {
            assert!(attempts.begin(1, address(&format!("2001:db8::{last}:1")), start).is_ok());
        }
        assert!(attempts.begin(1, address("2001:db8::ffff"), start).is_err());
        assert!(attempts.begin(1, address("2001:db8:0:1::1"), start).is_ok());
        for _ in 0..10 {
            assert!(attempts.begin(1, address("::ffff:192.0.2.1"), start).is_ok());
        }
        assert!(attempts.begin(1, address("192.0.2.1"), start).is_err());
    }

    #[test]
    fn addresses_beyond_the_capacity_share_a_window() {
        let (attempts, start) = (PasswordAttempts::default(), Instant::now());
        for number in 0..u32::try_from(WINDOWS_MAX).unwrap() {
            attempts.begin(1, IpAddr::from(number.to_be_bytes()), start).unwrap();
        }
        for number in 0..10_u8 {
            attempts.begin(1, IpAddr::from([250, 0, 0, number]), start).unwrap();
        }
        assert!(attempts.begin(1, address("250.0.0.99"), start).is_err());
        assert!(attempts.begin(1, address("0.0.0.1"), start).is_ok(), "a known address keeps its window");
        assert!(attempts.begin(1, address("250.0.0.99"), start + WINDOW).is_ok());
        assert_eq!(attempts.lock().len(), 1);
    }
}
