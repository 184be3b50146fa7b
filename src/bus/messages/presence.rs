//! How a location is, as it says itself. It is shown, and its clock is compared; nothing else is believed of it.

use serde::{Deserialize, Serialize};

/// The time between two reports, in milliseconds.
pub const PRESENCE_MS: u64 = 5_000;

/// No clock says more: the end of the year 9999, in milliseconds.
pub(super) const LATEST_MS: i64 = 253_402_300_799_999;

/// A report of a location about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Version of the program.
    pub version: String,
    /// Its wall clock when it said this, in milliseconds since 1970.
    pub sent_at_ms: i64,
    /// The wall clock when its process started.
    pub started_at_ms: i64,
    /// Services that it checks.
    pub services: u64,
    /// Lateness that 99 of 100 of the starts since the last report did not exceed, in microseconds.
    pub lateness_p99_us: u64,
    /// Runs that were due and did not start, since the process started.
    pub missed: u64,
    /// Results in memory that the engine has not taken yet.
    pub waiting: u64,
    /// Bytes of results on its disk that the engine has not taken yet.
    pub spool_bytes: u64,
    /// Results that were given up because the spool was full, since the process started.
    pub shed: u64,
    /// None of its reference targets answers, or none of its checks can be made. Older versions do not say it.
    #[serde(default)]
    pub impaired: bool,
    /// Why none of its checks can be made, as the reasons at `/metrics` are called. Older versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blind_by: Option<String>,
}

impl Presence {
    /// Reads a report; `None` = it is none, or says more than a report can.
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
    fn a_report_of_an_older_version_says_nothing_of_an_impairment() {
        let mut said = serde_json::to_value(Presence { impaired: true, ..Presence::default() }).unwrap();
        said.as_object_mut().unwrap().remove("impaired");
        assert_eq!(Presence::read(said.to_string().as_bytes()), Some(Presence::default()));
    }

    #[test]
    fn what_is_shown_of_a_report_is_tame() {
        let said = Presence { version: "1.0\u{1b}[31m<b>ä".repeat(100), ..Presence::default() };
        let read = Presence::read(&serde_json::to_vec(&said).unwrap()).unwrap();
        assert!(read.version.len() == 64 && read.version.starts_with("1.0[31m<b>1.0"), "{}", read.version);
        let before_time = Presence { sent_at_ms: i64::MIN, ..said };
        assert_eq!(Presence::read(&serde_json::to_vec(&before_time).unwrap()), None);
        assert_eq!(Presence::read(b"{}"), None);
        assert_eq!(Presence::read(b"\xff"), None);
    }
}
