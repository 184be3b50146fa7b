//! Classification of a service's time for an SLA target, from intervals: exact to the millisecond, without sampling.
//!
//! The measured status counts unless something of higher rank covers it: excluded time (unreachable times, pauses,
//! planned maintenance), overrides by a member, incidents that count as downtime, and, above all of them, the hours
//! outside of the promised ones. Excluded time is listed, with its reason.

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
    /// The reason for which time is left out.
    pub enum ExclusionReason {
        /// Something that it depends on was down.
        Unreachable,
        /// The service was paused.
        Pause,
        /// Planned maintenance was in progress.
        Maintenance,
        /// A member stated that it is under maintenance.
        Override,
    }
}

/// Effect of a moment on the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlaTimeClass {
    /// Counts as uptime.
    Up,
    /// Counts as downtime.
    Down,
    /// Does not count: there is no data.
    Unmeasured,
    /// For nothing: it is left out.
    LeftOut(ExclusionReason),
    /// For nothing: outside of business hours.
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

/// All facts about a service.
#[derive(Clone, Copy, Debug)]
pub struct SlaHistory<'a> {
    /// Its status changes in order, led by the last one before the range.
    pub changes: &'a [StatusChange],
    /// The moment until which results back the last status.
    pub measured_until: Timestamp,
    /// Decided windows, in the order of the decisions.
    pub windows: &'a [ServiceWindow],
    /// The time of incidents that count as downtime of it.
    pub incidents: &'a [TimeRange],
}

/// The time of a range as adjoining spans; `closed` are the hours that are not promised.
#[must_use]
pub fn classify(
    past: &SlaHistory<'_>,
    closed: &[TimeRange],
    range: TimeRange,
) -> Vec<ClassifiedSpan<SlaTimeClass>> {
    let status = measured(past.changes, past.measured_until, range);
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

/// Rank of a reason: of several at a moment the planned one is shown.
const fn rank(time: SlaTimeClass) -> u8 {
    match time {
        SlaTimeClass::LeftOut(ExclusionReason::Unreachable) => 0,
        SlaTimeClass::LeftOut(ExclusionReason::Pause) => 1,
        _ => 2,
    }
}

/// Sums of the promised time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlaSums {
    /// Uptime in milliseconds.
    pub up_ms: i64,
    /// Downtime in milliseconds.
    pub down_ms: i64,
    /// Time without data, in milliseconds.
    pub unmeasured_ms: i64,
    /// Time that is left out.
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

    /// Sum of uptime and downtime.
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

/// Sums of the parts of these spans that are in a range.
#[must_use]
pub fn sums(spans: &[ClassifiedSpan<SlaTimeClass>], range: TimeRange) -> SlaSums {
    let mut sums = SlaSums::default();
    let first = spans.partition_point(|span| span.to <= range.from);
    for span in spans[first..].iter().take_while(|span| span.from < range.to) {
        sums.add(span.counts, span.to.min(range.to).ms_since(span.from.max(range.from)));
    }
    sums
}

/// Promised time of one classification, without a break: hours that are not promised do not break it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaInterval {
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// Effect of this time on the sums.
    pub time: SlaTimeClass,
    /// The promised time in it, in milliseconds.
    pub ms: i64,
}

/// The runs of these spans within a range, oldest first.
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
