//! The days of a service as status pages show them: how long it was down, degraded, in maintenance and unmeasured on each
//! UTC day, and the exact periods. Exact to the millisecond; nothing is sampled.
//!
//! The measured status decides for a moment unless something of higher rank covers it: excluded time, or, above that, an
//! override, as for the uptime of the service ([`uptime`](crate::stats::uptime)).

use crate::clock::{DAY_MS, Timestamp};
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::service::OverrideStatus;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{Availability, ClassifiedSpan, UptimeClass, cover, measured};

/// Maximum number of periods that are listed.
const PERIODS_MAX: usize = 200;

/// What visitors see for the time of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VisibleTimeClass {
    /// It worked.
    Up,
    /// It worked, but badly.
    Degraded,
    /// It did not work.
    Down,
    /// A maintenance was in progress.
    Maintenance,
    /// It was not measured: no checks, a pause, or a time in which it was unreachable because of another service.
    Unmeasured,
}

impl From<MeasuredStatus> for VisibleTimeClass {
    fn from(status: MeasuredStatus) -> Self {
        match status {
            MeasuredStatus::Up => Self::Up,
            MeasuredStatus::Degraded => Self::Degraded,
            MeasuredStatus::Down => Self::Down,
            MeasuredStatus::Unknown | MeasuredStatus::NoData => Self::Unmeasured,
        }
    }
}

impl From<WindowKind> for VisibleTimeClass {
    fn from(kind: WindowKind) -> Self {
        match kind {
            WindowKind::Pause | WindowKind::Unreachable => Self::Unmeasured,
            WindowKind::Maintenance | WindowKind::Override(OverrideStatus::Maintenance) => Self::Maintenance,
            WindowKind::Override(OverrideStatus::Up) => Self::Up,
            WindowKind::Override(OverrideStatus::Degraded) => Self::Degraded,
            WindowKind::Override(OverrideStatus::Down) => Self::Down,
        }
    }
}

impl VisibleTimeClass {
    /// Returns the class for the uptime of the service.
    const fn uptime_class(self) -> UptimeClass {
        match self {
            Self::Up | Self::Degraded => UptimeClass::Up,
            Self::Down => UptimeClass::Down,
            Self::Maintenance | Self::Unmeasured => UptimeClass::Nothing,
        }
    }
}

/// The time of a UTC day that was not simply up, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayTimes {
    /// Number of the day, as in [`Timestamp::day`].
    pub day: i64,
    /// Time during which the service worked, but badly.
    pub degraded_ms: i64,
    /// Time during which the service was down.
    pub down_ms: i64,
    /// Time during which a maintenance was in progress.
    pub maintenance_ms: i64,
    /// Time of the day, as far as it has passed and the service existed, without data.
    pub unmeasured_ms: i64,
    /// Time of the day during which the service worked, well or badly.
    pub up_ms: i64,
}

impl DayTimes {
    const fn add(&mut self, class: VisibleTimeClass, ms: i64) {
        match class {
            VisibleTimeClass::Up => self.up_ms += ms,
            VisibleTimeClass::Degraded => {
                self.up_ms += ms;
                self.degraded_ms += ms;
            }
            VisibleTimeClass::Down => self.down_ms += ms,
            VisibleTimeClass::Maintenance => self.maintenance_ms += ms,
            VisibleTimeClass::Unmeasured => self.unmeasured_ms += ms,
        }
    }

    const fn is_only_up(&self) -> bool {
        self.degraded_ms + self.down_ms + self.maintenance_ms + self.unmeasured_ms == 0
    }

    /// Uptime of the day.
    #[must_use]
    pub const fn availability(&self) -> Availability {
        Availability { up_ms: self.up_ms, down_ms: self.down_ms }
    }
}

/// A period of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisiblePeriod {
    /// What the time counts as; never `Up`.
    pub class: VisibleTimeClass,
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive; `None` while it lasts.
    pub to: Option<Timestamp>,
}

