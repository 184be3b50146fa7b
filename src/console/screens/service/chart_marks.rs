//! Marks behind a chart of response times: outages, maintenances, and time without data.

use crate::clock::Timestamp;
use crate::history_figures::response_chart::WIDTH;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{ClassifiedSpan, cover, measured};

/// Smallest width of a mark in tenths of the chart's units.
const NARROWEST: i64 = 10;

/// What a part of the time was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkKind {
    /// Up: without a mark.
    Plain,
    Degraded,
    Outage,
    Maintenance,
    Gap,
}

impl From<MeasuredStatus> for MarkKind {
    fn from(status: MeasuredStatus) -> Self {
        match status {
            MeasuredStatus::Up => Self::Plain,
            MeasuredStatus::Degraded => Self::Degraded,
            MeasuredStatus::Down => Self::Outage,
            MeasuredStatus::Unknown | MeasuredStatus::NoData => Self::Gap,
        }
    }
}

impl MarkKind {
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Degraded => "degraded",
            Self::Outage => "major_outage",
            Self::Maintenance => "under_maintenance",
            Self::Gap => "unknown",
        }
    }
}

/// A mark as high as the chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChartMark {
    /// Class of its colour.
    pub(super) class: &'static str,
    /// Left edge in the chart's units.
    pub(super) x: String,
    /// Width in the chart's units.
    pub(super) width: String,
}

/// The recorded timeline of a service.
#[derive(Clone, Copy)]
pub(super) struct TimelineReading<'a> {
    /// Status changes in order, starting with the last one before the range.
    pub(super) changes: &'a [StatusChange],
    pub(super) windows: &'a [ServiceWindow],
    /// The time until which results confirm the last status.
    pub(super) measured_until: Timestamp,
}

/// A mark in tenths of the chart's units.
struct MarkSpan {
    kind: MarkKind,
    from: i64,
    to: i64,
}

/// Returns the marks of the time in `range`; the chart reaches over `picture`. Marks of one kind that would overlap are one.
pub(super) fn marks(timeline: &TimelineReading<'_>, range: TimeRange, picture: TimeRange) -> Vec<ChartMark> {
    if range.from >= range.to {
        return Vec::new();
    }
    let spans = measured(timeline.changes, timeline.measured_until, range);
    let works = timeline.windows.iter().filter(|window| window.kind == WindowKind::Maintenance);
    let works: Vec<ClassifiedSpan<MarkKind>> = works
        .map(|window| ClassifiedSpan {
            from: window.from.max(range.from),
            to: window.to.unwrap_or(range.to).min(range.to),
            counts: MarkKind::Maintenance,
        })
        .filter(|span| span.from < span.to)
        .collect();
    let length_ms = picture.to.ms_since(picture.from).max(1);
    let place = |at: Timestamp| at.ms_since(picture.from).clamp(0, length_ms) * WIDTH * 10 / length_ms;
    let mut found: Vec<MarkSpan> = Vec::new();
    for span in cover(&spans, &works).into_iter().filter(|span| span.counts != MarkKind::Plain) {
        let (kind, from) = (span.counts, place(span.from));
        let to = place(span.to).max(from + NARROWEST);
        match found.iter_mut().rev().find(|mark| mark.kind == kind) {
            Some(mark) if from <= mark.to => mark.to = mark.to.max(to),
            _ => found.push(MarkSpan { kind, from, to }),
        }
    }
    let tenths = |value: i64| format!("{}.{}", value / 10, value % 10);
    let mark = |span: &MarkSpan| ChartMark {
        class: span.kind.class(),
        x: tenths(span.from),
        width: tenths(span.to - span.from),
    };
    found.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::history::ChangeCause;
    use crate::model::history::MeasuredStatus::{Degraded, Down, NoData, Up};

    /// A range of 600 ms, one unit of the chart each. Columns: status changes, maintenance, time until which the last status
    /// is measured; the marks.
    #[rstest]
    #[case::up(&[(0, Up)], None, 600, "")]
    #[case::outage(&[(0, Up), (100, Down), (200, Up)], None, 600, "major_outage 100.0+100.0")]
    #[case::worse(&[(0, Degraded), (100, Down)], None, 600, "degraded 0.0+100.0 major_outage 100.0+500.0")]
    #[case::gap(&[(0, Up), (50, NoData), (60, Up)], None, 600, "unknown 50.0+10.0")]
    #[case::away(&[(0, Up)], None, 500, "unknown 500.0+100.0")]
    #[case::nothing(&[], None, 0, "unknown 0.0+600.0")]
    #[case::work(&[(0, Up), (100, Down), (200, Up)], Some((150, 250)), 600,
        "major_outage 100.0+50.0 under_maintenance 150.0+100.0")]
    #[case::overlapping(&[(0, Down), (1, Up), (1, Down), (2, Up)], None, 600, "major_outage 0.0+2.0")]
    fn marks_show_what_was_not_up(
        #[case] changes: &[(i64, MeasuredStatus)],
        #[case] work: Option<(i64, i64)>,
        #[case] measured_until: i64,
        #[case] expected: &str,
    ) {
        let at = Timestamp::from_ms;
        let change = |(ms, to): &(i64, MeasuredStatus)| StatusChange {
            service: 1,
            at: at(*ms),
            from: Up,
            to: *to,
            cause: ChangeCause::Votes,
        };
        let changes: Vec<StatusChange> = changes.iter().map(change).collect();
        let window = |(from, to): (i64, i64)| ServiceWindow {
            service: 1,
            kind: WindowKind::Maintenance,
            from: at(from),
            to: Some(at(to)),
        };
        let windows: Vec<ServiceWindow> = work.into_iter().map(window).collect();
        let timeline =
            TimelineReading { changes: &changes, windows: &windows, measured_until: at(measured_until) };
        let range = TimeRange { from: at(0), to: at(600) };
        let found = marks(&timeline, range, range);
        let found: Vec<String> =
            found.iter().map(|mark| format!("{} {}+{}", mark.class, mark.x, mark.width)).collect();
        assert_eq!(found.join(" "), expected);
    }
}
