//! A time span as operators write it: `30m`, `24h`, `7d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// A time span from one minute to a year, in whole minutes, hours or days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    minutes: u32,
}

/// The units in minutes, largest first.
const UNITS: [(char, u32); 3] = [('d', 24 * 60), ('h', 60), ('m', 1)];
const LONGEST: u32 = 366 * 24 * 60;

impl TimeSpan {
    /// A time span of this number of hours.
    #[must_use]
    pub const fn of_hours(hours: u32) -> Self {
        Self { minutes: hours * 60 }
    }

    /// Length of the span.
    #[must_use]
    pub const fn get(self) -> Duration {
        Duration::from_secs(self.minutes as u64 * 60)
    }
}

/// Error: the text is not a time span, or the span is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a span of time from 1m to 366d")]
pub struct InvalidTimeSpan;

impl FromStr for TimeSpan {
    type Err = InvalidTimeSpan;

    fn from_str(text: &str) -> Result<Self, InvalidTimeSpan> {
        let text = text.trim();
        let unit = UNITS.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
        let (number, factor) = unit.ok_or(InvalidTimeSpan)?;
        let minutes = number.trim_end().parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
        minutes
            .filter(|minutes| (1..=LONGEST).contains(minutes))
            .map(|minutes| Self { minutes })
            .ok_or(InvalidTimeSpan)
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Days only from two on: people write 24h.
        let whole = UNITS.into_iter().find(|(unit, factor)| {
            self.minutes.is_multiple_of(*factor) && (*unit != 'd' || self.minutes >= 2 * factor)
        });
        let (unit, factor) = whole.unwrap_or(('m', 1));
        write!(f, "{}{unit}", self.minutes / factor)
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: text, minutes, formatted text.
    #[rstest]
    #[case("24h", Some(1_440), "24h")]
    #[case("1d", Some(1_440), "24h")]
    #[case("7d", Some(10_080), "7d")]
    #[case(" 90m ", Some(90), "90m")]
    #[case("120m", Some(120), "2h")]
    #[case("366d", Some(527_040), "366d")]
    #[case("367d", None, "")]
    #[case("0h", None, "")]
    #[case("24", None, "")]
    #[case("1.5h", None, "")]
    #[case("-1h", None, "")]
    #[case("99999999d", None, "")]
    #[case("", None, "")]
    fn spans_are_read_and_shown(#[case] text: &str, #[case] minutes: Option<u32>, #[case] shown: &str) {
        let span = text.parse::<TimeSpan>().ok();
        assert_eq!(span, minutes.map(|minutes| TimeSpan { minutes }));
        assert_eq!(span.map(|span| span.to_string()).unwrap_or_default(), shown);
    }
}