/// The days of a service in a range that ends now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceDays {
    /// Start of the time that is known: the first check of the service, or the start of the range.
    pub from: Timestamp,
    /// Number of the day on which the service was first checked, or of the first day of the range.
    pub first_day: i64,
    /// Number of the present day.
    pub last_day: i64,
    /// The days that were not simply up, in order.
    pub troubled: Vec<DayTimes>,
    /// Uptime in thousandths of a per cent of the measured time, cut off; `None` if nothing was measured.
    pub uptime: Option<i64>,
    /// Time with data or in maintenance, in thousandths of a per cent of the whole time, cut off.
    pub coverage: i64,
    /// The latest periods that were not up, latest first.
    pub periods: Vec<VisiblePeriod>,
}

impl ServiceDays {
    /// Computes the days of a range that ends now. `changes` are in order and start with the last one before the range, if
    /// there is one; the last status lasts until `measured_until`. `None` without changes: the service was never checked.
    #[must_use]
    pub fn of(
        changes: &[StatusChange],
        measured_until: Timestamp,
        windows: &[ServiceWindow],
        range: TimeRange,
    ) -> Option<Self> {
        let from = changes.first()?.at.max(range.from);
        let now = range.to;
        let spans = measured(changes, measured_until, TimeRange { from, to: now });
        let spans = merged(&cover(&spans, &covers(windows, now)));
        let days = per_day(&spans);
        let (mut sum, mut unmeasured_ms) = (Availability::default(), 0);
        for span in &spans {
            let ms = span.to.ms_since(span.from);
            sum.add(span.counts.uptime_class(), ms);
            unmeasured_ms += if span.counts == VisibleTimeClass::Unmeasured { ms } else { 0 };
        }
        let whole_ms = now.ms_since(from).max(1);
        let troubled = spans.iter().rev().filter(|span| span.counts != VisibleTimeClass::Up);
        Some(Self {
            from,
            first_day: from.day(),
            last_day: now.day(),
            troubled: days.into_iter().filter(|day| !day.is_only_up()).collect(),
            uptime: thousandths(sum.up_ms, sum.up_ms + sum.down_ms),
            coverage: thousandths(whole_ms - unmeasured_ms, whole_ms).unwrap_or_default(),
            periods: troubled.take(PERIODS_MAX).map(|span| as_period(span, now)).collect(),
        })
    }

    /// Returns the measured time of the last days before `now`, including the present one.
    #[must_use]
    pub fn availability(&self, days: i64, now: Timestamp) -> Availability {
        let mut sum = Availability::default();
        for day in (self.last_day - days + 1).max(self.first_day)..=self.last_day {
            let times = self.day(day);
            sum.down_ms += times.down_ms;
            sum.up_ms += if times.is_only_up() {
                let (start, end) = (Timestamp::from_ms(day * DAY_MS), Timestamp::from_ms((day + 1) * DAY_MS));
                end.min(now).ms_since(start.max(self.from)).max(0)
            } else {
                times.up_ms
            };
        }
        sum
    }

    /// Returns the times of a day; all zero for a day that was simply up.
    #[must_use]
    pub fn day(&self, day: i64) -> DayTimes {
        let found = self.troubled.binary_search_by_key(&day, |times| times.day);
        found.map_or(DayTimes { day, ..DayTimes::default() }, |index| self.troubled[index])
    }
}

/// Returns a part in thousandths of a per cent of the whole, cut off; `None` if the whole is empty.
#[must_use]
pub fn thousandths(part_ms: i64, whole_ms: i64) -> Option<i64> {
    let share = (i128::from(part_ms) * 100_000).checked_div(i128::from(whole_ms))?;
    i64::try_from(share).ok()
}

fn as_period(span: &ClassifiedSpan<VisibleTimeClass>, now: Timestamp) -> VisiblePeriod {
    VisiblePeriod { class: span.counts, from: span.from, to: (span.to < now).then_some(span.to) }
}

