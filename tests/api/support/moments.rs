//! Moments as clients write them, relative to now.

use chrono::DateTime;
use serde_json::Value;
use watchkeeper::clock::{Clock, Timestamp};

/// The moment this many seconds from now (negative: before now), as the API shows it.
pub(crate) fn moment(seconds: i64) -> String {
    in_ms(seconds * 1_000).to_string()
}

/// The moment this many milliseconds from now.
pub(crate) fn in_ms(ms: i64) -> Timestamp {
    Clock::System.now().plus_ms(ms)
}

/// Milliseconds from one time of an answer to another.
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
pub(crate) fn ms_between(from: &Value, to: &Value) -> i64 {
    let at = |time: &Value| DateTime::parse_from_rfc3339(time.as_str().unwrap()).unwrap().timestamp_millis();
    at(to) - at(from)
}
