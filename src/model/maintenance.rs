//! A maintenance: announced work on services (contract 4.11), its states, and the actions allowed in each state.
//!
//! The effect of an action is decided in `transition`, its text on the timeline in `texts`, its reminders in `reminder`. A
//! [`Maintenance`] is one row, without the services that it covers.

pub mod origin;
pub mod reminder;
pub mod series;
pub mod texts;
pub mod transition;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::announcement::{self, AnnouncementAuthor};
use crate::model::maintenance::origin::SeriesOrigin;
use crate::model::translated_text::TranslatedText;
use crate::model::word_enum::words;

/// Permitted number of characters of a title, per language.
pub const TITLE_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of a timeline entry, per language.
pub const MESSAGE_LENGTH: RangeInclusive<usize> = 1..=10_000;

/// Database key of a maintenance.
pub type MaintenanceKey = i64;

words! {
    /// Planned or emergency work. Decides whether the time of the work counts in the uptime.
    pub enum MaintenanceKind {
        /// Planned work; its time is excluded from the uptime.
        Planned,
        /// Emergency work; its time is measured like any other time.
        Emergency,
    }
}

words! {
    /// The state of a maintenance.
    pub enum MaintenanceStatus {
        /// Planned; the window has not started.
        Scheduled,
        /// The work is in progress.
        InProgress,
        /// The work has ended.
        Completed,
        /// The work was called off before it started.
        Cancelled,
    }
}

/// The planned time of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaintenanceWindow {
    /// Planned start; may be in the past.
    pub start: Timestamp,
    /// Planned end, later than the start; `None` = open end.
    pub end: Option<Timestamp>,
}

/// The moments at which subscribers are notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaintenanceNotices {
    /// Notify when the maintenance is created, and when it is cancelled.
    pub announcement: bool,
    /// Notify a day before the planned start.
    pub day_before: bool,
    /// Notify an hour before the planned start.
    pub hour_before: bool,
    /// Notify at the start of the work.
    pub start: bool,
    /// Notify at the end of the work.
    pub complete: bool,
}

/// A maintenance as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// Key of the row.
    pub key: MaintenanceKey,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the maintenance.
    pub organisation: i64,
    /// Title, 1..255 characters per language.
    pub title: TranslatedText,
    /// Planned or emergency; `type` in the API.
    pub kind: MaintenanceKind,
    /// Present state of the maintenance.
    pub status: MaintenanceStatus,
    /// Planned start and end.
    pub schedule: MaintenanceWindow,
    /// Actual start; `None` until the work has started.
    pub actual_start: Option<Timestamp>,
    /// Actual end; `None` until the work has ended, and for work that never started.
    pub actual_end: Option<Timestamp>,
    /// True if the work starts automatically at the planned start.
    pub auto_start: bool,
    /// True if the work ends automatically at the planned end; never true with an open end.
    pub auto_complete: bool,
    /// The moments at which subscribers are notified.
    pub notices: MaintenanceNotices,
    /// The token that created the maintenance, if known.
    pub created_by: Option<AnnouncementAuthor>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
    /// The series and the window that the maintenance belongs to; `None` outside of a series.
    pub origin: Option<SeriesOrigin>,
}

/// An entry of the timeline of a maintenance.
pub type MaintenanceTimelineEntry = announcement::TimelineEntry<MaintenanceStatus>;

/// An operation on a maintenance, requested by a member or due at a planned time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaintenanceOperation {
    /// Start the work now.
    Start,
    /// End the work now.
    Complete,
    /// Call the work off.
    Cancel,
    /// Replace the window of work that is in progress or completed.
    Extend,
}

impl MaintenanceOperation {
    /// The states in which the operation is allowed, as words.
    #[must_use]
    pub const fn needs(self) -> &'static [&'static str] {
        const SCHEDULED: &str = MaintenanceStatus::Scheduled.as_str();
        const IN_PROGRESS: &str = MaintenanceStatus::InProgress.as_str();
        const COMPLETED: &str = MaintenanceStatus::Completed.as_str();
        match self {
            Self::Start | Self::Cancel => &[SCHEDULED],
            Self::Complete => &[IN_PROGRESS],
            Self::Extend => &[IN_PROGRESS, COMPLETED],
        }
    }
}

/// The operation is not possible in this state of the maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the maintenance is {status}")]
pub struct MaintenanceStateError {
    /// The state that forbids the operation.
    pub status: MaintenanceStatus,
    /// The states in which the operation is possible.
    pub needed: &'static [&'static str],
}

impl Maintenance {
    /// Returns an error unless the operation is possible in the present state (contract 4.11.3).
    pub fn allow(&self, operation: MaintenanceOperation) -> Result<(), MaintenanceStateError> {
        let (status, needed) = (self.status, operation.needs());
        if needed.contains(&status.as_str()) { Ok(()) } else { Err(MaintenanceStateError { status, needed }) }
    }

