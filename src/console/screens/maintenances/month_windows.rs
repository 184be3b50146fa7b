//! The maintenances of a month, and what series plan in it, by day.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use crate::clock::{DAY_MS, Timestamp};
use crate::console::screen_error::ScreenError;
use crate::console::screens::calendar_month::ZonedMonth;
use crate::console::screens::maintenances::calendar_window::{CalendarWindow, WindowState};
use crate::console::screens::maintenances::series_windows::SeriesWindows;
use crate::console::visit::UserVisit;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;

/// Most windows of a month.
const WINDOWS_MAX: usize = 200;
/// Maintenances per request to the API.
const PER_PAGE: usize = 100;

/// The windows of a month.
pub(super) struct MonthWindows {
    pub(super) days: Vec<CalendarDay>,
    /// True if there are no windows.
    pub(super) is_empty: bool,
    /// True if there are more than are shown.
    pub(super) is_partial: bool,
    /// The same as plain text.
    pub(super) plain_text: String,
}

/// A day of the month.
pub(super) struct CalendarDay {
    pub(super) date: String,
    pub(super) weekday: String,
    pub(super) is_today: bool,
    pub(super) entries: Vec<CalendarEntry>,
}

/// A window on a day.
pub(super) struct CalendarEntry {
    pub(super) title: String,
    pub(super) link: String,
    pub(super) times: String,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) tone: &'static str,
    pub(super) is_cancelled: bool,
}

impl MonthWindows {
    /// Reads the windows of a month, whose days are those of this zone.
    ///
    /// # Errors
    /// As the API.
    pub(super) async fn read(
        visit: &UserVisit,
        month: ZonedMonth,
        zone: IanaZone,
    ) -> Result<Self, ScreenError> {
        let range = month.range(zone);
        let now = visit.visit.state().now();
        let (mut windows, total) = maintenances_of(visit, range, now).await?;
        let planned = SeriesWindows::read(visit, range).await?;
        let is_partial =
            total > WINDOWS_MAX || planned.is_partial || windows.len() + planned.windows.len() > WINDOWS_MAX;
        windows.extend(planned.windows);
        windows.retain(|window| window.is_in(range));
        windows.sort_by(|one, other| (one.start, &one.title).cmp(&(other.start, &other.title)));
        windows.truncate(WINDOWS_MAX);
        let days: Vec<CalendarDay> = month
            .days()
            .map(|day| CalendarDay {
                date: day.to_string(),
                weekday: visit.texts.text(&format!("word-{}", day.weekday())),
                is_today: day.range(zone).contains(now),
                entries: entries_of(visit, &windows, day.range(zone), zone),
            })
            .collect();
        Ok(Self { is_empty: windows.is_empty(), is_partial, plain_text: plain_text(&days), days })
    }
}

/// Returns the maintenances of which a part may be in this time, and the number of those in the API.
async fn maintenances_of(
    visit: &UserVisit,
    range: TimeRange,
    now: Timestamp,
) -> Result<(Vec<CalendarWindow>, usize), ScreenError> {
    // Work may have been started a little before its planned time.
    let to = range.to.plus_ms(DAY_MS);
    let read = async |page: usize| {
        visit
            .get(&format!("/v1/maintenances?from={}&to={to}&per_page={PER_PAGE}&page={page}", range.from))
            .await
    };
    let first = read(1).await?;
    let total = first["meta"]["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
    // The API lists the latest ones first.
    let mut windows = Vec::new();
    for page in shown_pages(total) {
        let body = if page == 1 { first.clone() } else { read(page).await? };
        let rows = body["data"].as_array().into_iter().flatten();
        windows.extend(rows.filter_map(|row| CalendarWindow::of(row, now)));
    }
    Ok((windows, total))
}

/// Returns the pages of a list of this length that are shown, which are its last ones.
fn shown_pages(total: usize) -> RangeInclusive<usize> {
    let last = total.div_ceil(PER_PAGE).max(1);
    // One page more, because the last one may be nearly empty.
    last.saturating_sub(WINDOWS_MAX / PER_PAGE).max(1)..=last
}

fn entries_of(
    visit: &UserVisit,
    windows: &[CalendarWindow],
    day: TimeRange,
    zone: IanaZone,
) -> Vec<CalendarEntry> {
    let date = zone.wall(day.from).map_or(NaiveDate::MIN, |wall| wall.date());
    let entry = |window: &CalendarWindow| CalendarEntry {
        title: window.title.clone(),
        link: window.link.clone(),
        times: window.times(date, zone, visit.texts),
        kind: visit.texts.text(&format!("kind-{}", window.kind.as_str())),
        state: visit.texts.text(&window.state.text()),
        tone: window.state.tone(),
        is_cancelled: window.state == WindowState::Maintenance(MaintenanceStatus::Cancelled),
    };
    windows.iter().filter(|window| window.is_in(day)).map(entry).collect()
}

fn plain_text(days: &[CalendarDay]) -> String {
    let line = |day: &CalendarDay, entry: &CalendarEntry| {
        format!("{}  {}  {} ({}, {})", day.date, entry.times, entry.title, entry.kind, entry.state)
    };
    let lines = days.iter().flat_map(|day| day.entries.iter().map(move |entry| line(day, entry)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Of too many maintenances, those that come first in the month are shown: they are at the end of the list of the API.
    #[rstest]
    #[case(0, 1..=1)]
    #[case(100, 1..=1)]
    #[case(101, 1..=2)]
    #[case(200, 1..=2)]
    #[case(201, 1..=3)]
    #[case(301, 2..=4)]
    #[case(999, 8..=10)]
    fn the_earliest_maintenances_are_shown(#[case] total: usize, #[case] pages: RangeInclusive<usize>) {
        assert_eq!(shown_pages(total), pages);
    }
}
