//! From a body to checks: all of them, the matching ones, or only the columns that figures need.
//!
//! The cheap columns come first (times and kinds); the others are decoded only if a check matches.

use std::ops::Range;

use super::body::BlockColumn;
use super::details::{ColumnNeeds, DetailColumns, at, take};
use super::kind::{self, EntryKind};
use super::prediction::SignedColumn;
use super::{BlockBody, BlockError, CheckEntry, column};
use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::CheckSample;
use crate::model::service::ProbeRole;
use crate::model::verdict::LocationVote;

/// Filter of the checks of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockFilter<'a> {
    /// Only these results; empty = all.
    pub statuses: &'a [CheckStatus],
    /// Only checks at or after this instant.
    pub from: Option<Timestamp>,
    /// Only checks before this instant.
    pub to: Option<Timestamp>,
    /// Maximum number of matching checks; the newest are taken.
    pub newest: Option<usize>,
}

impl BlockFilter<'_> {
    fn status(&self, status: CheckStatus) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    fn time(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to)
    }
}

impl BlockBody<'_> {
    /// Every check, oldest first.
    pub fn entries(&self) -> Result<Vec<CheckEntry>, BlockError> {
        self.matching(&BlockFilter::default())
    }

    /// The matching checks, oldest first.
    pub fn matching(&self, wanted: &BlockFilter<'_>) -> Result<Vec<CheckEntry>, BlockError> {
        let skeleton = self.skeleton()?;
        let may_match = |run: &KindRun| wanted.status(skeleton.kinds[run.kind].status);
        let in_time = |at: &usize| wanted.time(skeleton.times[*at].checked);
        let indexes = skeleton.runs().filter(may_match).flat_map(KindRun::checks).filter(in_time);
        let indexes: Vec<usize> = indexes.collect();
        let surplus = wanted.newest.map_or(0, |newest| indexes.len().saturating_sub(newest));
        let Some(first) = indexes.get(surplus).copied() else { return Ok(Vec::new()) };
        let needs = ColumnNeeds::of(&skeleton, &indexes[surplus..], self.head.prediction);
        let details = DetailColumns::read(self, &skeleton, needs)?;
        let mut cursor = details.cursor(self);
        let is_wanted = |at: &usize| *at >= first && in_time(at);
        let mut found = Vec::with_capacity(indexes.len() - surplus);
        for run in skeleton.runs() {
            let kind = &skeleton.kinds[run.kind];
            let columns = cursor.next(kind, run.length)?;
            if !may_match(&run) {
                continue;
            }
            for at in run.checks().filter(is_wanted) {
                let EntryTimes { scheduled, checked } = skeleton.times[at];
                let measurement = details.measurement(kind, &columns.detail(at - run.start))?;
                found.push(CheckEntry {
                    checked_at: checked,
                    scheduled_at: scheduled,
                    attempt: kind.attempt,
                    role: kind.role,
                    measurement,
                });
            }
        }
        Ok(found)
    }

    /// Every check reduced to the fields for figures, oldest first.
    pub fn samples(&self, location: i32) -> Result<Vec<CheckSample>, BlockError> {
        let skeleton = self.skeleton()?;
        let totals = skeleton.read(self.column(BlockColumn::Total), |kind| kind.has_total)?;
        let responses = skeleton.read(self.column(BlockColumn::Response), |kind| kind.has_response)?;
        let (mut totals, mut responses) = (&*totals, &*responses);
        let mut samples = Vec::with_capacity(self.checks());
        for run in skeleton.runs() {
            let kind = &skeleton.kinds[run.kind];
            let total = take(&mut totals, kind.has_total, run.length)?;
            let response = take(&mut responses, kind.has_response, run.length)?;
            let is_down = kind.status == CheckStatus::Down;
            let counts = kind.has_response && kind.role == ProbeRole::Full;
            for (index, times) in skeleton.times[run.checks()].iter().enumerate() {
                let response_us = counts.then(|| self.response(at(response, index), at(total, index)));
                samples.push(CheckSample { checked_at: times.checked, location, is_down, response_us });
            }
        }
        Ok(samples)
    }

    /// Returns the time and status of every check, oldest first.
    pub fn votes(&self) -> Result<Vec<LocationVote>, BlockError> {
        let skeleton = self.skeleton()?;
        let vote = |(times, kind): (&EntryTimes, &u32)| LocationVote {
            status: skeleton.kinds[*kind as usize].status,
            checked_at: times.checked,
        };
        Ok(skeleton.times.iter().zip(&skeleton.of_check).map(vote).collect())
    }

    fn skeleton(&self) -> Result<BlockSkeleton, BlockError> {
        let kinds = kind::read(self.column(BlockColumn::Kinds), self.checks())?;
        let of_check: Vec<u32> = column::read(self.column(BlockColumn::KindOfCheck), self.checks())?;
        let mut counts = vec![0; kinds.len()];
        for number in &of_check {
            let count = counts.get_mut(*number as usize);
            *count.ok_or(BlockError::Malformed("a check of no kind"))? += 1;
        }
        Ok(BlockSkeleton { times: self.times()?, kinds, of_check, counts })
    }

    fn times(&self) -> Result<Vec<EntryTimes>, BlockError> {
        let gaps = self.checks().saturating_sub(1);
        let deviations: Vec<u64> = column::read(self.column(BlockColumn::Deviation), gaps)?;
        let lateness: Vec<u64> = column::read(self.column(BlockColumn::Lateness), self.checks())?;
        let mut scheduled = self.head.first_scheduled;
        let mut deviations = deviations.into_iter();
        let times = lateness.into_iter().map(|late| {
            let checked = scheduled.wrapping_add(self.head.prediction.restore(SignedColumn::Lateness, late));
            let times =
                EntryTimes { scheduled: Timestamp::from_ms(scheduled), checked: Timestamp::from_ms(checked) };
            if let Some(deviation) = deviations.next() {
                let deviation = self.head.prediction.restore(SignedColumn::Deviation, deviation);
                scheduled = scheduled.wrapping_add(self.head.interval).wrapping_add(deviation);
            }
            times
        });
        Ok(times.collect())
    }

    pub(super) fn response(&self, stored: u32, total: u32) -> u32 {
        if self.head.prediction.raw_response {
            stored
        } else {
            self.sum(SignedColumn::Response, stored, total)
        }
    }

    /// `base` plus a stored difference.
    pub(super) fn sum(&self, column: SignedColumn, stored: u32, base: u32) -> u32 {
        base.wrapping_add(low_bits(self.head.prediction.restore(column, u64::from(stored))))
    }
}

