//! Figures of a service over four periods: uptime, response times, and a chart of them with outages, maintenances and gaps.

use crate::clock::{DAY_MS, Timestamp};
use crate::console::screens::service::chart_marks::{ChartMark, TimelineReading, marks};
use crate::console::screens::service::explanation::ExplainedService;
use crate::console::visit::UserVisit;
use crate::history_figures::response_chart::ResponseChart;
use crate::history_figures::response_series::{self, ResponseSeries, SeriesRange};
use crate::http::kit::error::ApiError;
use crate::model::history::StatusChange;
use crate::model::service_window::ServiceWindow;
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{cover, covers, measured, total};
use crate::store::history::changes;
use crate::store::windows;

/// The periods that are shown, shortest first.
const PERIODS: [SeriesRange; 4] = [
    SeriesRange { length_ms: DAY_MS, bucket_ms: 900_000 },
    SeriesRange { length_ms: 7 * DAY_MS, bucket_ms: 3_600_000 },
    SeriesRange { length_ms: 30 * DAY_MS, bucket_ms: 6 * 3_600_000 },
    SeriesRange { length_ms: 90 * DAY_MS, bucket_ms: DAY_MS },
];

/// The figures of a period.
pub(super) struct PeriodFigures {
    /// Length of the period, such as `24 h`.
    pub(super) period: String,
    pub(super) uptime: String,
    pub(super) median: String,
    pub(super) p95: String,
    pub(super) p99: String,
    /// Start of the chart.
    pub(super) from: String,
    /// `None` without successful checks.
    pub(super) chart: Option<ResponseChart>,
    pub(super) marks: Vec<ChartMark>,
}

/// What is known about the past of a service.
struct ServicePast {
    changes: Vec<StatusChange>,
    windows: Vec<ServiceWindow>,
    /// The time until which results confirm the present status.
    measured_until: Timestamp,
    /// Start of the checks.
    configured_at: Timestamp,
    now: Timestamp,
}

/// Reads the figures of a service, of the periods for which the plan keeps its history.
///
/// # Errors
/// When a database fails.
pub(super) async fn read(
    visit: &UserVisit,
    watched: &ExplainedService,
) -> Result<Vec<PeriodFigures>, ApiError> {
    let (state, service) = (visit.visit.state(), &watched.service);
    let now = state.now();
    let kept_ms = i64::from(visit.signed_in.caller.limits.retention_days) * DAY_MS;
    let periods: Vec<SeriesRange> =
        PERIODS.into_iter().filter(|period| period.length_ms <= kept_ms.max(DAY_MS)).collect();
    let history = &state.databases.history;
    let series = response_series::read(history, service.key, &periods, now).await?;
    let Some(from) = series.iter().map(|series| series.from).min() else { return Ok(Vec::new()) };
    let measured_until = watched.snapshot.map_or(Some(now), |snapshot| snapshot.measured_until);
    let past = ServicePast {
        changes: changes::since(history.reader(), service.key, from).await?,
        windows: windows::since(state.databases.main.reader(), &[service.key], from).await?,
        measured_until: measured_until.unwrap_or(from),
        configured_at: service.configured_at.unwrap_or(service.created_at),
        now,
    };
    Ok(series.iter().map(|series| past.figures(series)).collect())
}

impl ServicePast {
    fn figures(&self, series: &ResponseSeries) -> PeriodFigures {
        let ms = |us: Option<u32>| us.map(|us| format!("{} ms", us.div_ceil(1_000))).unwrap_or_default();
        let uptime = self.uptime(series.range.length_ms);
        let shown = TimeRange { from: series.from.max(self.configured_at), to: self.now };
        let picture = TimeRange { from: series.from, to: series.from.plus_ms(series.range.length_ms) };
        PeriodFigures {
            period: period_name(series.range.length_ms),
            uptime: uptime.map(|uptime| format!("{uptime} %")).unwrap_or_default(),
            median: ms(series.p50_us),
            p95: ms(series.p95_us),
            p99: ms(series.p99_us),
            from: series.from.format("%Y-%m-%d %H:%M UTC"),
            chart: ResponseChart::with_peaks(series),
            marks: marks(&self.reading(), shown, picture),
        }
    }

    fn reading(&self) -> TimelineReading<'_> {
        let Self { changes, windows, measured_until, .. } = self;
        TimelineReading { changes, windows, measured_until: *measured_until }
    }

    /// Availability in per cent, computed as in the API; `None` if nothing was measured.
    fn uptime(&self, length_ms: i64) -> Option<f64> {
        let from = self.now.plus_ms(-length_ms).max(self.configured_at);
        let range = TimeRange { from, to: self.now };
        let spans = measured(&self.changes, self.measured_until, range);
        total(&cover(&spans, &covers(&self.windows, self.now))).percent()
    }
}

fn period_name(length_ms: i64) -> String {
    if length_ms == DAY_MS { "24 h".to_owned() } else { format!("{} d", length_ms / DAY_MS) }
}
