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
/// Times that one address is entered, on all pages.
const OF_ADDRESS: VisitorLimit = VisitorLimit { attempts: 10, window: Duration::from_secs(60 * 60) };

/// Counts the addresses that visitors enter. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::pages) struct SignUpLimiter {
    /// By the key of the page.
    pages: VisitorLimiter<i64>,
    clients: VisitorLimiter<IpAddr>,
    /// By the hash of the address.
    addresses: VisitorLimiter<[u8; 32]>,
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
    ///
    /// # Errors
    /// The time to wait, when there were too many of this client, of this address or on this page.
    pub(super) fn count(&self, source: SignUpSource, now: Instant) -> Result<(), Duration> {
        // A client that is refused takes nothing of what others may enter.
        self.clients.begin(network_of(source.client), now)?;
        self.addresses.begin(source.address, now)?;
        self.pages.begin(source.page, now)?;
        Ok(())
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
        let admitted = |sources: &mut dyn Iterator<Item = SignUpSource>| {
            sources.filter(|source| limiter.count(*source, start).is_ok()).count()
        };
        assert_eq!(admitted(&mut (0..30).map(|n| source(i64::from(n), 1, n))), 20, "one client");
        assert_eq!(admitted(&mut (0..30).map(|n| source(i64::from(n), 100 + n, 200))), 10, "one address");
        assert_eq!(admitted(&mut (0..90).map(|n| source(1_000, n / 4 + 2, n + 40))), 60, "one page");
        let later = start + Duration::from_secs(60 * 60);
        assert_eq!(limiter.count(source(1_000, 1, 200), later), Ok(()));
    }
}
