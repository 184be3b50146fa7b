//! Uptime bars: one SVG for each component, with a cell for each of the last 90 days, oldest first.
//!
//! Cells of one kind are one path: a line with dashes, whose width is the height of the cells. The style sheet has colours and
//! heights: an outage of the whole day is as high as the bar, a shorter one half as high, a degraded day two thirds.

use std::fmt::Write as _;

use crate::clock::DAY_MS;
use crate::stats::service_days::{DayTimes, ServiceDays};

/// Number of cells.
pub(super) const DAYS: i64 = 90;
/// Height of the bar in units of the picture.
const HEIGHT: i64 = 34;
/// Distance from one cell to the next; a cell is one unit narrower.
const STEP: i64 = 5;
/// Smallest height of a mark for time without data.
const GAP_HEIGHT_MIN: i64 = 4;
/// Uptime of a day, in thousandths of a per cent, below which its outage is shown as high as the bar (contract 4.7).
const MAJOR_BELOW: i64 = 95_000;

/// How a day looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayShape {
    /// Before the service was checked for the first time.
    Before,
    Up,
    Degraded,
    /// Down for at most a twentieth of the measured time.
    PartialOutage,
    MajorOutage,
    Maintenance,
    /// No data at all.
    Unmeasured,
}

impl DayShape {
    /// All shapes that have a path, in drawing order.
    const DRAWN: [Self; 6] =
        [Self::Before, Self::Up, Self::Degraded, Self::PartialOutage, Self::MajorOutage, Self::Maintenance];

    /// Returns the shape of a day from its times: the worst that has happened.
    pub(super) fn of(day: &DayTimes) -> Self {
        let measured_ms = day.up_ms + day.down_ms;
        if day.down_ms > 0 {
            let uptime = i128::from(day.up_ms) * 100_000 / i128::from(measured_ms.max(1));
            return if uptime < i128::from(MAJOR_BELOW) { Self::MajorOutage } else { Self::PartialOutage };
        }
        match day {
            _ if day.degraded_ms > 0 => Self::Degraded,
            _ if day.maintenance_ms > 0 => Self::Maintenance,
            _ if day.unmeasured_ms > 0 && measured_ms == 0 => Self::Unmeasured,
            _ => Self::Up,
        }
    }

    /// Returns the class in the style sheet.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Up => "operational",
            Self::Degraded => "degraded",
            Self::PartialOutage => "partial_outage",
            Self::MajorOutage => "major_outage",
            Self::Maintenance => "under_maintenance",
            Self::Unmeasured => "unknown",
        }
    }

    /// Returns the height of the middle of a cell, from the top.
    const fn middle(self) -> &'static str {
        match self {
            Self::Before => "32",
            Self::Degraded => "23",
            Self::PartialOutage => "25.5",
            _ => "17",
        }
    }
}

/// A path of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BarPath {
    /// Class in the style sheet.
    pub(super) class: &'static str,
    /// Geometry.
    pub(super) line: String,
}

/// The bar of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UptimeBar {
    /// Lines with dashes, one for each shape.
    pub(super) paths: Vec<BarPath>,
    /// Rectangles for time without data, which are hatched; empty if there are none.
    pub(super) gaps: String,
}

impl UptimeBar {
    /// Draws the days of a service.
    pub(super) fn of(days: &ServiceDays) -> Self {
        let first = days.last_day - DAYS + 1;
        let times = |place: i64| days.day(first + place);
        let shape = |place: i64| {
            if first + place < days.first_day { DayShape::Before } else { DayShape::of(&times(place)) }
        };
        let shapes: Vec<DayShape> = (0..DAYS).map(shape).collect();
        let paths = DayShape::DRAWN.into_iter().filter_map(|shape| {
            let line = runs(&shapes, shape);
            (!line.is_empty()).then(|| BarPath { class: shape.class(), line })
        });
        let mut gaps = String::new();
        for (place, shape) in (0..DAYS).zip(&shapes) {
            let ms = times(place).unmeasured_ms;
            if *shape != DayShape::Before && ms > 0 {
                let height = if *shape == DayShape::Unmeasured { HEIGHT } else { gap_height(ms) };
                let _ = write!(gaps, "M{} 0h4v{height}h-4z", place * STEP);
            }
        }
        Self { paths: paths.collect(), gaps }
    }
}

