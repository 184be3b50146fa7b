//! A series of maintenances: a window that recurs, and the template of its maintenances.
//!
//! The maintenances of a series are rows of their own. All maintenances of the next thirty days exist, and always at least
//! the next one. This module decides which windows are wanted; `replan` decides how a changed series affects existing
//! maintenances.

pub mod replan;

use crate::clock::{DAY_MS, Timestamp};
use crate::id::Id;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::maintenance::origin::{SeriesKey, SeriesOrigin};
use crate::model::maintenance::{
    Maintenance, MaintenanceKind, MaintenanceNotices, MaintenanceStatus, MaintenanceWindow,
};
use crate::model::recurrence::{Occurrence, Recurrence};
use crate::model::translated_text::TranslatedText;
use crate::model::word_enum::words;

/// The interval between two plannings of a series, in milliseconds.
pub const PLANNING_EVERY_MS: i64 = DAY_MS;
/// How far ahead maintenances are created, in milliseconds. Includes a day more than thirty, so that thirty days are still
/// covered just before the next planning.
const AHEAD_MS: i64 = 30 * DAY_MS + PLANNING_EVERY_MS;
/// Maximum number of scheduled maintenances of a series at a time.
const WAITING_MAX: usize = 110;

words! {
    /// The state of a series.
    pub enum SeriesStatus {
        /// Maintenances are created for its windows.
        Active,
        /// The rule has no further window.
        Ended,
        /// No service is left in the series.
        Cancelled,
    }
}

/// A series as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceSeries {
    /// Key of the row.
    pub key: SeriesKey,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the series.
    pub organisation: i64,
    /// Title of each maintenance, 1..255 characters per language.
    pub title: TranslatedText,
    /// The first entry on the timeline of each maintenance; `None` = generated.
    pub message: Option<TranslatedText>,
    /// Planned or emergency; `type` in the API.
    pub kind: MaintenanceKind,
    /// Active, ended or cancelled.
    pub status: SeriesStatus,
    /// The rule of the windows.
    pub recurrence: Recurrence,
    /// True if the maintenances start automatically at their planned start.
    pub auto_start: bool,
    /// True if the maintenances end automatically at their planned end.
    pub auto_complete: bool,
    /// The moments at which subscribers of a maintenance are notified.
    pub notices: MaintenanceNotices,
    /// The time of the next planning, which creates the missing maintenances.
    pub next_planning_at: Timestamp,
    /// The token that created the series, if known.
    pub created_by: Option<AnnouncementAuthor>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

impl MaintenanceSeries {
    /// The windows that need a maintenance at `now`, in order: a running one, all that start in the coming thirty days, and
    /// at least the next one. Windows that are over are left out.
    #[must_use]
    pub fn wanted_occurrences(&self, now: Timestamp) -> Vec<Occurrence> {
        let horizon = now.plus_ms(AHEAD_MS);
        let upcoming = self.recurrence.upcoming(now).take(WAITING_MAX).enumerate();
        let near = upcoming.take_while(|(index, window)| *index == 0 || window.start < horizon);
        near.map(|(_, window)| window).collect()
    }

    /// The series after a planning at `now`. `wanted` are the windows that the planning found; without any the series is
    /// over.
    #[must_use]
    pub fn mark_planned(self, now: Timestamp, wanted: &[Occurrence]) -> Self {
        let status = if wanted.is_empty() { SeriesStatus::Ended } else { SeriesStatus::Active };
        Self { status, next_planning_at: now.plus_ms(PLANNING_EVERY_MS), ..self }
    }

    /// A new maintenance for this window.
    #[must_use]
    pub fn maintenance(&self, window: Occurrence, now: Timestamp) -> Maintenance {
        Maintenance {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            title: self.title.clone(),
            kind: self.kind,
            status: MaintenanceStatus::Scheduled,
            schedule: schedule(window),
            actual_start: None,
            actual_end: None,
            auto_start: self.auto_start,
            auto_complete: self.auto_complete,
            notices: self.notices,
            created_by: self.created_by.clone(),
            created_at: now,
            updated_at: now,
            origin: Some(SeriesOrigin { series: self.key, occurrence: window.start, is_adjusted: false }),
        }
    }

