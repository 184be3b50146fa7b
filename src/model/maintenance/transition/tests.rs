//! Each operation in each state, and its entry on the timeline.

use rstest::rstest;

use super::*;
use crate::model::maintenance::MaintenanceNotices;
use crate::model::maintenance::MaintenanceStatus::{Cancelled, Completed, InProgress, Scheduled};
use crate::model::maintenance::tests::maintenance;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn stamp(ms: i64) -> OperationContext<'static> {
    OperationContext { at: at(ms), locale: "de" }
}

/// Status, text and `notify_subscribers` of each new entry.
fn entries_of(step: &MaintenanceTransition) -> Vec<(MaintenanceStatus, &str, bool)> {
    let text = |entry: &NewTimelineEntry| (entry.happened.status(), entry.notify_subscribers);
    let entries = step.entries.iter();
    entries.map(|entry| (text(entry).0, entry.message.get("de").unwrap(), text(entry).1)).collect()
}

/// Contract 4.11.2, "start already reached": automatic start, present time; new status, actual start.
#[rstest]
#[case(true, 999, Scheduled, None)]
#[case(true, 1_000, InProgress, Some(1_000))]
#[case(true, 9_000, InProgress, Some(9_000))]
#[case(false, 9_000, Scheduled, None)]
fn a_new_maintenance_starts_when_its_start_has_passed(
    #[case] auto_start: bool,
    #[case] now: i64,
    #[case] status: MaintenanceStatus,
    #[case] actual_start: Option<i64>,
) {
    let new = Maintenance { auto_start, ..maintenance(Scheduled) };
    let step = MaintenanceTransition::announce(new.clone(), None, stamp(now));
    assert_eq!((step.after.status, step.after.actual_start), (status, actual_start.map(at)));
    assert_eq!(step.after.schedule, new.schedule);
    assert_eq!(step.entries[0].happened, MaintenanceMilestone::Announced);
    assert_eq!(step.entries.len(), if status == InProgress { 2 } else { 1 });
    let again = MaintenanceTransition::revise(
        &new,
        new.clone(),
        RescheduleOptions { is_posted: true, notifies: false },
        stamp(now),
    );
    assert_eq!(again.after, step.after);
    assert_eq!(again.entries.len(), step.entries.len() - 1, "the window has not changed");
}

#[rstest]
#[case(true)]
#[case(false)]
fn the_first_entry_has_the_sent_or_generated_text(#[case] announcement: bool) {
    let notices = MaintenanceNotices { announcement, ..maintenance(Scheduled).notices };
    let new = Maintenance { notices, ..maintenance(Scheduled) };
    let sent = MaintenanceTransition::announce(
        new.clone(),
        Some(TranslatedText::single("de", "Wir arbeiten.")),
        stamp(0),
    );
    assert_eq!(entries_of(&sent), [(Scheduled, "Wir arbeiten.", announcement)]);
    let generated = MaintenanceTransition::announce(new, None, stamp(0));
    let text = "Maintenance is planned from 1970-01-01 00:00 UTC to 1970-01-01 00:00 UTC.";
    assert_eq!(entries_of(&generated), [(Scheduled, text, announcement)]);
}

/// Contract 4.11.2: status, changed end, `post_update`, `notify_subscribers`; `None` if there is no entry, else whether
/// subscribers are notified.
#[rstest]
#[case(Scheduled, Some(3_000), true, false, Some(false))]
#[case(Scheduled, Some(3_000), true, true, Some(true))]
#[case(Scheduled, Some(3_000), false, true, None)]
#[case(InProgress, None, true, false, Some(false))]
#[case(Scheduled, Some(2_000), true, true, None)]
fn a_changed_window_is_announced_unless_suppressed(
    #[case] status: MaintenanceStatus,
    #[case] end: Option<i64>,
    #[case] is_posted: bool,
    #[case] notifies: bool,
    #[case] expected: Option<bool>,
) {
    let before = maintenance(status);
    let schedule = MaintenanceWindow { end: end.map(at), ..before.schedule };
    let after = Maintenance { schedule, ..before.clone() };
    let step =
        MaintenanceTransition::revise(&before, after, RescheduleOptions { is_posted, notifies }, stamp(500));
    let entries: Vec<_> =
        entries_of(&step).iter().map(|(status, _, notified)| (*status, *notified)).collect();
    assert_eq!(entries, expected.map(|notified| (status, notified)).into_iter().collect::<Vec<_>>());
}

/// Contract 4.11.3: start, complete and cancel.
#[test]
fn an_operation_changes_state_times_and_timeline() {
    let planned = maintenance(Scheduled);
    let started = MaintenanceTransition::start(&planned, stamp(700)).unwrap();
    let expected = Maintenance { status: InProgress, actual_start: Some(at(700)), ..planned.clone() };
    assert_eq!(started.after, expected);
    assert_eq!(entries_of(&started), [(InProgress, "The maintenance has started.", true)]);

    let completed = MaintenanceTransition::complete(&expected, stamp(800)).unwrap();
    let expected = Maintenance { status: Completed, actual_end: Some(at(800)), ..expected };
    assert_eq!(completed.after, expected);
    assert_eq!(entries_of(&completed), [(Completed, "The maintenance has been completed.", true)]);

    let cancelled = MaintenanceTransition::cancel(&planned, stamp(900)).unwrap();
    assert_eq!(cancelled.after, Maintenance { status: Cancelled, ..planned });
    assert_eq!(entries_of(&cancelled), [(Cancelled, "The maintenance has been cancelled.", true)]);
}

