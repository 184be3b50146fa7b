//! Decodes a body into checks: all checks, the matching ones, or only the fields that figures need.
//!
//! Times and kinds, which are cheap, are decoded first; the other columns only if a check matches.

use super::body::{BlockBody, BlockColumn};
use super::details::{ColumnNeeds, DetailColumns, at, take};
use super::entry::CheckEntry;
use super::error::BlockError;
use super::skeleton::{EntryTimes, KindRun};
use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::CheckSample;
use crate::model::service::ProbeRole;
use crate::model::verdict::LocationVote;

/// Filter for the checks of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockFilter<'a> {
    /// Only checks with one of these statuses; empty = all.
    pub statuses: &'a [CheckStatus],
    /// Only checks that started at or after this time.
    pub from: Option<Timestamp>,
    /// Only checks that started before this time.
    pub to: Option<Timestamp>,
    /// Maximum number of checks; of more matching ones, the newest are taken.
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
    /// All checks, oldest first.
    pub fn entries(&self) -> Result<Vec<CheckEntry>, BlockError> {
        self.matching(&BlockFilter::default())
    }

    /// The checks that match the filter, oldest first.
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

    /// All checks, oldest first, reduced to the fields that figures need.
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
}
