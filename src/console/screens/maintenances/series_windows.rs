//! Windows of series that have no maintenance yet. The maintenances of a series are created about a month ahead; what its
//! rule plans for later is computed here.

use crate::clock::{DAY_MS, Timestamp};
use crate::console::screen_error::ScreenError;
use crate::console::screens::maintenances::calendar_window::{CalendarWindow, WindowState};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::maintenance::series::{MaintenanceSeries, SeriesStatus};
use crate::model::recurrence::Occurrence;
use crate::model::time_range::TimeRange;
use crate::store::maintenances::series;
use crate::store::maintenances::series::occurrences::{self, SettledOccurrence};
use crate::store::{PageWindow, StoreConnection};

/// Most series of which windows are computed.
const SERIES_MAX: usize = 100;
/// Most pages of [`SERIES_MAX`] series that are read to find active ones.
const PAGES_MAX: u64 = 10;
/// How far ahead windows are computed, in milliseconds: two years.
const AHEAD_MS: i64 = 2 * 366 * DAY_MS;

/// The windows of a time that only the rules of series plan.
#[derive(Default)]
pub(super) struct SeriesWindows {
    pub(super) windows: Vec<CalendarWindow>,
    /// True if some are left out: of later series, or too far ahead.
    pub(super) is_partial: bool,
}

/// A window of a series.
struct RuleWindow {
    /// Place of the series in the list.
    place: usize,
    occurrence: Occurrence,
}

impl SeriesWindows {
    /// Reads the series, the oldest first. A user who is confined to an access scope sees none, as in the API.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn read(visit: &UserVisit, range: TimeRange) -> Result<Self, ScreenError> {
        let caller = &visit.signed_in.caller;
        if caller.visibility().is_confined() {
            return Ok(Self::default());
        }
        let now = visit.visit.state().now();
        let main = visit.visit.state().databases.main.reader();
        let horizon = now.plus_ms(AHEAD_MS);
        if range.from >= horizon {
            return Ok(Self { windows: Vec::new(), is_partial: true });
        }
        let (all, is_complete) = active_series(main, caller.organisation.key).await?;
        let known = TimeRange { to: range.to.min(horizon), ..range };
        let work = tokio::task::spawn_blocking(move || (rule_windows(&all, known, now), all));
        let (planned, all) = work.await.map_err(|error| ApiError::Internal(error.into()))?;
        let is_partial = !is_complete || range.to > horizon;
        let starts = || planned.iter().map(|window| window.occurrence.start);
        let Some((first, last)) = starts().min().zip(starts().max()) else {
            return Ok(Self { windows: Vec::new(), is_partial });
        };
        let keys: Vec<_> = all.iter().map(|series| series.key).collect();
        let settled = occurrences::settled(main, &keys, first, last).await.map_err(ApiError::from)?;
        let open = planned.iter().filter_map(|window| {
            let series = all.get(window.place)?;
            let one = SettledOccurrence { series: series.key, start: window.occurrence.start };
            (!settled.contains(&one)).then(|| shown(visit, series, window.occurrence))
        });
        Ok(Self { windows: open.collect(), is_partial })
    }
}

/// Returns active series, the oldest first, and whether these are all of them. Ended series are many after years.
async fn active_series(
    main: &dyn StoreConnection,
    organisation: i64,
) -> Result<(Vec<MaintenanceSeries>, bool), ScreenError> {
    let mut active = Vec::new();
    for page in 0..PAGES_MAX {
        let page = PageWindow { offset: page * SERIES_MAX as u64, limit: SERIES_MAX as u64 };
        let (mut series, total) = series::list(main, organisation, page).await.map_err(ApiError::from)?;
        series.retain(|series| series.status == SeriesStatus::Active);
        active.extend(series);
        let is_last = page.offset + page.limit >= total;
        if active.len() > SERIES_MAX || is_last {
            let is_complete = active.len() <= SERIES_MAX;
            active.truncate(SERIES_MAX);
            return Ok((active, is_complete));
        }
    }
    Ok((active, false))
}

fn rule_windows(all: &[MaintenanceSeries], range: TimeRange, now: Timestamp) -> Vec<RuleWindow> {
    let of_one = |(place, series): (usize, &MaintenanceSeries)| {
        let coming = series.recurrence.coming(range, now);
        coming.map(move |occurrence| RuleWindow { place, occurrence })
    };
    all.iter().enumerate().flat_map(of_one).collect()
}

fn shown(visit: &UserVisit, series: &MaintenanceSeries, window: Occurrence) -> CalendarWindow {
    let default = &visit.signed_in.caller.organisation.default_locale;
    CalendarWindow {
        title: series.title.text(visit.texts.locale(), default).to_owned(),
        link: format!("/console/maintenances/series/{}", series.id),
        kind: series.kind,
        state: WindowState::BySeries,
        zone: series.recurrence.zone,
        start: window.start,
        end: Some(window.end),
        last: window.end,
    }
}