#[test]
fn an_operation_notifies_only_of_enabled_notices() {
    let silent = MaintenanceNotices {
        announcement: false,
        day_before: true,
        hour_before: true,
        start: false,
        complete: false,
    };
    let of = |status| Maintenance { notices: silent, ..maintenance(status) };
    for step in [
        MaintenanceTransition::start(&of(Scheduled), stamp(1)),
        MaintenanceTransition::cancel(&of(Scheduled), stamp(1)),
        MaintenanceTransition::complete(&of(InProgress), stamp(1)),
    ] {
        assert!(!step.unwrap().entries[0].notify_subscribers);
    }
}

/// Contract 4.11.3, after `extend`: status before, new start; status after, actual start.
#[rstest]
#[case(InProgress, 1_000, InProgress, Some(1_001))]
#[case(Completed, 1_000, InProgress, Some(1_001))]
#[case(Completed, 1_600, InProgress, Some(1_001))]
#[case(InProgress, 1_601, Scheduled, None)]
#[case(Completed, 1_601, Scheduled, None)]
fn an_extension_continues_or_reschedules(
    #[case] status: MaintenanceStatus,
    #[case] start: i64,
    #[case] expected: MaintenanceStatus,
    #[case] actual_start: Option<i64>,
) {
    let schedule = MaintenanceWindow { start: at(start), end: Some(at(9_000)) };
    let extension = MaintenanceExtension { schedule, message: None, notifies: true };
    let step = MaintenanceTransition::extend(&maintenance(status), extension, stamp(1_600)).unwrap();
    assert_eq!((step.after.status, step.after.schedule), (expected, schedule));
    assert_eq!((step.after.actual_start, step.after.actual_end), (actual_start.map(at), None));
    assert_eq!((step.entries[0].happened.status(), step.entries[0].notify_subscribers), (expected, true));
}

#[rstest]
#[case(None, false)]
#[case(Some(9_000), true)]
fn an_open_end_disables_automatic_completion(#[case] end: Option<i64>, #[case] auto_complete: bool) {
    let before = Maintenance { auto_complete: true, ..maintenance(InProgress) };
    let schedule = MaintenanceWindow { end: end.map(at), ..before.schedule };
    let message = Some(TranslatedText::single("de", "Dauert länger."));
    let extension = MaintenanceExtension { schedule, message, notifies: false };
    let step = MaintenanceTransition::extend(&before, extension, stamp(1_600)).unwrap();
    assert_eq!(step.after.auto_complete, auto_complete);
    assert_eq!(entries_of(&step), [(InProgress, "Dauert länger.", false)]);
}

/// Contract 4.11.2, automatic start and completion: status, `auto_start`, `auto_complete`, present time; new status.
#[rstest]
#[case(Scheduled, true, false, 999, None)]
#[case(Scheduled, true, false, 1_000, Some(InProgress))]
#[case(Scheduled, true, true, 5_000, Some(InProgress))]
#[case(Scheduled, false, true, 5_000, None)]
#[case(InProgress, true, true, 1_999, None)]
#[case(InProgress, true, true, 2_000, Some(Completed))]
#[case(InProgress, true, false, 5_000, None)]
#[case(Completed, true, true, 5_000, None)]
#[case(Cancelled, true, true, 5_000, None)]
fn due_transitions_happen_once(
    #[case] status: MaintenanceStatus,
    #[case] auto_start: bool,
    #[case] auto_complete: bool,
    #[case] now: i64,
    #[case] expected: Option<MaintenanceStatus>,
) {
    let before = Maintenance { auto_start, auto_complete, ..maintenance(status) };
    let step = MaintenanceTransition::when_due(&before, stamp(now));
    assert_eq!(step.as_ref().map(|step| step.after.status), expected);
    let again = step.and_then(|step| MaintenanceTransition::when_due(&step.after, stamp(now)));
    assert_eq!(again.is_some(), expected == Some(InProgress) && auto_complete && now >= 2_000);
}

#[test]
fn an_open_end_is_never_over() {
    let open = MaintenanceWindow { start: at(1_000), end: None };
    let before = Maintenance { schedule: open, auto_complete: true, ..maintenance(InProgress) };
    assert_eq!(MaintenanceTransition::when_due(&before, stamp(i64::MAX)), None);
}

/// Contract 7 no. 45: entries of the timeline so far; entries that still fit when a maintenance is announced and starts at
/// once, and when it is completed.
#[rstest]
#[case(998, &[Scheduled, InProgress], &[Completed])]
#[case(999, &[Scheduled], &[Completed])]
#[case(1_000, &[], &[Completed])]
#[case(1_002, &[], &[])]
fn a_full_timeline_accepts_only_the_end(
    #[case] entries: usize,
    #[case] begun: &[MaintenanceStatus],
    #[case] ended: &[MaintenanceStatus],
) {
    let size = TimelineSize { entries, characters: 0 };
    let statuses = |step: MaintenanceTransition| {
        let entries = step.fitted(size).entries;
        entries.iter().map(|entry| entry.happened.status()).collect::<Vec<_>>()
    };
    let new = Maintenance { auto_start: true, ..maintenance(Scheduled) };
    assert_eq!(statuses(MaintenanceTransition::announce(new, None, stamp(1_000))), begun);
    assert_eq!(
        statuses(MaintenanceTransition::complete(&maintenance(InProgress), stamp(1_000)).unwrap()),
        ended
    );
}
