//! The past of a service as classified spans (contract 4.7): status changes, overridden by time windows such as
//! maintenances.

use std::collections::BTreeMap;

use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::model::service::Service;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{ClassifiedSpan, UptimeClass, cover, covers, measured, per_day};
use crate::store::history::changes;
use crate::store::windows;

/// The past of a service in a range.
pub(super) struct ServiceTimeline {
    /// Adjacent spans with their classification.
    pub(super) spans: Vec<ClassifiedSpan>,
    /// Milliseconds for which the service was unreachable, by day number.
    pub(super) unreachable_ms: BTreeMap<i64, i64>,
}

/// Reads the past of a service, and the times that are left out because it was unreachable.
pub(super) async fn load_timeline(
    state: &AppState,
    service: &Service,
    range: TimeRange,
) -> Result<ServiceTimeline, ApiError> {
    let decided = windows::since(state.databases.main.reader(), &[service.key], range.from).await?;
    let unreachable = unreachable(&decided, range).into_iter();
    // Sums up unreachable time by day, in the same way as downtime.
    let days = per_day(&unreachable.collect::<Vec<_>>()).into_iter().map(|(day, sums)| (day, sums.down_ms));
    Ok(ServiceTimeline {
        spans: spans_of(state, service, range, &decided).await?,
        unreachable_ms: days.collect(),
    })
}

/// Returns the spans of a range in which a service was unreachable, without overlaps.
fn unreachable(decided: &[ServiceWindow], range: TimeRange) -> Vec<ClassifiedSpan> {
    let mut from = range.from;
    let mut spans = Vec::new();
    for window in decided.iter().filter(|window| window.kind == WindowKind::Unreachable) {
        let span = ClassifiedSpan {
            from: window.from.max(from),
            to: window.to.unwrap_or(range.to).min(range.to),
            counts: UptimeClass::Down,
        };
        if span.from < span.to {
            from = span.to;
            spans.push(span);
        }
    }
    spans
}

/// Returns adjacent spans of a range. The last status holds for as long as results confirm it, which the engine knows.
pub(super) async fn spans(
    state: &AppState,
    service: &Service,
    range: TimeRange,
) -> Result<Vec<ClassifiedSpan>, ApiError> {
    let decided = windows::since(state.databases.main.reader(), &[service.key], range.from).await?;
    spans_of(state, service, range, &decided).await
}

async fn spans_of(
    state: &AppState,
    service: &Service,
    range: TimeRange,
    decided: &[ServiceWindow],
) -> Result<Vec<ClassifiedSpan>, ApiError> {
    let TimeRange { from, to } = range;
    let changes = changes::since(state.databases.history.reader(), service.key, from).await?;
    let snapshots = state.snapshots(std::slice::from_ref(service)).await?;
    let backed_until = snapshots.first().and_then(|snapshot| snapshot.measured_until).unwrap_or(from);
    let spans = measured(&changes, backed_until, range);
    let spans = cover(&spans, &covers(decided, to));
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::Timestamp;

    /// Unreachable periods in a range from 100 to 200: cut at its ends, and overlaps counted once.
    #[rstest]
    #[case(&[], 0)]
    #[case(&[(110, Some(120))], 10)]
    #[case(&[(50, Some(120)), (190, None)], 30)]
    #[case(&[(50, Some(90)), (210, None)], 0)]
    #[case(&[(110, Some(150)), (120, Some(130)), (140, Some(160))], 50)]
    #[case(&[(110, Some(110))], 0)]
    fn unreachable_periods_are_added_up(#[case] windows: &[(i64, Option<i64>)], #[case] ms: i64) {
        let at = Timestamp::from_ms;
        let window = |(from, to): &(i64, Option<i64>)| ServiceWindow {
            service: 1,
            kind: WindowKind::Unreachable,
            from: at(*from),
            to: to.map(at),
        };
        let pause = ServiceWindow { service: 1, kind: WindowKind::Pause, from: at(100), to: None };
        let decided: Vec<ServiceWindow> = windows.iter().map(window).chain([pause]).collect();
        let spans = unreachable(&decided, TimeRange { from: at(100), to: at(200) });
        assert_eq!(spans.iter().map(|span| span.to.ms_since(span.from)).sum::<i64>(), ms);
    }
}