/// A difference of two 32-bit numbers, modulo 2^32.
fn low_bits(difference: i64) -> u32 {
    let [a, b, c, d, ..] = difference.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[derive(Clone, Copy)]
struct EntryTimes {
    scheduled: Timestamp,
    checked: Timestamp,
}

/// The times and kinds of all checks: everything but their details.
pub(super) struct BlockSkeleton {
    times: Vec<EntryTimes>,
    pub(super) kinds: Vec<EntryKind>,
    pub(super) of_check: Vec<u32>,
    /// Checks of each kind.
    counts: Vec<usize>,
}

/// Successive checks of one kind.
#[derive(Clone, Copy)]
struct KindRun {
    kind: usize,
    start: usize,
    length: usize,
}

impl KindRun {
    const fn checks(self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

impl BlockSkeleton {
    fn runs(&self) -> impl Iterator<Item = KindRun> {
        let mut start = 0;
        self.of_check.chunk_by(PartialEq::eq).map(move |run| {
            let kind = run.first().map_or(0, |kind| *kind as usize);
            let run = KindRun { kind, start, length: run.len() };
            start += run.length;
            run
        })
    }

    /// A column that only checks of some kinds have.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        has: impl Fn(&EntryKind) -> bool,
    ) -> Result<Vec<u32>, BlockError> {
        let having = self.kinds.iter().zip(&self.counts).filter(|(kind, _)| has(kind));
        column::read(bytes, having.map(|(_, count)| count).sum())
    }
}
