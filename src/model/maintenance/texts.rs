//! Generated texts of timelines and reminders: always English, also in organisations with another language.

use crate::clock::Timestamp;
use crate::model::maintenance::MaintenanceWindow;

pub(super) const STARTED: &str = "The maintenance has started.";
pub(super) const COMPLETED: &str = "The maintenance has been completed.";
/// Text for work that was called off.
pub(super) const CANCELLED: &str = "The maintenance has been cancelled.";

pub(super) fn announced(schedule: MaintenanceWindow) -> String {
    format!("Maintenance is planned {}.", period(schedule))
}

/// Text after an update has changed the window.
pub(super) fn moved(schedule: MaintenanceWindow) -> String {
    format!("The maintenance is now planned {}.", period(schedule))
}

/// Text after an extension, while the work continues.
pub(super) fn extended(schedule: MaintenanceWindow) -> String {
    match schedule.end {
        Some(end) => format!("The maintenance has been extended until {}.", minute(end)),
        None => "The maintenance has been extended until further notice.".into(),
    }
}

/// Text of a reminder before the start.
#[must_use]
pub fn reminded(schedule: MaintenanceWindow) -> String {
    format!("Reminder: maintenance is planned {}.", period(schedule))
}

fn period(MaintenanceWindow { start, end }: MaintenanceWindow) -> String {
    match end {
        Some(end) => format!("from {} to {}", minute(start), minute(end)),
        None => format!("from {} until further notice", minute(start)),
    }
}

/// A time with minutes, in the form `2026-11-22 22:00 UTC`.
fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    let clock = text.split_once('T').and_then(|(_, clock)| clock.get(..5)).unwrap_or_default();
    format!("{} {clock} UTC", at.date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_written_for_people() {
        let (start, end) = (Timestamp::from_ms(1_795_384_800_000), Timestamp::from_ms(1_795_392_000_000));
        let bounded = MaintenanceWindow { start, end: Some(end) };
        let open = MaintenanceWindow { start, end: None };
        for (text, expected) in [
            (announced(bounded), "Maintenance is planned from 2026-11-22 22:00 UTC to 2026-11-23 00:00 UTC."),
            (announced(open), "Maintenance is planned from 2026-11-22 22:00 UTC until further notice."),
            (moved(open), "The maintenance is now planned from 2026-11-22 22:00 UTC until further notice."),
            (
                reminded(open),
                "Reminder: maintenance is planned from 2026-11-22 22:00 UTC until further notice.",
            ),
            (extended(bounded), "The maintenance has been extended until 2026-11-23 00:00 UTC."),
            (extended(open), "The maintenance has been extended until further notice."),
        ] {
            assert_eq!(text, expected);
        }
    }
}