    /// Moves the existing maintenance `before` to this window, with the present settings of the series.
    #[must_use]
    pub fn follow(&self, before: &Maintenance, window: Occurrence) -> Maintenance {
        let new = self.maintenance(window, before.created_at);
        Maintenance {
            key: before.key,
            id: before.id,
            created_by: before.created_by.clone(),
            updated_at: before.updated_at,
            ..new
        }
    }
}

fn schedule(window: Occurrence) -> MaintenanceWindow {
    MaintenanceWindow { start: window.start, end: Some(window.end) }
}

#[cfg(test)]
pub(crate) mod tests {
    use rstest::rstest;

    use super::*;

    pub(super) fn at(text: &str) -> Timestamp {
        let at = chrono::DateTime::parse_from_rfc3339(text).unwrap();
        Timestamp::from_ms(at.timestamp_millis())
    }

    /// A series with this rule in Berlin. Its first window is from 02:00 to 04:00 on 22 November 2026, a Sunday.
    pub(super) fn series(rule: &str) -> MaintenanceSeries {
        let window =
            Occurrence { start: at("2026-11-22T02:00:00+01:00"), end: at("2026-11-22T04:00:00+01:00") };
        MaintenanceSeries {
            key: 7,
            id: Id::random(),
            organisation: 1,
            title: TranslatedText::single("en", "Weekly restart"),
            message: None,
            kind: MaintenanceKind::Planned,
            status: SeriesStatus::Active,
            recurrence: Recurrence::new(rule.parse().unwrap(), "Europe/Berlin".parse().unwrap(), window)
                .unwrap(),
            auto_start: true,
            auto_complete: true,
            notices: MaintenanceNotices {
                announcement: true,
                day_before: true,
                hour_before: true,
                start: true,
                complete: true,
            },
            next_planning_at: at("2026-11-20T00:00:00Z"),
            created_by: None,
            created_at: at("2026-11-20T00:00:00Z"),
            updated_at: at("2026-11-20T00:00:00Z"),
        }
    }

    /// Cases: a rule and the present time; the number of wanted windows, and the days on which the first and the last of
    /// them start.
    #[rstest]
    #[case::before("FREQ=WEEKLY", "2026-11-20T00:00:00Z", Some((5, "2026-11-22", "2026-12-20")))]
    #[case::while_one_runs("FREQ=WEEKLY", "2026-11-22T02:59:59Z", Some((5, "2026-11-22", "2026-12-20")))]
    #[case::when_it_is_over("FREQ=WEEKLY", "2026-11-22T03:00:00Z", Some((4, "2026-11-29", "2026-12-20")))]
    #[case::after_a_long_stop("FREQ=WEEKLY", "2027-06-01T00:00:00Z", Some((4, "2027-06-06", "2027-06-27")))]
    #[case::daily("FREQ=DAILY", "2026-12-01T00:00:00Z", Some((31, "2026-12-01", "2026-12-31")))]
    #[case::far_ahead("FREQ=YEARLY", "2026-12-01T00:00:00Z", Some((1, "2027-11-22", "2027-11-22")))]
    #[case::no_more_than_fit("FREQ=DAILY;BYHOUR=2,3,4,5,6", "2026-12-01T00:00:00Z", Some((110, "2026-12-01", "2026-12-22")))]
    #[case::over("FREQ=DAILY;COUNT=3", "2026-12-01T00:00:00Z", None)]
    fn windows_are_planned_thirty_days_ahead(
        #[case] rule: &str,
        #[case] now: &str,
        #[case] expected: Option<(usize, &str, &str)>,
    ) {
        let series = series(rule);
        let wanted = series.wanted_occurrences(at(now));
        let day = |window: &Occurrence| window.start.date();
        let found =
            wanted.first().zip(wanted.last()).map(|(first, last)| (wanted.len(), day(first), day(last)));
        let expected = expected.map(|(count, first, last)| (count, first.to_owned(), last.to_owned()));
        assert_eq!(found, expected);
        let after = series.mark_planned(at(now), &wanted);
        assert_eq!(after.status, if expected.is_some() { SeriesStatus::Active } else { SeriesStatus::Ended });
        assert_eq!(after.next_planning_at, at(now).plus_ms(DAY_MS));
    }
}