/// Windows as covers, in rising rank: excluded time, then overrides. Open windows last until `until`.
fn covers(windows: &[ServiceWindow], until: Timestamp) -> Vec<ClassifiedSpan<VisibleTimeClass>> {
    let span = |window: &ServiceWindow| ClassifiedSpan {
        from: window.from,
        to: window.to.unwrap_or(until),
        counts: VisibleTimeClass::from(window.kind),
    };
    let rank = |window: &ServiceWindow| match window.kind {
        WindowKind::Unreachable => 0,
        WindowKind::Pause => 1,
        WindowKind::Maintenance => 2,
        WindowKind::Override(_) => 3,
    };
    let mut ranked: Vec<&ServiceWindow> = windows.iter().collect();
    ranked.sort_by_key(|window| rank(window));
    ranked.into_iter().map(span).collect()
}

/// Joins adjoining spans of one class.
fn merged(spans: &[ClassifiedSpan<VisibleTimeClass>]) -> Vec<ClassifiedSpan<VisibleTimeClass>> {
    let mut joined: Vec<ClassifiedSpan<VisibleTimeClass>> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.counts == span.counts => last.to = span.to,
            _ => joined.push(*span),
        }
    }
    joined
}

/// The sums of each UTC day, in order.
fn per_day(spans: &[ClassifiedSpan<VisibleTimeClass>]) -> Vec<DayTimes> {
    let mut days: Vec<DayTimes> = Vec::new();
    for span in spans {
        let mut from = span.from;
        while from < span.to {
            let midnight = Timestamp::from_ms((from.day() + 1) * DAY_MS);
            let to = midnight.min(span.to);
            if days.last().is_none_or(|last| last.day != from.day()) {
                days.push(DayTimes { day: from.day(), ..DayTimes::default() });
            }
            if let Some(day) = days.last_mut() {
                day.add(span.counts, to.ms_since(from));
            }
            from = to;
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::history::ChangeCause;
    use crate::model::history::MeasuredStatus::{Degraded, Down, NoData, Up};

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_ms(hours * 3_600_000)
    }

    fn change((hours, to): &(i64, MeasuredStatus)) -> StatusChange {
        StatusChange { service: 1, at: at(*hours), from: Up, to: *to, cause: ChangeCause::Votes }
    }

    fn window(kind: WindowKind, from: i64, to: Option<i64>) -> ServiceWindow {
        ServiceWindow { service: 1, kind, from: at(from), to: to.map(at) }
    }

    /// The days of a range of three days, of which the last ends after 12 hours; written as hours:
    /// `day: down degraded maintenance unmeasured`.
    fn text(changes: &[(i64, MeasuredStatus)], until: i64, windows: &[ServiceWindow]) -> String {
        let changes: Vec<StatusChange> = changes.iter().map(change).collect();
        let days = ServiceDays::of(&changes, at(until), windows, TimeRange { from: at(0), to: at(60) });
        let Some(days) = days else { return "never checked".into() };
        let hours = |ms: i64| ms / 3_600_000;
        let day = |times: &DayTimes| {
            let DayTimes { day, down_ms, degraded_ms, maintenance_ms, unmeasured_ms, .. } = *times;
            let shown = [down_ms, degraded_ms, maintenance_ms, unmeasured_ms].map(|ms| hours(ms).to_string());
            format!("{day}: {}", shown.join(" "))
        };
        let troubled: Vec<String> = days.troubled.iter().map(day).collect();
        format!(
            "{}-{} {} up {:?} of {}",
            days.first_day,
            days.last_day,
            troubled.join(", "),
            days.uptime,
            days.coverage
        )
    }

    /// The range has three days, of which the last ends after 12 hours.
    #[rstest]
    #[case::whole(3, &[(0, Up), (20, Down), (26, Up)], 54, 6)]
    #[case::today(1, &[(0, Up), (20, Down), (26, Up)], 12, 0)]
    #[case::two_days(2, &[(0, Up), (20, Down), (26, Up)], 34, 2)]
    #[case::longer_than_known(90, &[(30, Up)], 30, 0)]
    #[case::since_the_first_check(2, &[(30, Up), (50, Down), (51, Up)], 29, 1)]
    #[case::without_data(3, &[(0, NoData)], 0, 0)]
    fn the_last_days_have_an_availability(
        #[case] days: i64,
        #[case] changes: &[(i64, MeasuredStatus)],
        #[case] up: i64,
        #[case] down: i64,
    ) {
        let changes: Vec<StatusChange> = changes.iter().map(change).collect();
        let known = ServiceDays::of(&changes, at(60), &[], TimeRange { from: at(0), to: at(60) }).unwrap();
        let found = known.availability(days, at(60));
        assert_eq!((found.up_ms / 3_600_000, found.down_ms / 3_600_000), (up, down));
    }

    #[rstest]
    #[case::never(&[], 60, &[], "never checked")]
    #[case::up(&[(-5, Up)], 60, &[], "0-2  up Some(100000) of 100000")]
    #[case::begins_later(&[(30, Up)], 60, &[], "1-2  up Some(100000) of 100000")]
    #[case::over_midnight(&[(0, Up), (20, Down), (26, Up)], 60, &[], "0-2 0: 4 0 0 0, 1: 2 0 0 0 up Some(90000) of 100000")]
    #[case::degraded_is_up(&[(0, Up), (1, Degraded), (2, Up)], 60, &[], "0-2 0: 0 1 0 0 up Some(100000) of 100000")]
    #[case::a_gap(&[(0, Up), (12, NoData), (18, Up)], 60, &[], "0-2 0: 0 0 0 6 up Some(100000) of 90000")]
    #[case::no_evidence_at_the_end(&[(0, Up)], 54, &[], "0-2 2: 0 0 0 6 up Some(100000) of 90000")]
    #[case::planned(&[(0, Down)], 60, &[window(WindowKind::Maintenance, 0, Some(60))], "0-2 0: 0 0 24 0, 1: 0 0 24 0, 2: 0 0 12 0 up None of 100000")]
    #[case::paused(&[(0, Up)], 60, &[window(WindowKind::Pause, 48, None)], "0-2 2: 0 0 0 12 up Some(100000) of 80000")]
    #[case::stated(&[(0, Up)], 60, &[window(WindowKind::Override(OverrideStatus::Down), 0, Some(6)), window(WindowKind::Pause, 0, Some(12))],
        "0-2 0: 6 0 0 6 up Some(88888) of 90000")]
    fn a_day_has_its_times(
        #[case] changes: &[(i64, MeasuredStatus)],
        #[case] until: i64,
        #[case] windows: &[ServiceWindow],
        #[case] expected: &str,
    ) {
        assert_eq!(text(changes, until, windows), expected);
    }

    #[test]
    fn periods_have_exact_edges_and_the_present_one_is_open() {
        let changes: Vec<StatusChange> =
            [(0, Up), (20, Down), (26, Up), (30, Degraded), (31, Down)].iter().map(change).collect();
        let days = ServiceDays::of(&changes, at(60), &[], TimeRange { from: at(0), to: at(60) }).unwrap();
        let shown: Vec<_> = days.periods.iter().map(|one| (one.class, one.from, one.to)).collect();
        let expected = [
            (VisibleTimeClass::Down, at(31), None),
            (VisibleTimeClass::Degraded, at(30), Some(at(31))),
            (VisibleTimeClass::Down, at(20), Some(at(26))),
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            (days.day(0).down_ms, days.day(7)),
            (4 * 3_600_000, DayTimes { day: 7, ..DayTimes::default() })
        );
    }
}
