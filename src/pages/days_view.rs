//! The past days of a component as rows of tables.

use crate::clock::{DAY_MS, Timestamp};
use crate::pages::bars::{DAYS, DayShape};
use crate::pages::display_time::DisplayTime;
use crate::pages::page_texts::PageTexts;
use crate::pages::view::{DayRow, PeriodRow, StatusBadge};
use crate::stats::service_days::{DayTimes, ServiceDays, VisiblePeriod, VisibleTimeClass};

/// Returns the days on which the service existed, latest first.
pub(super) fn day_rows(words: &PageTexts, days: &ServiceDays) -> Vec<DayRow> {
    let first = days.first_day.max(days.last_day - DAYS + 1);
    (first..=days.last_day).rev().map(|day| day_row(words, &days.day(day))).collect()
}

fn day_row(words: &PageTexts, times: &DayTimes) -> DayRow {
    let shape = DayShape::of(times);
    let duration = |ms: i64| if ms > 0 { words.duration(ms) } else { String::new() };
    // A day that was simply up has no times of its own.
    let is_up = *times == DayTimes { day: times.day, ..DayTimes::default() };
    let measured_ms = times.up_ms + times.down_ms;
    let thousandths = (i128::from(times.up_ms) * 100_000).checked_div(i128::from(measured_ms));
    let uptime = thousandths.and_then(|share| i64::try_from(share).ok()).or(is_up.then_some(100_000));
    DayRow {
        date: Timestamp::from_ms(times.day * DAY_MS).date(),
        badge: StatusBadge { class: shape.class(), text: words.text(shape_name(shape)) },
        uptime: uptime.map_or_else(String::new, |uptime| format!("{} %", words.percent(uptime))),
        down: duration(times.down_ms),
        degraded: duration(times.degraded_ms),
        maintenance: duration(times.maintenance_ms),
        unmeasured: duration(times.unmeasured_ms),
    }
}

/// Returns the latest periods that were not up, latest first.
pub(super) fn period_rows(words: &PageTexts, days: &ServiceDays) -> Vec<PeriodRow> {
    days.periods.iter().map(|period| period_row(words, period)).collect()
}

fn period_row(words: &PageTexts, period: &VisiblePeriod) -> PeriodRow {
    let (class, name) = match period.class {
        VisibleTimeClass::Up => ("operational", "state-operational"),
        VisibleTimeClass::Degraded => ("degraded", "state-degraded"),
        VisibleTimeClass::Down => ("major_outage", "down"),
        VisibleTimeClass::Maintenance => ("under_maintenance", "state-under-maintenance"),
        VisibleTimeClass::Unmeasured => ("unknown", "unmeasured"),
    };
    let ms = period.to.map(|to| to.ms_since(period.from));
    PeriodRow {
        badge: StatusBadge { class, text: words.text(name) },
        from: DisplayTime::exact(period.from),
        to: period.to.map(DisplayTime::exact),
        duration: ms.map_or_else(String::new, |ms| words.duration(ms)),
    }
}

const fn shape_name(shape: DayShape) -> &'static str {
    match shape {
        DayShape::Before | DayShape::Unmeasured => "unmeasured",
        DayShape::Up => "state-operational",
        DayShape::Degraded => "state-degraded",
        DayShape::PartialOutage => "state-partial-outage",
        DayShape::MajorOutage => "state-major-outage",
        DayShape::Maintenance => "state-under-maintenance",
    }
}
