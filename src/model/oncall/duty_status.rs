//! The contact who is on duty now: since when, until when, and the next shift.
//!
//! Shifts are computed for a short time range first, and for longer ones only if the range cuts a shift. So a schedule with
//! short shifts need not be computed for a year.

use crate::clock::{DAY_MS, Timestamp};
use crate::model::oncall::roster::{DutyRoster, DutyTimeline, Shift};
use crate::model::time_range::TimeRange;

/// Days by which the searched range is extended on both sides, tried in this order.
const LONGER_DAYS: [i64; 4] = [2, 16, 100, 400];

/// The duty of a schedule at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DutyStatus {
    /// The shift on duty; `None` = uncovered.
    pub on_duty: Option<Shift>,
    /// The start of the shift or uncovered period; `None` if it is before the searched range.
    pub since: Option<Timestamp>,
    /// The end of the shift or uncovered period; `None` if it is after the searched range.
    pub until: Option<Timestamp>,
    /// The next shift, if one starts within the searched range.
    pub next: Option<Shift>,
}

impl DutyRoster<'_> {
    /// The duty at a moment, and its start and end.
    #[must_use]
    pub fn present(&self, at: Timestamp) -> DutyStatus {
        let moment = TimeRange { from: at, to: at.plus_ms(1) };
        let mut present = DutyStatus { on_duty: None, since: None, until: None, next: None };
        for days in LONGER_DAYS {
            let search_range = widen_range(moment, days);
            present = at_moment(&self.duty(search_range), search_range, at);
            if present.since.is_some() && present.next.is_some() {
                break;
            }
        }
        present
    }

    /// The shifts that overlap a range, with their full length as far as the searched range shows it.
    #[must_use]
    pub fn whole_shifts(&self, range: TimeRange) -> Vec<Shift> {
        let touches = |shift: &Shift| shift.range.from < range.to && range.from < shift.range.to;
        let mut found = Vec::new();
        for days in LONGER_DAYS {
            let search_range = widen_range(range, days);
            found = self.duty(search_range).shifts;
            found.retain(touches);
            let is_cut =
                |shift: &Shift| shift.range.from == search_range.from || shift.range.to == search_range.to;
            if !found.iter().any(is_cut) {
                break;
            }
        }
        found
    }
}

fn widen_range(range: TimeRange, days: i64) -> TimeRange {
    TimeRange { from: range.from.plus_ms(-days * DAY_MS), to: range.to.plus_ms(days * DAY_MS) }
}

