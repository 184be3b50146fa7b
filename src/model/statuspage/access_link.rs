//! Links by which readers on the e-mail list of a page open it: each is sent to an address, and can be used once.

use crate::clock::Timestamp;
use crate::id::Id;

/// Time for which a link is valid, in milliseconds: 15 minutes.
pub const LINK_MS: i64 = 15 * 60 * 1_000;
/// Age in milliseconds up to which a link is sent again when its address is entered again, in place of a new one: ten
/// minutes.
pub const SENT_AGAIN_MS: i64 = 10 * 60 * 1_000;

/// The last link that an address asked for. A new one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLink {
    /// Database key of the page.
    pub page: i64,
    /// The e-mail address in lower case.
    pub address: String,
    /// Random id of the link.
    pub id: Id,
    /// Time of the request.
    pub asked_at: Timestamp,
}

impl AccessLink {
    /// Returns true if the link opens its page at `now`.
    #[must_use]
    pub const fn is_valid(&self, now: Timestamp) -> bool {
        now.ms_since(self.asked_at) < LINK_MS
    }

    /// Returns true if the link is sent again when its address is entered again. So nobody ends the link of somebody else by
    /// entering the address, and a late mail still has a valid one.
    #[must_use]
    pub const fn is_sent_again(&self, now: Timestamp) -> bool {
        let age = now.ms_since(self.asked_at);
        0 <= age && age < SENT_AGAIN_MS
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(-1, true, false)]
    #[case(0, true, true)]
    #[case(599_999, true, true)]
    #[case(600_000, true, false)]
    #[case(899_999, true, false)]
    #[case(900_000, false, false)]
    fn a_link_is_valid_for_a_quarter_of_an_hour(
        #[case] age_ms: i64,
        #[case] is_valid: bool,
        #[case] is_sent_again: bool,
    ) {
        let asked_at = Timestamp::from_ms(1_000_000);
        let link = AccessLink { page: 1, address: "anna@example.com".into(), id: Id::random(), asked_at };
        let now = asked_at.plus_ms(age_ms);
        assert_eq!((link.is_valid(now), link.is_sent_again(now)), (is_valid, is_sent_again));
    }
}
