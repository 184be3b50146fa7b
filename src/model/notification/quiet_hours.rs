//! Quiet hours: messages below a severity wait until the quiet hours end.

use crate::clock::{DAY_MS, Timestamp};
use crate::model::incident::Severity;
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::BusinessHours;
use crate::model::time_range::TimeRange;

/// The longest wait, in milliseconds: a week, and an hour for a change of the clocks.
pub const LONGEST_MS: i64 = 7 * DAY_MS + 3_600_000;

/// Quiet hours of a channel or a contact, in which only severe events are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The quiet time: days of the week and times of day.
    pub hours: BusinessHours,
    /// The time zone of the hours.
    pub zone: IanaZone,
    /// The lowest severity that is sent even in quiet hours.
    pub except_from: Severity,
}

impl QuietHours {
    /// The time until which a message of this severity is held; `None` if the message may be sent now.
    #[must_use]
    pub fn held_until(&self, severity: Severity, now: Timestamp) -> Option<Timestamp> {
        if severity >= self.except_from {
            return None;
        }
        let ahead = TimeRange { from: now, to: now.plus_ms(LONGEST_MS) };
        let next = self.hours.open(self.zone, ahead).into_iter().next();
        next.filter(|quiet| quiet.from <= now).map(|quiet| quiet.to)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NIGHT: &str = "mon,tue,wed,thu,fri,sat,sun 22:00-24:00;mon,tue,wed,thu,fri,sat,sun 00:00-07:00";
    const SUNDAYS: &str = "sun 00:00-24:00";
    const ALWAYS: &str = "mon,tue,wed,thu,fri,sat,sun 00:00-24:00";

    /// Cases for quiet hours in Berlin that do not hold critical events: hours, present time, severity; the end of the wait.
    #[rstest]
    #[case::before(NIGHT, "2026-11-20T20:59:59Z", Severity::Minor, None)]
    #[case::its_first_moment(NIGHT, "2026-11-20T21:00:00Z", Severity::Major, Some("2026-11-21T06:00:00Z"))]
    #[case::after_midnight(NIGHT, "2026-11-20T23:30:00Z", Severity::Minor, Some("2026-11-21T06:00:00Z"))]
    #[case::its_end(NIGHT, "2026-11-21T06:00:00Z", Severity::Minor, None)]
    #[case::bad_enough(NIGHT, "2026-11-20T23:30:00Z", Severity::Critical, None)]
    #[case::clocks_set_ahead(NIGHT, "2026-03-28T23:30:00Z", Severity::Minor, Some("2026-03-29T05:00:00Z"))]
    #[case::clocks_set_back(NIGHT, "2026-10-24T23:30:00Z", Severity::Minor, Some("2026-10-25T06:00:00Z"))]
    #[case::a_whole_day(SUNDAYS, "2026-11-22T12:00:00Z", Severity::Minor, Some("2026-11-22T23:00:00Z"))]
    #[case::another_day(SUNDAYS, "2026-11-23T12:00:00Z", Severity::Minor, None)]
    #[case::never_longer_than_a_week(
        ALWAYS,
        "2026-11-20T00:00:00Z",
        Severity::Minor,
        Some("2026-11-27T01:00:00Z")
    )]
    fn a_message_below_the_severity_waits_for_the_end_of_quiet_hours(
        #[case] hours: &str,
        #[case] now: &str,
        #[case] severity: Severity,
        #[case] expected: Option<&str>,
    ) {
        let at = |text: &str| {
            let parsed = chrono::DateTime::parse_from_rfc3339(text).unwrap();
            Timestamp::from_ms(parsed.timestamp_millis())
        };
        let (hours, zone) = (hours.parse().unwrap(), "Europe/Berlin".parse().unwrap());
        let quiet = QuietHours { hours, zone, except_from: Severity::Critical };
        assert_eq!(quiet.held_until(severity, at(now)), expected.map(at));
    }
}
