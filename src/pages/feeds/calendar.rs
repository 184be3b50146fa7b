//! The maintenances of a page as a calendar (RFC 5545, RFC 7986).

use crate::clock::{DAY_MS, Timestamp};
use crate::model::maintenance::MaintenanceStatus;
use crate::pages::feeds::entries::EntryReader;
use crate::pages::screen::PageScreen;
use crate::store::announcements::StoredAnnouncement;
use crate::texts::icalendar::{CalendarEvent, CalendarFeed, EventDetails};
use crate::texts::markdown;

/// How long a maintenance that was called off stays in the calendar, so that programs remove it.
const CANCELLED_FOR_MS: i64 = 30 * DAY_MS;
/// Length that is shown for a maintenance with an open end, from its start or from now.
const OPEN_END_MS: i64 = 3_600_000;

/// Writes the calendar of a page with this public URL.
pub(super) fn write(reader: &EntryReader<'_>, name: String, url: String) -> String {
    let now = reader.choices.now;
    let is_shown = |one: &&StoredAnnouncement<MaintenanceStatus>| {
        let is_recent = now.ms_since(one.updated_at) < CANCELLED_FOR_MS;
        reader.contains(one) && (one.status != MaintenanceStatus::Cancelled || is_recent)
    };
    let maintenances = reader.history.maintenances.iter().filter(is_shown);
    CalendarFeed {
        product: "Status page",
        name,
        url: Some(url),
        events: maintenances.map(|one| event(reader, one)).collect(),
    }
    .render()
}

fn event(reader: &EntryReader<'_>, maintenance: &StoredAnnouncement<MaintenanceStatus>) -> CalendarEvent {
    let latest = maintenance.entries.last().map(|entry| reader.names.text(&entry.message));
    CalendarEvent {
        uid: format!("{}@{}", maintenance.id, reader.choices.authority),
        changed_at: maintenance.updated_at,
        from: maintenance.start,
        to: end(maintenance, reader.choices.now),
        summary: reader.names.title(maintenance),
        details: Some(EventDetails {
            description: latest.as_deref().map(markdown::to_text).unwrap_or_default(),
            url: reader.url(PageScreen::Maintenance(maintenance.id)),
            sequence: maintenance.entries.len().saturating_sub(1),
            is_cancelled: maintenance.status == MaintenanceStatus::Cancelled,
        }),
    }
}

/// Returns the end of a maintenance: the actual one, the planned one, or for an open end an hour from now, in whole hours so
/// that the calendar rarely changes.
fn end(maintenance: &StoredAnnouncement<MaintenanceStatus>, now: Timestamp) -> Timestamp {
    let open_end = || {
        let from = maintenance.start.max(now).ms();
        Timestamp::from_ms((from / OPEN_END_MS + 1) * OPEN_END_MS)
    };
    let end = maintenance.ended_at.or(maintenance.end).unwrap_or_else(open_end);
    end.max(maintenance.start)
}