/// The duty at a moment. The ends of the searched range do not count as the start or end of a shift.
fn at_moment(duty: &DutyTimeline, search_range: TimeRange, at: Timestamp) -> DutyStatus {
    let on_duty = duty.shifts.iter().find(|shift| shift.range.contains(at)).copied();
    let gap = duty.gaps.iter().find(|gap| gap.contains(at)).copied();
    let now = on_duty.map(|shift| shift.range).or(gap).unwrap_or(search_range);
    DutyStatus {
        on_duty,
        since: Some(now.from).filter(|from| *from > search_range.from),
        until: Some(now.to).filter(|to| *to < search_range.to),
        next: duty.shifts.iter().find(|shift| shift.range.from >= now.to).copied(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::id::Id;
    use crate::model::notification::routing::ResourceReference;
    use crate::model::oncall::schedule::{ContactAbsence, OncallSchedule, Rotation, RotationLayer};
    use crate::model::sla::business_hours::DayOfWeek;

    fn at(text: &str) -> Timestamp {
        let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
        Timestamp::from_ms(moment.timestamp_millis())
    }

    /// A schedule with two contacts that starts on 1 November 2026.
    fn schedule(rotation: Rotation, hours: Option<&str>) -> OncallSchedule {
        let contact = |key| ResourceReference { key, id: Id::random() };
        let starts_at = at("2026-11-01T00:00:00Z");
        let layer = RotationLayer {
            name: "Layer".into(),
            contacts: vec![contact(1), contact(2)],
            starts_at,
            ends_at: None,
            rotation,
            hours: hours.map(|hours| hours.parse().unwrap()),
        };
        OncallSchedule {
            key: 1,
            id: Id::random(),
            organisation: 1,
            name: "Shop".into(),
            zone: "UTC".parse().unwrap(),
            layers: vec![layer],
            created_at: starts_at,
            updated_at: starts_at,
        }
    }

    fn weekly(weeks: u32) -> Rotation {
        Rotation::Weekly { weeks, day: DayOfWeek::Mon, at: "09:00".parse().unwrap() }
    }

    /// Rotation, hours, present time; the contact on duty, since when, until when, and the start of the next shift.
    #[rstest]
    #[case::a_week(weekly(1), None, "2026-11-25T12:00:00Z",
        (Some(1), Some("2026-11-23T09:00"), Some("2026-11-30T09:00"), Some("2026-11-30T09:00")))]
    #[case::far_ahead(weekly(40), None, "2026-11-25T12:00:00Z",
        (Some(1), Some("2026-11-01T00:00"), Some("2027-08-02T09:00"), Some("2027-08-02T09:00")))]
    #[case::too_far(weekly(70), None, "2026-11-25T12:00:00Z", (Some(1), Some("2026-11-01T00:00"), None, None))]
    #[case::nobody_on_duty(weekly(1), Some("mon,tue,wed,thu,fri 08:00-18:00"), "2026-11-25T20:00:00Z",
        (None, Some("2026-11-25T18:00"), Some("2026-11-26T08:00"), Some("2026-11-26T08:00")))]
    #[case::not_yet(weekly(1), None, "2026-10-30T00:00:00Z",
        (None, None, Some("2026-11-01T00:00"), Some("2026-11-01T00:00")))]
    #[case::twelve_hours(Rotation::Hours { hours: 12 }, None, "2026-11-25T13:00:00Z",
        (Some(2), Some("2026-11-25T12:00"), Some("2026-11-26T00:00"), Some("2026-11-26T00:00")))]
    fn the_current_shift_has_a_start_and_an_end(
        #[case] rotation: Rotation,
        #[case] hours: Option<&str>,
        #[case] now: &str,
        #[case] (contact, since, until, next): (Option<i64>, Option<&str>, Option<&str>, Option<&str>),
    ) {
        let schedule = schedule(rotation, hours);
        let present = DutyRoster { schedule: &schedule, overrides: &[], absences: &[] }.present(at(now));
        let shown = |at: Option<Timestamp>| at.map(|at| at.to_string()[..16].to_owned());
        assert_eq!(present.on_duty.map(|shift| shift.contact), contact);
        assert_eq!(shown(present.since).as_deref(), since);
        assert_eq!(shown(present.until).as_deref(), until);
        assert_eq!(shown(present.next.map(|next| next.range.from)).as_deref(), next);
    }

    /// A shift that continues beyond the range is shown in full; a shift that an absence splits is shown as two.
    #[test]
    fn shifts_are_not_cut_at_the_end_of_a_stretch() {
        let schedule = schedule(weekly(4), None);
        let away = TimeRange { from: at("2026-12-24T00:00:00Z"), to: at("2026-12-27T00:00:00Z") };
        let absences = [1, 2].map(|contact| ContactAbsence { contact, range: away });
        let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &absences };
        let shifts = roster
            .whole_shifts(TimeRange { from: at("2026-12-20T00:00:00Z"), to: at("2026-12-28T00:00:00Z") });
        let shown: Vec<(i64, String, String)> = shifts
            .iter()
            .map(|shift| {
                let day = |at: Timestamp| at.to_string()[..10].to_owned();
                (shift.contact, day(shift.range.from), day(shift.range.to))
            })
            .collect();
        let expected = [
            (2, "2026-11-23", "2026-12-21"),
            (1, "2026-12-21", "2026-12-24"),
            (1, "2026-12-27", "2027-01-18"),
        ];
        assert_eq!(shown, expected.map(|(contact, from, to)| (contact, from.to_owned(), to.to_owned())));
    }
}
