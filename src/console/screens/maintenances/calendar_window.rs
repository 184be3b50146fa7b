//! A window of the calendar: its state, and its times in the zone of its series and in that of the viewer.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::console::console_texts::ConsoleTexts;
use crate::http::kit::timestamp::parse;
use crate::model::maintenance::{MaintenanceKind, MaintenanceStatus};
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;

/// A time of work: that of a maintenance, or one that a series plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CalendarWindow {
    pub(super) title: String,
    pub(super) link: String,
    pub(super) kind: MaintenanceKind,
    pub(super) state: WindowState,
    /// The zone of the series; UTC without one.
    pub(super) zone: IanaZone,
    pub(super) start: Timestamp,
    /// `None`: nobody has said when it ends.
    pub(super) end: Option<Timestamp>,
    /// The end of the days on which it is shown.
    pub(super) last: Timestamp,
}

/// The state of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowState {
    /// Only the rule of a series plans it.
    BySeries,
    /// There is a maintenance.
    Maintenance(MaintenanceStatus),
}

impl WindowState {
    /// The name of its text.
    pub(super) fn text(self) -> String {
        match self {
            Self::BySeries => "planned-by-series".to_owned(),
            Self::Maintenance(status) => format!("word-{}", status.as_str().replace('_', "-")),
        }
    }

    /// The class of its mark.
    pub(super) const fn tone(self) -> &'static str {
        match self {
            Self::BySeries | Self::Maintenance(MaintenanceStatus::Scheduled) => "under_maintenance",
            Self::Maintenance(MaintenanceStatus::InProgress) => "degraded",
            Self::Maintenance(MaintenanceStatus::Completed) => "operational",
            Self::Maintenance(MaintenanceStatus::Cancelled) => "unknown",
        }
    }
}

impl CalendarWindow {
    /// The window of a maintenance of the API: its planned times, or the real ones as far as there are any. `None` if it
    /// cannot be read.
    pub(super) fn of(row: &Value, now: Timestamp) -> Option<Self> {
        let time = |name: &str| row[name].as_str().and_then(parse);
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let status: MaintenanceStatus = row["status"].as_str()?.parse().ok()?;
        let start = time("actual_start").or_else(|| time("scheduled_start"))?;
        let end = time("actual_end").or_else(|| time("scheduled_end"));
        let zone = row["recurrence"]["time_zone"].as_str().and_then(|zone| zone.parse().ok());
        let is_running = status == MaintenanceStatus::InProgress;
        let last = end.unwrap_or(start).max(start.plus_ms(1));
        Some(Self {
            title: text("title"),
            link: format!("/console/maintenances/{}", text("id")),
            kind: row["type"].as_str()?.parse().ok()?,
            state: WindowState::Maintenance(status),
            zone: zone.unwrap_or(IanaZone::UTC),
            start,
            end,
            last: if is_running { last.max(now) } else { last },
        })
    }

    /// Returns true if a part of it is in this time.
    pub(super) fn is_in(&self, range: TimeRange) -> bool {
        self.start < range.to && range.from < self.last
    }

    /// Returns its times for a row of this day: `02:00–04:00 Europe/Berlin · 01:00–03:00 UTC`, or those of the viewer alone
    /// if both zones show the same.
    pub(super) fn times(&self, day: NaiveDate, viewer: IanaZone, texts: ConsoleTexts) -> String {
        let open = texts.text("open-end");
        let [own, seen] = [self.zone, viewer].map(|zone| self.times_in(zone, day, &open));
        if own == seen {
            return format!("{seen} {}", viewer.name());
        }
        format!("{own} {} · {seen} {}", self.zone.name(), viewer.name())
    }

    /// Its times in a zone. A date is written where it is another one than that before.
    fn times_in(&self, zone: IanaZone, day: NaiveDate, open: &str) -> String {
        let Some(start) = zone.wall(self.start) else { return String::new() };
        let end = self.end.and_then(|end| zone.wall(end));
        let end = end.map_or_else(|| open.to_owned(), |end| clock(end, start.date(), true));
        format!("{}–{end}", clock(start, day, false))
    }
}

