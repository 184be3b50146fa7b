//! The edges of an outage, and the checks around each of them: which check decided, what led to it, and what came before and
//! after.
//!
//! An outage starts and ends at the start of a check, but its status changes only when enough votes agree. So the checks
//! between both are of interest, and from each location the last one before. All of it is computed from stored checks.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::{MeasuredStatus, StatusChange, StoredCheck};
use crate::model::status_rules::StatusRules;
use crate::model::verdict::{LocationVote, freshness_ms};

/// Maximum number of checks between an edge and the deciding check that are shown: the last ones.
pub const LEADING_MAX: usize = 20;

/// The status changes with which the current or the last outage starts and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutageEdges {
    /// The change with which the outage starts.
    pub start: StatusChange,
    /// The change from degraded to down, if the outage got worse.
    pub worse: Option<StatusChange>,
    /// The change with which the outage ends; `None` while it lasts.
    pub end: Option<StatusChange>,
}

impl OutageEdges {
    /// Returns the edges of the newest outage among these changes, oldest first; `None` if there is none. As everywhere,
    /// no-data periods and unknown time do not end an outage.
    #[must_use]
    pub fn newest(changes: &[StatusChange]) -> Option<Self> {
        Self::all(changes).pop()
    }

    /// Returns the edges of all outages among these changes, oldest first.
    #[must_use]
    pub fn all(changes: &[StatusChange]) -> Vec<Self> {
        let mut outages: Vec<Self> = Vec::new();
        for change in changes.iter().filter(|change| !change.cause.is_about_flapping()) {
            match (change.to, outages.last_mut()) {
                (MeasuredStatus::Degraded | MeasuredStatus::Down, Some(outage)) if outage.end.is_none() => {
                    if change.to == MeasuredStatus::Down && outage.start.to == MeasuredStatus::Degraded {
                        outage.worse.get_or_insert(*change);
                    }
                }
                (MeasuredStatus::Degraded | MeasuredStatus::Down, _) => {
                    outages.push(Self { start: *change, worse: None, end: None });
                }
                (MeasuredStatus::Up, Some(outage)) => {
                    outage.end.get_or_insert(*change);
                }
                (MeasuredStatus::Up | MeasuredStatus::Unknown | MeasuredStatus::NoData, _) => {}
            }
        }
        outages
    }

    /// Returns true if the outage overlaps the time from `from` to `to`; an outage that lasts has no end.
    #[must_use]
    pub fn is_within(&self, from: Timestamp, to: Timestamp) -> bool {
        self.start.at <= to && self.end.is_none_or(|end| end.at >= from)
    }

    /// The edges in their order.
    pub fn in_order(&self) -> impl Iterator<Item = StatusChange> {
        [Some(self.start), self.worse, self.end].into_iter().flatten()
    }
}

/// The part that a check has in a status change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgePart {
    /// The last check of its location before the change.
    Before,
    /// A check between the change and the deciding check.
    Leading,
    /// The check whose result completed the votes for the new status.
    Deciding,
    /// The first check of its location after the deciding check.
    After,
}

/// A check near an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeCheck {
    /// The check.
    pub check: StoredCheck,
    /// The part that it has.
    pub part: EdgePart,
}

impl EdgeCheck {
    /// The time at which the deciding attempt of the check ended; its start if its duration is not known.
    #[must_use]
    pub fn finished_at(&self) -> Timestamp {
        finished_at(&self.check)
    }

    /// Milliseconds from the due time of the check to the start of its deciding attempt.
    #[must_use]
    pub const fn lateness_ms(&self) -> i64 {
        self.check.checked_at.ms_since(self.check.scheduled_at)
    }
}

/// The checks around one edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeNeighbourhood {
    /// The status change.
    pub edge: StatusChange,
    /// The checks, in the order in which they ended.
    pub checks: Vec<EdgeCheck>,
    /// Number of leading checks that are left out.
    pub omitted: usize,
}

