//! Classifies the time of a service for an SLA target from intervals: exact to the millisecond, without sampling.
//!
//! The measured status decides unless something of higher rank covers it. In rising rank these are: excluded time
//! (unreachable times, pauses, planned maintenance), overrides by a member, incidents that count as downtime, and hours
//! outside of the business hours of the target. Excluded time is listed with its reason.

pub mod calculation;

use crate::clock::Timestamp;
use crate::model::history::StatusChange;
use crate::model::service::OverrideStatus;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::sla::burn::MeasuredTime;
use crate::model::time_range::TimeRange;
use crate::model::word_enum::words;
use crate::stats::uptime::{ClassifiedSpan, UptimeClass, cover, measured};

words! {
    /// Why time of a service is excluded.
    pub enum ExclusionReason {
        /// A dependency of the service was down.
        Unreachable,
        /// The service was paused.
        Pause,
        /// Planned maintenance was in progress.
        Maintenance,
        /// A member set the status to maintenance.
        Override,
    }
}

/// What the time of a service counts as for an SLA target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlaTimeClass {
    /// Counts as uptime.
    Up,
    /// Counts as downtime.
    Down,
    /// Does not count: there is no data.
    Unmeasured,
    /// Does not count: excluded for this reason.
    LeftOut(ExclusionReason),
    /// Does not count: outside of business hours.
    Closed,
}

impl From<UptimeClass> for SlaTimeClass {
    fn from(counts: UptimeClass) -> Self {
        match counts {
            UptimeClass::Up => Self::Up,
            UptimeClass::Down => Self::Down,
            UptimeClass::Nothing => Self::Unmeasured,
        }
    }
}

/// Everything that decides how the time of a service is classified.
#[derive(Clone, Copy, Debug)]
pub struct SlaHistory<'a> {
    /// The status changes in order, starting with the last one before the range.
    pub changes: &'a [StatusChange],
    /// The time until which results support the last status.
    pub measured_until: Timestamp,
    /// The service windows, in the order in which they were decided.
    pub windows: &'a [ServiceWindow],
    /// The periods of incidents that count as downtime of the service.
    pub incidents: &'a [TimeRange],
}

/// Classifies a range as adjoining spans. `closed` are the periods outside of business hours.
#[must_use]
pub fn classify(
    past: &SlaHistory<'_>,
    closed: &[TimeRange],
    range: TimeRange,
) -> Vec<ClassifiedSpan<SlaTimeClass>> {
    let status: Vec<ClassifiedSpan> = measured(past.changes, past.measured_until, range);
    let status = status.iter().map(|span| as_span(span.from, span.to, span.counts.into()));
    let mut covers = Vec::with_capacity(past.windows.len() + past.incidents.len() + closed.len());
    let mut stated = Vec::new();
    for window in past.windows {
        let span = as_span(window.from, window.to.unwrap_or(range.to), of_window(window.kind));
        let is_stated = matches!(window.kind, WindowKind::Override(_));
        if is_stated { stated.push(span) } else { covers.push(span) }
    }
    covers.sort_by_key(|span| rank(span.counts));
    covers.append(&mut stated);
    covers.extend(past.incidents.iter().map(|open| as_span(open.from, open.to, SlaTimeClass::Down)));
    covers.extend(closed.iter().map(|closed| as_span(closed.from, closed.to, SlaTimeClass::Closed)));
    cover(&status.collect::<Vec<_>>(), &covers)
}

const fn as_span(from: Timestamp, to: Timestamp, counts: SlaTimeClass) -> ClassifiedSpan<SlaTimeClass> {
    ClassifiedSpan { from, to, counts }
}

fn of_window(kind: WindowKind) -> SlaTimeClass {
    match kind {
        WindowKind::Unreachable => SlaTimeClass::LeftOut(ExclusionReason::Unreachable),
        WindowKind::Pause => SlaTimeClass::LeftOut(ExclusionReason::Pause),
        WindowKind::Maintenance => SlaTimeClass::LeftOut(ExclusionReason::Maintenance),
        WindowKind::Override(OverrideStatus::Maintenance) => SlaTimeClass::LeftOut(ExclusionReason::Override),
        WindowKind::Override(status) => UptimeClass::from(status).into(),
    }
}

/// Rank of a reason: if several apply at a moment, the one with the highest rank is shown.
const fn rank(time: SlaTimeClass) -> u8 {
    match time {
        SlaTimeClass::LeftOut(ExclusionReason::Unreachable) => 0,
        SlaTimeClass::LeftOut(ExclusionReason::Pause) => 1,
        _ => 2,
    }
}

/// Sums of the time within business hours, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlaSums {
    /// Uptime in milliseconds.
    pub up_ms: i64,
    /// Downtime in milliseconds.
    pub down_ms: i64,
    /// Time without data, in milliseconds.
    pub unmeasured_ms: i64,
    /// Excluded time in milliseconds.
    pub left_out_ms: i64,
}

impl SlaSums {
    /// Adds the sums of another service.
    pub const fn merge(&mut self, other: Self) {
        self.up_ms += other.up_ms;
        self.down_ms += other.down_ms;
        self.unmeasured_ms += other.unmeasured_ms;
        self.left_out_ms += other.left_out_ms;
    }

    /// Uptime and downtime.
    #[must_use]
    pub const fn measured(self) -> MeasuredTime {
        MeasuredTime { up_ms: self.up_ms, down_ms: self.down_ms }
    }

    const fn add(&mut self, time: SlaTimeClass, ms: i64) {
        match time {
            SlaTimeClass::Up => self.up_ms += ms,
            SlaTimeClass::Down => self.down_ms += ms,
            SlaTimeClass::Unmeasured => self.unmeasured_ms += ms,
            SlaTimeClass::LeftOut(_) => self.left_out_ms += ms,
            SlaTimeClass::Closed => {}
        }
    }
}

/// Sums up the parts of these spans that lie within a range.
#[must_use]
pub fn sums(spans: &[ClassifiedSpan<SlaTimeClass>], range: TimeRange) -> SlaSums {
    let mut sums = SlaSums::default();
    let first = spans.partition_point(|span| span.to <= range.from);
    for span in spans[first..].iter().take_while(|span| span.from < range.to) {
        sums.add(span.counts, span.to.min(range.to).ms_since(span.from.max(range.from)));
    }
    sums
}

/// A period in which the time within business hours has one classification. Hours outside of business hours do not
/// interrupt it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaInterval {
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// What this time counts as.
    pub time: SlaTimeClass,
    /// The time within business hours, in milliseconds.
    pub ms: i64,
}

/// Joins these spans within a range into intervals of one classification, oldest first.
#[must_use]
pub fn runs(spans: &[ClassifiedSpan<SlaTimeClass>], range: TimeRange) -> Vec<SlaInterval> {
    let mut runs: Vec<SlaInterval> = Vec::new();
    for span in spans.iter().filter(|span| span.counts != SlaTimeClass::Closed) {
        let (from, to) = (span.from.max(range.from), span.to.min(range.to));
        if from >= to {
            continue;
        }
        let ms = to.ms_since(from);
        match runs.last_mut().filter(|run| run.time == span.counts) {
            Some(run) => (run.to, run.ms) = (to, run.ms + ms),
            None => runs.push(SlaInterval { from, to, time: span.counts, ms }),
        }
    }
    runs
}

#[cfg(test)]
mod tests;
