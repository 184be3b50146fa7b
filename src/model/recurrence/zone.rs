//! Time zones of the IANA database, and conversions between wall time and instant.
//!
//! The zones are compiled in, so results do not depend on the time zone files of a machine. Wall times that clocks skip or
//! show twice are read as RFC 5545 (3.3.5) says.

use std::str::FromStr;

use chrono::{NaiveDateTime, TimeDelta, TimeZone as _};
use chrono_tz::Tz;

use crate::clock::Timestamp;

/// Size of the steps back in the search for the last wall time before a gap, in minutes.
const STEP_MINUTES: i64 = 15;
/// Maximum number of steps. The longest gap has 24 hours, in a zone that changed sides of the date line.
const STEPS: i64 = 100;

/// A time zone of the IANA database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IanaZone(Tz);

/// No zone of the database has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unknown time zone. Use a name of the IANA database, such as Europe/Berlin.")]
pub struct UnknownZone;

impl FromStr for IanaZone {
    type Err = UnknownZone;

    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        name.parse().map(Self).map_err(|_| UnknownZone)
    }
}

impl IanaZone {
    /// The time zone UTC.
    pub const UTC: Self = Self(Tz::UTC);

    /// The name in the database, such as `Europe/Berlin`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The names of all zones, in alphabetical order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name())
    }

    /// The wall time in this zone at an instant; `None` for instants beyond the calendar.
    #[must_use]
    pub fn wall(self, at: Timestamp) -> Option<NaiveDateTime> {
        let at = self.0.timestamp_millis_opt(at.ms()).single()?;
        Some(at.naive_local())
    }

    /// The instant of a wall time in this zone. Of a time that clocks show twice, the first. A time that clocks skip is
    /// read with the offset before the gap, so it is as far after the start of the gap as the wall time says.
    #[must_use]
    pub fn instant(self, wall: NaiveDateTime) -> Timestamp {
        let before = (0..=STEPS).find_map(|step| {
            let back = TimeDelta::minutes(step * STEP_MINUTES);
            let shown = wall.checked_sub_signed(back)?;
            let at = self.0.from_local_datetime(&shown).earliest()?;
            Some(Timestamp::from_ms(at.timestamp_millis()).plus_ms(back.num_milliseconds()))
        });
        before.unwrap_or_else(|| Timestamp::from_ms(wall.and_utc().timestamp_millis()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// RFC 5545, 3.3.5: a time that clocks skip is read with the offset before the gap; of a time shown twice, the first is
    /// used.
    #[rstest]
    #[case::winter("Europe/Berlin", "2026-01-15T02:30:00", "2026-01-15T01:30:00.000Z")]
    #[case::summer("Europe/Berlin", "2026-07-15T02:30:00", "2026-07-15T00:30:00.000Z")]
    #[case::before_the_gap("Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59.000Z")]
    #[case::begin_of_the_gap("Europe/Berlin", "2026-03-29T02:00:00", "2026-03-29T01:00:00.000Z")]
    #[case::in_the_gap("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00.000Z")]
    #[case::end_of_the_gap("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00.000Z")]
    #[case::twice("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00.000Z")]
    #[case::after_twice("Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00.000Z")]
    #[case::in_the_gap("America/New_York", "2026-03-08T02:30:00", "2026-03-08T07:30:00.000Z")]
    #[case::twice("America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00.000Z")]
    #[case::half_an_hour_left_out("Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:45:00.000Z")]
    #[case::half_an_hour_twice("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00.000Z")]
    #[case::quarter_hours("Asia/Kathmandu", "2026-05-01T00:00:00", "2026-04-30T18:15:00.000Z")]
    #[case::midnight_left_out("America/Santiago", "2026-09-06T00:30:00", "2026-09-06T04:30:00.000Z")]
    #[case::a_day_left_out("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T22:00:00.000Z")]
    #[case::utc("UTC", "2026-05-01T00:00:00", "2026-05-01T00:00:00.000Z")]
    fn a_wall_time_has_one_instant(#[case] zone: &str, #[case] wall: &str, #[case] instant: &str) {
        let zone: IanaZone = zone.parse().unwrap();
        assert_eq!(zone.instant(wall.parse().unwrap()).to_string(), instant);
    }

    #[rstest]
    #[case("Europe/Berlin", true)]
    #[case("UTC", true)]
    #[case("Etc/GMT+5", true)]
    #[case("europe/berlin", false)]
    #[case("Berlin", false)]
    #[case("+01:00", false)]
    #[case("", false)]
    #[case("Local", false)]
    fn zones_have_their_names_in_the_database(#[case] name: &str, #[case] exists: bool) {
        assert_eq!(
            name.parse::<IanaZone>().map(IanaZone::name),
            if exists { Ok(name) } else { Err(UnknownZone) }
        );
    }
}
