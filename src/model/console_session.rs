//! Sessions of users of the console, and links that work once. Their secrets have the form of a token, and only their
//! SHA-256 is stored.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::word_enum::words;

/// Prefix of the secret in the cookie of a session.
pub const SESSION_PREFIX: &str = "wkc_";
/// Prefix of the secret of a link.
pub const LINK_PREFIX: &str = "wkl_";

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// Milliseconds after the last request at which a session ends.
pub const IDLE_MS: i64 = 14 * DAY_MS;
/// Milliseconds after the sign-in at which a session ends.
pub const SESSION_MS: i64 = 90 * DAY_MS;
/// A request within this many milliseconds after the last stored one is not stored.
const SEEN_MS: i64 = MINUTE_MS;

/// A browser in which a user has signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleSession {
    /// Database key; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the user.
    pub user: i64,
    /// Address of the client that signed in.
    pub address: String,
    /// What the browser calls itself.
    pub browser: String,
    /// Time of the sign-in.
    pub created_at: Timestamp,
    /// Time of the last request, exact to a minute.
    pub seen_at: Timestamp,
}

impl ConsoleSession {
    /// Returns true if the session has not ended at `now`.
    #[must_use]
    pub const fn is_valid(&self, now: Timestamp) -> bool {
        now.ms() < self.seen_at.ms() + IDLE_MS && now.ms() < self.created_at.ms() + SESSION_MS
    }

    /// Returns true if a request at `now` has to be stored.
    #[must_use]
    pub const fn is_seen_again(&self, now: Timestamp) -> bool {
        now.ms() >= self.seen_at.ms() + SEEN_MS
    }
}

words! {
    /// What a link is for.
    pub enum LinkPurpose {
        /// Creates the first user of an organisation, an owner.
        FirstUser,
        /// Lets an invited user choose a password.
        Invitation,
        /// Lets a user choose a new password.
        PasswordReset,
    }
}

impl LinkPurpose {
    /// Returns for how many milliseconds a link is valid.
    #[must_use]
    pub const fn lifetime_ms(self) -> i64 {
        match self {
            Self::FirstUser => 15 * MINUTE_MS,
            Self::Invitation => 3 * DAY_MS,
            Self::PasswordReset => DAY_MS,
        }
    }
}

/// A link that works once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLink {
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the user; `None` for the first user.
    pub user: Option<i64>,
    /// What the link is for.
    pub purpose: LinkPurpose,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the link expires.
    pub expires_at: Timestamp,
}

impl ConsoleLink {
    /// Creates a link that is valid from `now` on.
    #[must_use]
    pub const fn new(organisation: i64, user: Option<i64>, purpose: LinkPurpose, now: Timestamp) -> Self {
        Self { organisation, user, purpose, created_at: now, expires_at: now.plus_ms(purpose.lifetime_ms()) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_795_193_460_250);

    #[rstest]
    #[case(0, 0, true)]
    #[case(0, IDLE_MS - 1, true)]
    #[case(0, IDLE_MS, false)]
    #[case(SESSION_MS - 2, SESSION_MS - 1, true)]
    #[case(SESSION_MS - 2, SESSION_MS, false)]
    fn a_session_ends_when_it_is_idle_or_old(#[case] seen: i64, #[case] now: i64, #[case] is_valid: bool) {
        let session = ConsoleSession {
            key: 1,
            id: Id::random(),
            user: 1,
            address: String::new(),
            browser: String::new(),
            created_at: START,
            seen_at: START.plus_ms(seen),
        };
        assert_eq!(session.is_valid(START.plus_ms(now)), is_valid);
    }
}
