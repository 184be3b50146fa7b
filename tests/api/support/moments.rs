//! Moments as clients write them, relative to now.

use watchkeeper::clock::{Clock, Timestamp};

/// The moment this many seconds from now (negative: before now), as the API shows it.
pub(crate) fn moment(seconds: i64) -> String {
    in_ms(seconds * 1_000).to_string()
}

/// The moment this many milliseconds from now.
pub(crate) fn in_ms(ms: i64) -> Timestamp {
    Clock::System.now().plus_ms(ms)
}
