//! The state of a location, as the location reports it. The report is shown, and the location's clock compared
//! with ours.

use serde::{Deserialize, Serialize};

/// The time between two reports, in milliseconds.
pub const PRESENCE_MS: u64 = 5_000;

/// The latest accepted time: the end of the year 9999, in milliseconds.
pub(super) const LATEST_MS: i64 = 253_402_300_799_999;

/// A report of a location about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationPresence {
    /// Version of the program.
    pub version: String,
    /// The location's wall clock at the time of the report, in milliseconds since 1970.
    pub sent_at_ms: i64,
    /// The start of the location's process by its own wall clock, in milliseconds since 1970.
    pub started_at_ms: i64,
    /// Number of services that the location checks.
    pub services: u64,
    /// Lateness that 99 % of the starts since the last report did not exceed, in microseconds.
    pub lateness_p99_us: u64,
    /// Runs that were due and did not start, since the process started.
    pub missed: u64,
    /// Results in memory that the engine has not taken yet.
    pub waiting: u64,
    /// Bytes of results on the location's disk that the engine has not taken yet.
    pub spool_bytes: u64,
    /// Results that were dropped because the spool was full, since the process started.
    pub shed: u64,
    /// True if no reference target of the location answers, or no check can be made. Missing in older versions.
    #[serde(default)]
    pub impaired: bool,
    /// The reason why no check can be made, named as at `/metrics`. Missing in older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blind_by: Option<String>,
}

impl LocationPresence {
    /// Parses a report; `None` if the bytes are not a report, or the time is out of range.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut read: Self = serde_json::from_slice(bytes).ok()?;
        if !(0..=LATEST_MS).contains(&read.sent_at_ms) {
            return None;
        }
        read.version.retain(|letter| letter.is_ascii_graphic());
        read.version.truncate(64);
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_an_older_version_has_no_impairment() {
        let mut presence =
            serde_json::to_value(LocationPresence { impaired: true, ..LocationPresence::default() }).unwrap();
        presence.as_object_mut().unwrap().remove("impaired");
        assert_eq!(
            LocationPresence::read(presence.to_string().as_bytes()),
            Some(LocationPresence::default())
        );
    }

    #[test]
    fn a_reported_version_is_sanitised_and_shortened() {
        let presence =
            LocationPresence { version: "1.0\u{1b}[31m<b>ä".repeat(100), ..LocationPresence::default() };
        let read = LocationPresence::read(&serde_json::to_vec(&presence).unwrap()).unwrap();
        assert!(read.version.len() == 64 && read.version.starts_with("1.0[31m<b>1.0"), "{}", read.version);
        let before_time = LocationPresence { sent_at_ms: i64::MIN, ..presence };
        assert_eq!(LocationPresence::read(&serde_json::to_vec(&before_time).unwrap()), None);
        assert_eq!(LocationPresence::read(b"{}"), None);
        assert_eq!(LocationPresence::read(b"\xff"), None);
    }
}