/// Returns the height of a mark for this much time of a day without data.
fn gap_height(ms: i64) -> i64 {
    (HEIGHT * ms / DAY_MS).clamp(GAP_HEIGHT_MIN, HEIGHT)
}

/// Returns a line for each run of cells with this shape.
fn runs(shapes: &[DayShape], wanted: DayShape) -> String {
    let mut text = String::new();
    let mut start = 0_i64;
    for run in shapes.chunk_by(|one, other| one == other) {
        let length = i64::try_from(run.len()).unwrap_or_default();
        if run.first() == Some(&wanted) {
            let _ = write!(text, "M{} {}h{}", start * STEP, wanted.middle(), length * STEP - 1);
        }
        start += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::Timestamp;

    fn times(up: i64, down: i64, degraded: i64, maintenance: i64, unmeasured: i64) -> DayTimes {
        let [up_ms, down_ms, degraded_ms, maintenance_ms, unmeasured_ms] =
            [up, down, degraded, maintenance, unmeasured].map(|minutes| minutes * 60_000);
        DayTimes { day: 0, degraded_ms, down_ms, maintenance_ms, unmeasured_ms, up_ms }
    }

    #[rstest]
    #[case(times(0, 0, 0, 0, 0), DayShape::Up)]
    #[case(times(1_440, 0, 0, 0, 0), DayShape::Up)]
    #[case(times(1_430, 0, 0, 0, 10), DayShape::Up)]
    #[case(times(0, 0, 0, 0, 1_440), DayShape::Unmeasured)]
    #[case(times(1_430, 0, 10, 0, 0), DayShape::Degraded)]
    #[case(times(1_430, 0, 0, 10, 0), DayShape::Maintenance)]
    #[case(times(0, 0, 0, 1_000, 440), DayShape::Maintenance)]
    #[case(times(1_420, 0, 10, 10, 0), DayShape::Degraded)]
    #[case(times(1_430, 10, 10, 10, 0), DayShape::PartialOutage)]
    #[case(times(950, 50, 0, 0, 0), DayShape::PartialOutage)]
    #[case(times(949, 51, 0, 0, 0), DayShape::MajorOutage)]
    #[case(times(0, 1, 0, 0, 0), DayShape::MajorOutage)]
    fn a_day_is_shown_by_the_worst_of_it(#[case] day: DayTimes, #[case] shape: DayShape) {
        assert_eq!(DayShape::of(&day), shape);
    }

    #[test]
    fn cells_of_a_kind_are_one_path() {
        let days = ServiceDays {
            from: Timestamp::from_ms(0),
            first_day: 912,
            last_day: 999,
            troubled: vec![
                DayTimes { day: 920, ..times(0, 0, 0, 0, 1_440) },
                DayTimes { day: 997, ..times(700, 740, 0, 0, 0) },
                DayTimes { day: 999, ..times(700, 0, 0, 0, 10) },
            ],
            uptime: None,
            coverage: 0,
            periods: Vec::new(),
        };
        let bar = UptimeBar::of(&days);
        let paths: Vec<_> = bar.paths.iter().map(|path| (path.class, path.line.as_str())).collect();
        let expected = [
            ("before", "M0 32h9"),
            ("operational", "M10 17h39M55 17h379M440 17h9"),
            ("major_outage", "M435 17h4"),
        ];
        assert_eq!(paths[..2], expected[..2]);
        assert_eq!(paths[2..], expected[2..]);
        assert_eq!(bar.gaps, "M50 0h4v34h-4zM445 0h4v4h-4z");
    }
}