impl EdgeNeighbourhood {
    /// Selects the checks to show around an edge. `checks` are the stored checks from some time around it, in any order; the
    /// votes from before are known from those that started before the edge.
    ///
    /// Votes that were excluded at the time are not stored. If no check completes the votes, none is deciding, and the first
    /// check of each location after the edge is leading.
    #[must_use]
    pub fn select(edge: StatusChange, checks: &[StoredCheck], rules: &StatusRules, interval_ms: i64) -> Self {
        let mut by_end: Vec<&StoredCheck> = checks.iter().collect();
        by_end.sort_by_key(|check| (finished_at(check), check.checked_at));
        let (before, since): (Vec<&StoredCheck>, Vec<&StoredCheck>) =
            by_end.into_iter().partition(|check| check.checked_at < edge.at);
        let before = newest_by_location(&before);
        let mut votes = EdgeVotes::new(&before, interval_ms);
        let deciding = since.iter().position(|check| votes.complete(edge, check, rules));
        let (leading, after) = match deciding {
            Some(index) => since.split_at(index + 1),
            None => (&[][..], &since[..]),
        };
        let omitted = leading.len().saturating_sub(LEADING_MAX + 1);
        let mut found: Vec<EdgeCheck> = before
            .values()
            .map(|check| EdgeCheck { check: (*check).clone(), part: EdgePart::Before })
            .collect();
        found.extend(leading.iter().enumerate().skip(omitted).map(|(index, check)| {
            let part = if Some(index) == deciding { EdgePart::Deciding } else { EdgePart::Leading };
            EdgeCheck { check: (*check).clone(), part }
        }));
        let part = if deciding.is_some() { EdgePart::After } else { EdgePart::Leading };
        let mut known: Vec<&str> = Vec::new();
        for check in after {
            if !known.contains(&check.probe.as_str()) {
                known.push(&check.probe);
                found.push(EdgeCheck { check: (*check).clone(), part });
            }
        }
        found.sort_by_key(|shown| (shown.part, shown.finished_at(), shown.check.checked_at));
        Self { edge, checks: found, omitted }
    }
}

/// The votes around an edge, one check after the other.
struct EdgeVotes<'a> {
    votes: BTreeMap<&'a str, LocationVote>,
    interval_ms: i64,
    /// Number of good results in a row since the edge.
    good: usize,
}

impl<'a> EdgeVotes<'a> {
    fn new(before: &BTreeMap<&'a str, &'a StoredCheck>, interval_ms: i64) -> Self {
        let votes = before.iter().map(|(location, check)| (*location, vote_of(check))).collect();
        Self { votes, interval_ms, good: 0 }
    }

    /// Adds a check; returns true if the votes now give the status of the edge.
    fn complete(&mut self, edge: StatusChange, check: &'a StoredCheck, rules: &StatusRules) -> bool {
        self.votes.insert(&check.probe, vote_of(check));
        let is_good = check.measurement.status != CheckStatus::Down;
        self.good = if is_good { self.good + 1 } else { 0 };
        let oldest = finished_at(check).plus_ms(-freshness_ms(self.interval_ms));
        let fresh = self.votes.values().filter(|vote| vote.checked_at >= oldest);
        let verdict = rules.quorum.judge(fresh.map(|vote| vote.status));
        let is_recovery = edge.from == MeasuredStatus::Down;
        let is_counted = !is_recovery || self.good >= usize::from(rules.recovery_checks);
        MeasuredStatus::from(verdict) == edge.to && is_counted
    }
}

/// The newest of these checks, oldest first, of each location.
fn newest_by_location<'a>(checks: &[&'a StoredCheck]) -> BTreeMap<&'a str, &'a StoredCheck> {
    let mut newest: BTreeMap<&str, &StoredCheck> = BTreeMap::new();
    for check in checks {
        let known = newest.entry(&check.probe).or_insert(check);
        if known.checked_at < check.checked_at {
            *known = check;
        }
    }
    newest
}

fn finished_at(check: &StoredCheck) -> Timestamp {
    let total_us = check.measurement.timings.total.map_or(0, std::num::NonZeroU32::get);
    check.checked_at.plus_ms(i64::from(total_us.div_ceil(1_000)))
}

const fn vote_of(check: &StoredCheck) -> LocationVote {
    LocationVote { status: check.measurement.status, checked_at: check.checked_at }
}

#[cfg(test)]
mod tests;
