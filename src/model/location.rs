//! Probe locations: the locations from which services are checked (contract 4.1).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::model::check::LocalFault;
use crate::model::word_enum::words;

/// Maximum length of a location code, in characters.
pub const CODE_MAX_LENGTH: usize = 32;

/// The location code in results that come from no location: pings and missed pings.
pub const PUSH: &str = "push";

/// The code of a location (contract 4.1), of the form `^[a-z0-9][a-z0-9._-]{0,31}$`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationCode(Arc<str>);

impl LocationCode {
    /// The code of pings and missed pings in the history; no location has this code.
    #[must_use]
    pub fn push() -> Self {
        Self(PUSH.into())
    }

    /// Returns the code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LocationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for LocationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text does not have the form of a location code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a location code; use 1 to 32 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit"
)]
pub struct InvalidLocationCode(pub String);

impl FromStr for LocationCode {
    type Err = InvalidLocationCode;

    fn from_str(text: &str) -> Result<Self, InvalidLocationCode> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let mut bytes = text.bytes();
        let starts_well = bytes.next().is_some_and(plain);
        let goes_on_well = bytes.all(|byte| plain(byte) || matches!(byte, b'.' | b'_' | b'-'));
        if starts_well && goes_on_well && text.len() <= CODE_MAX_LENGTH {
            Ok(Self(text.into()))
        } else {
            Err(InvalidLocationCode(text.into()))
        }
    }
}

/// The number of a location within this process; stable while the process runs, and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocationKey(u32);

impl LocationKey {
    /// The key with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number, as an index into a list.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A location as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The code that identifies the location; it never changes.
    pub code: LocationCode,
    /// Display name, not empty.
    pub name: String,
    /// Country or region as text; may be empty.
    pub place: String,
    /// Country code by ISO 3166-1 alpha-2; `ZZ` when unknown.
    pub country_code: String,
}

/// The last report of a remote location about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationReport {
    /// Time at which the report arrived, by the clock of this installation.
    pub at: Timestamp,
    /// Version of the location's program.
    pub version: String,
    /// Milliseconds by which the clock of the location is ahead of the clock of this installation; negative if behind.
    pub clock_ahead_ms: i64,
    /// Number of services that the location checks.
    pub services: u64,
    /// 99th percentile of the lateness of the location's checks, in microseconds.
    pub lateness_p99_us: u64,
    /// Number of checks that were due and did not start, since the location's process started.
    pub missed: u64,
    /// Number of results in the location's memory that have not been delivered yet.
    pub waiting: u64,
    /// Size of the results on the location's disk that have not been delivered yet, in bytes.
    pub spool_bytes: u64,
    /// Number of results that the location has dropped since its process started.
    pub shed: u64,
    /// True if the location is impaired: none of its reference targets answers, or none of its checks can be made.
    pub is_impaired: bool,
    /// The reason why none of the location's checks can be made; `None` = checks can be made.
    pub blind_by: Option<LocalFault>,
}

words! {
    /// The state of a location (contract 4.1).
    pub enum LocationStatus {
        /// The location makes checks, and its votes count.
        Online,
        /// The location has not been in contact for a minute.
        Offline,
        /// The location has lost its network, cannot make any check, or contradicts all others. Its votes do not count.
        Impaired,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("local", true)]
    #[case("fra-1.eu_west", true)]
    #[case("0", true)]
    #[case("", false)]
    #[case("-fra", false)]
    #[case("Fra", false)]
    #[case("fra one", false)]
    #[case("a2345678901234567890123456789012", true)]
    #[case("a23456789012345678901234567890123", false)]
    fn codes_have_the_form_of_contract_4_1(#[case] text: &str, #[case] is_code: bool) {
        assert_eq!(text.parse::<LocationCode>().is_ok(), is_code);
    }
}
