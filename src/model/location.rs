//! Probe locations: the locations from which services are checked (contract 4.1).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::model::check::LocalFault;
use crate::model::word_enum::words;

/// Longest code in characters.
pub const CODE_MAX_LENGTH: usize = 32;

/// The location in results that have none: pings, and missed pings.
pub const PUSH: &str = "push";

/// `^[a-z0-9][a-z0-9._-]{0,31}$`: the "location code" of the specification. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationCode(Arc<str>);

impl LocationCode {
    /// The code of pings in the history; no location has it.
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

/// The text has not the form of a location code.
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

/// The number of a location within this process: stable while it runs, and never reused.
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
    /// Stable identifier.
    pub code: LocationCode,
    /// Display name, not empty.
    pub name: String,
    /// Country or region as text; may be empty.
    pub place: String,
    /// ISO 3166-1 alpha-2; `ZZ` when unknown.
    pub country_code: String,
}

/// The last report of a remote location about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationReport {
    /// Its arrival, by the clock of this installation.
    pub at: Timestamp,
    /// Version of the location's program.
    pub version: String,
    /// Milliseconds by which its clock is ahead of that of this installation; negative when it is behind.
    pub clock_ahead_ms: i64,
    /// Number of services that it checks.
    pub services: u64,
    /// Lateness that 99 of 100 of its starts did not exceed, in microseconds.
    pub lateness_p99_us: u64,
    /// Runs that were due and did not start, since its process started.
    pub missed: u64,
    /// Results in its memory that were not yet taken.
    pub waiting: u64,
    /// Bytes of results on its disk that were not yet taken.
    pub spool_bytes: u64,
    /// Results that it has dropped, since its process started.
    pub shed: u64,
    /// It is impaired: none of its reference targets answers, or none of its attempts is carried out.
    pub is_impaired: bool,
    /// The reason why none of its attempts is carried out.
    pub blind_by: Option<LocalFault>,
}

words! {
    /// The state of a location (contract 4.1).
    pub enum LocationStatus {
        /// It checks, and its votes count.
        Online,
        /// No contact for a minute.
        Offline,
        /// It has lost its own network, none of its checks can be made, or it contradicts all others: its votes are set aside.
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
