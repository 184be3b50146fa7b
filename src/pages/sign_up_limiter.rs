//! Limits how many addresses visitors can enter to subscribe, so that nobody can make this server send messages to
//! thousands of strangers, or many to one.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::pages::visitor_limiter::{VisitorLimit, VisitorLimiter, network_of};

/// Addresses that are entered on one page.
const OF_PAGE: VisitorLimit = VisitorLimit { attempts: 60, window: Duration::from_secs(60) };
/// Addresses that one client enters, on all pages.
const OF_CLIENT: VisitorLimit = VisitorLimit { attempts: 20, window: Duration::from_secs(15 * 60) };
/// Times that one address counts, on one page.
const OF_ADDRESS: VisitorLimit = VisitorLimit { attempts: 10, window: Duration::from_secs(60 * 60) };

/// Counts the addresses that visitors enter. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::pages) struct SignUpLimiter {
    /// By the key of the page.
    pages: VisitorLimiter<i64>,
    clients: VisitorLimiter<IpAddr>,
    addresses: VisitorLimiter<PageAddress>,
}

/// An address that is entered on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PageAddress {
    /// Key of the page.
    page: i64,
    /// Hash of the channel and the address.
    address: [u8; 32],
}

/// What becomes of an entered address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignUpDecision {
    /// It is used.
    Taken,
    /// It was entered too often. Nothing is done, and no answer says so: others may have entered it.
    Ignored,
    /// There were too many addresses of this client or on this page; the time to wait.
    Refused(Duration),
}

/// What a visitor wants to subscribe.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignUpSource {
    /// Key of the page.
    pub(super) page: i64,
    pub(super) client: IpAddr,
    /// Hash of the channel and the address.
    pub(super) address: [u8; 32],
}

impl Default for SignUpLimiter {
    fn default() -> Self {
        Self {
            pages: VisitorLimiter::new(OF_PAGE),
            clients: VisitorLimiter::new(OF_CLIENT),
            addresses: VisitorLimiter::new(OF_ADDRESS),
        }
    }
}

impl SignUpLimiter {
    /// Counts an address.
    pub(super) fn count(&self, source: SignUpSource, now: Instant) -> SignUpDecision {
        // A client that is refused takes nothing of what others may enter.
        let counted = self.clients.begin(network_of(source.client), now);
        let counted = counted.and_then(|_| self.pages.begin(source.page, now));
        if let Err(wait) = counted {
            return SignUpDecision::Refused(wait);
        }
        let address = PageAddress { page: source.page, address: source.address };
        match self.addresses.begin(address, now) {
            Ok(_) => SignUpDecision::Taken,
            Err(_) => SignUpDecision::Ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(page: i64, client: u8, address: u8) -> SignUpSource {
        SignUpSource { page, client: IpAddr::from([192, 0, 2, client]), address: [address; 32] }
    }

    #[test]
    fn clients_addresses_and_pages_have_limits() {
        let (limiter, start) = (SignUpLimiter::default(), Instant::now());
        let count = |sources: &mut dyn Iterator<Item = SignUpSource>, wanted: fn(SignUpDecision) -> bool| {
            sources.filter(|source| wanted(limiter.count(*source, start))).count()
        };
        let is_taken = |decision| decision == SignUpDecision::Taken;
        let is_refused = |decision| matches!(decision, SignUpDecision::Refused(_));
        let is_ignored = |decision| decision == SignUpDecision::Ignored;
        assert_eq!(count(&mut (0..30).map(|n| source(i64::from(n), 1, n)), is_refused), 10, "one client");
        assert_eq!(count(&mut (0..30).map(|n| source(500, 100 + n, 200)), is_ignored), 20, "one address");
        assert_eq!(count(&mut (0..90).map(|n| source(1_000, n / 4 + 2, n + 40)), is_taken), 60, "one page");
        let later = start + Duration::from_secs(60 * 60);
        assert_eq!(limiter.count(source(1_000, 1, 200), later), SignUpDecision::Taken);
    }
}