    /// Returns true if an update may set this window (contract 4.11.2). An unchanged window is always allowed.
    #[must_use]
    pub fn may_move_to(&self, schedule: MaintenanceWindow) -> bool {
        match self.status {
            MaintenanceStatus::Scheduled => true,
            MaintenanceStatus::InProgress => schedule.start == self.schedule.start,
            MaintenanceStatus::Completed | MaintenanceStatus::Cancelled => schedule == self.schedule,
        }
    }

    /// The maintenance after a change by members. From then on it no longer follows its series, if it has one.
    #[must_use]
    pub fn adjusted(self) -> Self {
        let origin = self.origin.map(|origin| SeriesOrigin { is_adjusted: true, ..origin });
        Self { origin, ..self }
    }

    /// Returns true if the services of this maintenance are in maintenance now.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        self.status == MaintenanceStatus::InProgress
    }

    /// Returns true if the maintenance is completed or cancelled.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.status, MaintenanceStatus::Completed | MaintenanceStatus::Cancelled)
    }

    /// Returns true if the time is excluded from the uptime of the services that are covered.
    #[must_use]
    pub fn leaves_time_out(&self) -> bool {
        self.is_in_progress() && self.kind == MaintenanceKind::Planned
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rstest::rstest;

    use super::*;

    /// A planned maintenance in this state, with a window from 1,000 ms to 2,000 ms.
    pub(crate) fn maintenance(status: MaintenanceStatus) -> Maintenance {
        let at = Timestamp::from_ms;
        let ran = matches!(status, MaintenanceStatus::InProgress | MaintenanceStatus::Completed);
        Maintenance {
            key: 1,
            id: Id::random(),
            organisation: 1,
            title: TranslatedText::single("en", "Database upgrade"),
            kind: MaintenanceKind::Planned,
            status,
            schedule: MaintenanceWindow { start: at(1_000), end: Some(at(2_000)) },
            actual_start: ran.then(|| at(1_001)),
            actual_end: (status == MaintenanceStatus::Completed).then(|| at(1_501)),
            auto_start: true,
            auto_complete: false,
            notices: MaintenanceNotices {
                announcement: true,
                day_before: true,
                hour_before: true,
                start: true,
                complete: true,
            },
            created_by: None,
            created_at: at(0),
            updated_at: at(0),
            origin: None,
        }
    }

    /// Contract 4.11.3: the states that allow each operation.
    #[rstest]
    #[case(MaintenanceOperation::Start, &["scheduled"])]
    #[case(MaintenanceOperation::Complete, &["in_progress"])]
    #[case(MaintenanceOperation::Cancel, &["scheduled"])]
    #[case(MaintenanceOperation::Extend, &["in_progress", "completed"])]
    fn an_operation_is_possible_in_these_states_only(
        #[case] operation: MaintenanceOperation,
        #[case] needed: &'static [&'static str],
    ) {
        for status in MaintenanceStatus::ALL {
            let expected = if needed.contains(&status.as_str()) {
                Ok(())
            } else {
                Err(MaintenanceStateError { status, needed })
            };
            assert_eq!(maintenance(status).allow(operation), expected, "{operation:?} {status}");
        }
    }

    /// Contract 4.11.2: the window changes that each state allows. Tried in order: no change, end removed, start moved,
    /// both moved.
    #[rstest]
    #[case(MaintenanceStatus::Scheduled, [true, true, true, true])]
    #[case(MaintenanceStatus::InProgress, [true, true, false, false])]
    #[case(MaintenanceStatus::Completed, [true, false, false, false])]
    #[case(MaintenanceStatus::Cancelled, [true, false, false, false])]
    fn a_window_moves_as_far_as_the_state_allows(
        #[case] status: MaintenanceStatus,
        #[case] allowed: [bool; 4],
    ) {
        let at = Timestamp::from_ms;
        let windows = [(1_000, Some(2_000)), (1_000, None), (1_001, Some(2_000)), (999, Some(3_000))];
        for ((start, end), expected) in windows.into_iter().zip(allowed) {
            let schedule = MaintenanceWindow { start: at(start), end: end.map(at) };
            assert_eq!(maintenance(status).may_move_to(schedule), expected, "{status} {schedule:?}");
        }
    }

    #[rstest]
    #[case(MaintenanceKind::Planned, MaintenanceStatus::InProgress, true)]
    #[case(MaintenanceKind::Emergency, MaintenanceStatus::InProgress, false)]
    #[case(MaintenanceKind::Planned, MaintenanceStatus::Scheduled, false)]
    #[case(MaintenanceKind::Planned, MaintenanceStatus::Completed, false)]
    #[case(MaintenanceKind::Planned, MaintenanceStatus::Cancelled, false)]
    fn only_planned_work_in_progress_leaves_time_out(
        #[case] kind: MaintenanceKind,
        #[case] status: MaintenanceStatus,
        #[case] expected: bool,
    ) {
        assert_eq!(Maintenance { kind, ..maintenance(status) }.leaves_time_out(), expected);
    }
}