/// Returns a time, with its date if that is another one than `day`. The end of the day can be written as 24:00.
fn clock(wall: NaiveDateTime, day: NaiveDate, is_end: bool) -> String {
    if is_end && wall.time() == NaiveTime::MIN && day.succ_opt() == Some(wall.date()) {
        return "24:00".to_owned();
    }
    let form = if wall.date() == day { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    wall.format(form).to_string()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Times of a window in a row of a day, across changes of the clocks and of the date.
    #[rstest]
    #[case::summer(
        "2026-10-18T00:00:00Z",
        "2026-10-18T02:00:00Z",
        "2026-10-18",
        "Europe/Berlin",
        "UTC",
        "02:00–04:00 Europe/Berlin · 00:00–02:00 UTC"
    )]
    #[case::clocks_go_back(
        "2026-10-25T00:00:00Z",
        "2026-10-25T03:00:00Z",
        "2026-10-25",
        "Europe/Berlin",
        "UTC",
        "02:00–04:00 Europe/Berlin · 00:00–03:00 UTC"
    )]
    #[case::winter(
        "2026-11-01T01:00:00Z",
        "2026-11-01T03:00:00Z",
        "2026-11-01",
        "Europe/Berlin",
        "UTC",
        "02:00–04:00 Europe/Berlin · 01:00–03:00 UTC"
    )]
    #[case::clocks_go_forward(
        "2027-03-28T01:00:00Z",
        "2027-03-28T02:00:00Z",
        "2027-03-28",
        "Europe/Berlin",
        "America/New_York",
        "03:00–04:00 Europe/Berlin · 2027-03-27 21:00–22:00 America/New_York"
    )]
    #[case::same_clocks(
        "2026-11-01T01:00:00Z",
        "2026-11-01T03:00:00Z",
        "2026-11-01",
        "Europe/Berlin",
        "Europe/Paris",
        "02:00–04:00 Europe/Paris"
    )]
    #[case::another_day(
        "2026-11-01T20:00:00Z",
        "2026-11-01T22:00:00Z",
        "2026-11-01",
        "Asia/Tokyo",
        "UTC",
        "2026-11-02 05:00–07:00 Asia/Tokyo · 20:00–22:00 UTC"
    )]
    #[case::second_day(
        "2026-11-01T22:00:00Z",
        "2026-11-02T02:00:00Z",
        "2026-11-02",
        "UTC",
        "UTC",
        "2026-11-01 22:00–2026-11-02 02:00 UTC"
    )]
    #[case::whole_day(
        "2026-11-01T00:00:00Z",
        "2026-11-02T00:00:00Z",
        "2026-11-01",
        "UTC",
        "UTC",
        "00:00–24:00 UTC"
    )]
    #[case::open_end("2026-11-01T22:00:00Z", "", "2026-11-01", "UTC", "UTC", "22:00–open end UTC")]
    fn both_zones_are_shown_where_they_differ(
        #[case] start: &str,
        #[case] end: &str,
        #[case] day: &str,
        #[case] zone: &str,
        #[case] viewer: &str,
        #[case] expected: &str,
    ) {
        let row = json!({"id": "x", "title": "Upgrade", "type": "planned", "status": "scheduled",
            "scheduled_start": start, "scheduled_end": end, "recurrence": {"time_zone": zone}});
        let window = CalendarWindow::of(&row, Timestamp::from_ms(0)).unwrap();
        let times = window.times(day.parse().unwrap(), viewer.parse().unwrap(), ConsoleTexts::of("en"));
        assert_eq!(times, expected);
    }

    /// Work that goes on after its planned end is shown until now; other work until its end.
    #[rstest]
    #[case("scheduled", "2026-11-01T12:00:00.000Z")]
    #[case("in_progress", "2026-11-03T00:00:00.000Z")]
    fn running_work_is_shown_until_now(#[case] status: &str, #[case] last: &str) {
        let row = json!({"type": "emergency", "status": status, "recurrence": null,
            "scheduled_start": "2026-11-01T10:00:00Z", "scheduled_end": "2026-11-01T12:00:00Z"});
        let now = parse("2026-11-03T00:00:00Z").unwrap();
        assert_eq!(CalendarWindow::of(&row, now).unwrap().last.to_string(), last);
    }
}
