//! The status timeline of a service: its measured status over time, which checks or pings extend.
//!
//! [`CurrentStatus`] is the present end of the timeline. Changes are recorded in the order of their times, except when the
//! wall clock was set back: then the timeline is closed, and a new one starts at the present time. [`in_time_order`] merges
//! all timelines of a service into one: at each moment the newest timeline with a known status decides.

use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::verdict::Verdict;

/// A change of the measured status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredStatusChange {
    /// The time of the change.
    pub at: Timestamp,
    /// Measured status before the change.
    pub from: MeasuredStatus,
    /// Measured status after the change.
    pub to: MeasuredStatus,
    /// Reason for the change.
    pub cause: ChangeCause,
}

/// The present measured status of a service, and the time of its last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurrentStatus {
    status: MeasuredStatus,
    since: Option<Timestamp>,
}

impl CurrentStatus {
    /// The current status, with the time since which it lasts; `None` if that is unknown.
    #[must_use]
    pub const fn new(status: MeasuredStatus, since: Option<Timestamp>) -> Self {
        Self { status, since }
    }

    /// The present measured status.
    #[must_use]
    pub const fn status(&self) -> MeasuredStatus {
        self.status
    }

    /// The time since which the status lasts; `None` if it is unknown.
    #[must_use]
    pub const fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Changes the status at `at`; returns the change, or `None` if the status is the present one.
    pub fn change_to(
        &mut self,
        to: MeasuredStatus,
        cause: ChangeCause,
        at: Timestamp,
    ) -> Option<MeasuredStatusChange> {
        if to == self.status {
            return None;
        }
        // Strictly later than the change before. With equal times the order of changes would be open, and a change back and
        // forth within a millisecond would look like a repetition.
        let at = self.since.map_or(at, |since| at.max(since.plus_ms(1)));
        Some(self.put(to, cause, at))
    }

    /// Handles a wall clock that was set back from `before` to `now`. If the last change is now in the future, the timeline
    /// is closed at `before`, and the same status continues in a new timeline from `now` on.
    pub fn set_back(&mut self, before: Timestamp, now: Timestamp) -> Vec<MeasuredStatusChange> {
        let Some(since) = self.since.filter(|since| *since > now) else { return Vec::new() };
        let status = self.status;
        // A change leads from one status to another, so a different status is needed between the two.
        let (none, other) = (MeasuredStatus::NoData, MeasuredStatus::Unknown);
        let between = if status == none { other } else { none };
        let closed = self.put(between, ChangeCause::Clock, before.max(since.plus_ms(1)));
        vec![closed, self.put(status, ChangeCause::Clock, now)]
    }

    fn put(&mut self, to: MeasuredStatus, cause: ChangeCause, at: Timestamp) -> MeasuredStatusChange {
        let change = MeasuredStatusChange { at, from: self.status, to, cause };
        *self = Self { status: to, since: Some(at) };
        change
    }
}

/// Merges the changes of one service into one timeline, in the order of their times. `recorded` is in the order of
/// recording. Imported changes were recorded last, but are older than all others.
#[must_use]
pub fn in_time_order(recorded: Vec<StatusChange>) -> Vec<StatusChange> {
    let (mut imported, own): (Vec<_>, Vec<_>) =
        recorded.into_iter().partition(|change| change.cause == ChangeCause::Imported);
    imported.sort_by_key(|change| change.at);
    let mut lines = vec![imported];
    lines.extend(own.chunk_by(|before, after| !begins_anew(before, after)).map(|line| {
        let mut line = line.to_vec();
        // A no-data period before a start is recorded after the start.
        line.sort_by_key(|change| change.at);
        line
    }));
    let mut moments: Vec<Timestamp> = lines.iter().flatten().map(|change| change.at).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut found: Vec<StatusChange> = Vec::with_capacity(moments.len());
    for at in moments {
        let Some(says) = change_in_force(&lines, at) else { continue };
        let from = found.last().map_or(says.from, |before| before.to);
        if from != says.to {
            found.push(StatusChange { at, from, ..says });
        }
    }
    found
}

fn begins_anew(before: &StatusChange, after: &StatusChange) -> bool {
    after.cause == ChangeCause::Clock && after.at < before.at
}

/// The change that gives the status at a moment: from the newest timeline with a known status then, otherwise from the
/// newest one that had started.
fn change_in_force(lines: &[Vec<StatusChange>], at: Timestamp) -> Option<StatusChange> {
    let merged = |line: &Vec<StatusChange>| {
        let next = line.partition_point(|change| change.at <= at);
        line.get(next.checked_sub(1)?).copied()
    };
    let mut newest_first = lines.iter().rev().filter_map(merged);
    let newest = newest_first.next()?;
    let is_known = |change: &StatusChange| change.to.verdict() != Verdict::Unknown;
    if is_known(&newest) { Some(newest) } else { newest_first.find(is_known).or(Some(newest)) }
}

#[cfg(test)]
mod tests;
