//! Reminders of coming maintenances: a day and an hour before the planned start.
//!
//! A reminder that would have been due before the maintenance was planned is left out. A reminder that came due while no
//! process ran is still sent, unless the work has started by then, or the later reminder is due as well.

use crate::clock::Timestamp;
use crate::model::maintenance::{Maintenance, MaintenanceStatus};
use crate::model::subscriber_fact::FactKind;
use crate::model::word_enum::words;

words! {
    /// The kinds of reminders.
    pub enum ReminderKind {
        /// A day before the start.
        DayBefore,
        /// An hour before the start.
        HourBefore,
    }
}

impl ReminderKind {
    /// Milliseconds from the reminder to the planned start.
    #[must_use]
    pub const fn before_ms(self) -> i64 {
        match self {
            Self::DayBefore => 24 * 60 * 60 * 1_000,
            Self::HourBefore => 60 * 60 * 1_000,
        }
    }

    /// Kind of the fact that subscribers get for this reminder.
    #[must_use]
    pub const fn fact(self) -> FactKind {
        match self {
            Self::DayBefore => FactKind::MaintenanceDayBefore,
            Self::HourBefore => FactKind::MaintenanceHourBefore,
        }
    }
}

impl Maintenance {
    /// The requested reminders, and the time of each.
    #[must_use]
    pub fn reminders(&self) -> Vec<(ReminderKind, Timestamp)> {
        let is_wanted = |reminder: &ReminderKind| match reminder {
            ReminderKind::DayBefore => self.notices.day_before,
            ReminderKind::HourBefore => self.notices.hour_before,
        };
        let waits = self.status == MaintenanceStatus::Scheduled;
        let wanted = ReminderKind::ALL.into_iter().filter(|reminder| waits && is_wanted(reminder));
        wanted.map(|reminder| (reminder, self.schedule.start.plus_ms(-reminder.before_ms()))).collect()
    }

    /// The reminders to plan at `now`, where `planned` is already planned. A reminder whose time has passed is included
    /// only if it is already planned and still waits to be sent.
    #[must_use]
    pub fn reminders_to_plan(
        &self,
        planned: &[(ReminderKind, Timestamp)],
        now: Timestamp,
    ) -> Vec<(ReminderKind, Timestamp)> {
        let mut wanted = self.reminders();
        wanted.retain(|reminder| reminder.1 > now || planned.contains(reminder));
        wanted
    }

    /// Returns true if a due reminder is still worth sending: the work has not started, and no later reminder is due.
    #[must_use]
    pub fn is_reminded(&self, reminder: ReminderKind, now: Timestamp) -> bool {
        let due: Vec<ReminderKind> =
            self.reminders().into_iter().filter(|(_, at)| *at <= now).map(|(reminder, _)| reminder).collect();
        self.schedule.start > now && due.last() == Some(&reminder)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::maintenance::tests::maintenance;
    use crate::model::maintenance::{MaintenanceNotices, MaintenanceWindow};

    const HOUR_MS: i64 = 3_600_000;

    fn planned(day_before: bool, hour_before: bool) -> Maintenance {
        let scheduled = maintenance(MaintenanceStatus::Scheduled);
        let notices = MaintenanceNotices { day_before, hour_before, ..scheduled.notices };
        let schedule = MaintenanceWindow { start: Timestamp::from_ms(48 * HOUR_MS), end: None };
        Maintenance { notices, schedule, ..scheduled }
    }

    #[rstest]
    #[case(true, true, &[(ReminderKind::DayBefore, 24), (ReminderKind::HourBefore, 47)])]
    #[case(true, false, &[(ReminderKind::DayBefore, 24)])]
    #[case(false, true, &[(ReminderKind::HourBefore, 47)])]
    #[case(false, false, &[])]
    fn reminders_are_sent_only_on_request(
        #[case] day_before: bool,
        #[case] hour_before: bool,
        #[case] expected: &[(ReminderKind, i64)],
    ) {
        let reminders = planned(day_before, hour_before).reminders();
        let hours: Vec<_> = reminders.iter().map(|(reminder, at)| (*reminder, at.ms() / HOUR_MS)).collect();
        assert_eq!(hours, expected);
        let running = Maintenance { status: MaintenanceStatus::InProgress, ..planned(true, true) };
        assert_eq!(running.reminders(), []);
    }

    /// Minutes before the start; whether the reminder of an hour is requested too; whether each of the two is sent at that
    /// time.
    #[rstest]
    #[case::too_early(25 * 60, true, (false, false))]
    #[case::a_day_before(24 * 60, true, (true, false))]
    #[case::late(61, true, (true, false))]
    #[case::the_later_one_is_due_as_well(60, true, (false, true))]
    #[case::there_is_no_later_one(60, false, (true, false))]
    #[case::just_before(1, true, (false, true))]
    #[case::already_started(0, true, (false, false))]
    fn a_late_reminder_is_sent_while_it_is_useful(
        #[case] minutes: i64,
        #[case] hour_before: bool,
        #[case] expected: (bool, bool),
    ) {
        let planned = planned(true, hour_before);
        let now = planned.schedule.start.plus_ms(-minutes * 60_000);
        let is_reminded_of = |reminder| planned.is_reminded(reminder, now);
        assert_eq!(
            (is_reminded_of(ReminderKind::DayBefore), is_reminded_of(ReminderKind::HourBefore)),
            expected
        );
    }
}
