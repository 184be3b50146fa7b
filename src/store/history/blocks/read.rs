//! From a body to checks: all of them, those that match, or only what figures need.
//!
//! The cheap columns come first (times and kinds); the others are decoded only if a check is wanted.

use std::num::NonZeroU32;
use std::slice::Iter;

use super::body::Column;
use super::kind::{self, Kind, PHASES};
use super::plan::Signed;
use super::{BlockError, Body, Entry, Sample, column, texts};
use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Failure, Measurement, Timings};
use crate::model::service::ProbeRole;

/// Which checks of a block are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Only these results; empty = all.
    pub statuses: &'a [CheckStatus],
    /// Only checks at or after this instant.
    pub from: Option<Timestamp>,
    /// Only checks before this instant.
    pub to: Option<Timestamp>,
}

impl Wanted<'_> {
    fn status(&self, status: CheckStatus) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    fn time(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to)
    }
}

impl Body<'_> {
    /// Every check, oldest first.
    ///
    /// # Errors
    /// When the body is malformed.
    pub fn entries(&self) -> Result<Vec<Entry>, BlockError> {
        self.matching(&Wanted::default())
    }

    /// The checks that are wanted, oldest first.
    ///
    /// # Errors
    /// When the body is malformed.
    pub fn matching(&self, wanted: &Wanted<'_>) -> Result<Vec<Entry>, BlockError> {
        let outline = self.outline()?;
        let is_wanted = |at: usize| {
            let kind = outline.kind(at);
            wanted.status(kind.status) && wanted.time(outline.times[at].checked)
        };
        let Some(first) = (0..self.checks()).find(|at| is_wanted(*at)) else { return Ok(Vec::new()) };
        let details = Details::read(self, &outline)?;
        let mut cursor = details.cursor(self);
        let mut found =
            Vec::with_capacity(if wanted.statuses.is_empty() { self.checks() - first } else { 0 });
        for at in 0..self.checks() {
            let kind = outline.kind(at);
            let detail = cursor.next(kind)?;
            if at >= first && is_wanted(at) {
                let Times { scheduled, checked } = outline.times[at];
                found.push(Entry {
                    checked_at: checked,
                    scheduled_at: scheduled,
                    attempt: kind.attempt,
                    role: kind.role,
                    measurement: details.measurement(kind, detail)?,
                });
            }
        }
        Ok(found)
    }

    /// Every check as far as figures need it, oldest first.
    ///
    /// # Errors
    /// When the body is malformed.
    pub fn samples(&self) -> Result<Vec<Sample>, BlockError> {
        let outline = self.outline()?;
        let totals = outline.read(self.column(Column::Total), |kind| kind.has_total)?;
        let responses = outline.read(self.column(Column::Response), |kind| kind.has_response)?;
        let (mut totals, mut responses) = (totals.iter(), responses.iter());
        let samples = outline.times.iter().zip(&outline.of_check).map(|(times, number)| {
            let kind = outline.kinds[*number as usize];
            let total = if kind.has_total { next(&mut totals)? } else { 0 };
            let response = if kind.has_response { self.response(next(&mut responses)?, total) } else { 0 };
            Ok(Sample {
                checked_at: times.checked,
                is_down: kind.status == CheckStatus::Down,
                response_us: (kind.has_response && kind.role == ProbeRole::Full).then_some(response),
            })
        });
        samples.collect()
    }

    fn outline(&self) -> Result<Outline, BlockError> {
        let kinds = kind::read(self.column(Column::Kinds), self.checks())?;
        let of_check: Vec<u32> = column::read(self.column(Column::KindOfCheck), self.checks())?;
        let mut counts = vec![0; kinds.len()];
        for number in &of_check {
            let count = counts.get_mut(*number as usize);
            *count.ok_or(BlockError::Malformed("a check of no kind"))? += 1;
        }
        Ok(Outline { times: self.times()?, kinds, of_check, counts })
    }

    fn times(&self) -> Result<Vec<Times>, BlockError> {
        let gaps = self.checks().saturating_sub(1);
        let deviations: Vec<u64> = column::read(self.column(Column::Deviation), gaps)?;
        let lateness: Vec<u64> = column::read(self.column(Column::Lateness), self.checks())?;
        let mut scheduled = self.head.first_scheduled;
        let mut deviations = deviations.into_iter();
        let times = lateness.into_iter().map(|late| {
            let checked = scheduled.wrapping_add(self.head.plan.restore(Signed::Lateness, late));
            let times =
                Times { scheduled: Timestamp::from_ms(scheduled), checked: Timestamp::from_ms(checked) };
            if let Some(deviation) = deviations.next() {
                let deviation = self.head.plan.restore(Signed::Deviation, deviation);
                scheduled = scheduled.wrapping_add(self.head.interval).wrapping_add(deviation);
            }
            times
        });
        Ok(times.collect())
    }

    fn response(&self, stored: u32, total: u32) -> u32 {
        if self.head.plan.raw_response { stored } else { self.sum(Signed::Response, stored, total) }
    }

    /// `base` plus a stored difference.
    fn sum(&self, column: Signed, stored: u32, base: u32) -> u32 {
        base.wrapping_add(low_bits(self.head.plan.restore(column, u64::from(stored))))
    }
}

/// A difference of two 32-bit numbers, modulo 2^32.
fn low_bits(difference: i64) -> u32 {
    let [a, b, c, d, ..] = difference.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[derive(Clone, Copy)]
struct Times {
    scheduled: Timestamp,
    checked: Timestamp,
}

/// When and of which kind every check is.
struct Outline {
    times: Vec<Times>,
    kinds: Vec<Kind>,
    of_check: Vec<u32>,
    /// Checks of each kind.
    counts: Vec<usize>,
}

impl Outline {
    fn kind(&self, at: usize) -> &Kind {
        &self.kinds[self.of_check[at] as usize]
    }

    /// A column that only checks of some kinds have.
    fn read(&self, bytes: &[u8], has: impl Fn(&Kind) -> bool) -> Result<Vec<u32>, BlockError> {
        let having = self.kinds.iter().zip(&self.counts).filter(|(kind, _)| has(kind));
        column::read(bytes, having.map(|(_, count)| count).sum())
    }
}

/// The columns that only full entries need.
struct Details {
    phases: [Vec<u32>; PHASES],
    totals: Vec<u32>,
    responses: Vec<u32>,
    text_of_failure: Vec<u32>,
    texts: Vec<Box<str>>,
}

impl Details {
    fn read(body: &Body<'_>, outline: &Outline) -> Result<Self, BlockError> {
        let mut phases: [Vec<u32>; PHASES] = Default::default();
        for (phase, durations) in phases.iter_mut().enumerate() {
            *durations = outline.read(body.phase(phase), |kind| kind.phases[phase])?;
        }
        Ok(Self {
            phases,
            totals: outline.read(body.column(Column::Total), |kind| kind.has_total)?,
            responses: outline.read(body.column(Column::Response), |kind| kind.has_response)?,
            text_of_failure: outline.read(body.column(Column::TextOfFailure), |kind| kind.error.is_some())?,
            texts: texts::read(body.column(Column::Texts))?,
        })
    }

    fn cursor<'a>(&'a self, body: &'a Body<'a>) -> Cursor<'a> {
        Cursor {
            body,
            phases: self.phases.each_ref().map(|durations| durations.iter()),
            totals: self.totals.iter(),
            responses: self.responses.iter(),
            text_of_failure: self.text_of_failure.iter(),
        }
    }

    fn measurement(&self, kind: &Kind, detail: Detail) -> Result<Measurement, BlockError> {
        let [dns, connect, tls, ttfb, transfer] = detail.phases.map(NonZeroU32::new);
        let total = NonZeroU32::new(detail.total);
        let response_time = NonZeroU32::new(detail.response);
        let measured = [dns, connect, tls, ttfb, transfer].map(|us| us.is_some());
        let present = (measured, total.is_some(), response_time.is_some());
        if present != (kind.phases, kind.has_total, kind.has_response) {
            return Err(BlockError::Malformed("a measured time is zero"));
        }
        let failure = match kind.error {
            None => None,
            Some(code) => {
                let text = self.texts.get(detail.text as usize);
                let message = text.ok_or(BlockError::Malformed("a failure without its text"))?.clone();
                Some(Box::new(Failure { code, message }))
            }
        };
        Ok(Measurement {
            status: kind.status,
            response_time,
            timings: Timings { dns, connect, tls, ttfb, transfer, total },
            status_code: kind.status_code,
            failure,
        })
    }
}

/// What one check has in the columns of [`Details`]; 0 where it has nothing.
#[derive(Default)]
struct Detail {
    phases: [u32; PHASES],
    total: u32,
    response: u32,
    text: u32,
}

/// Goes through the details check by check.
struct Cursor<'a> {
    body: &'a Body<'a>,
    phases: [Iter<'a, u32>; PHASES],
    totals: Iter<'a, u32>,
    responses: Iter<'a, u32>,
    text_of_failure: Iter<'a, u32>,
}

impl Cursor<'_> {
    fn next(&mut self, kind: &Kind) -> Result<Detail, BlockError> {
        let mut detail = Detail::default();
        for ((us, durations), measured) in detail.phases.iter_mut().zip(&mut self.phases).zip(kind.phases) {
            if measured {
                *us = next(durations)?;
            }
        }
        if kind.has_total {
            detail.total = next(&mut self.totals)?;
        }
        if let Some(implied) = self.body.head.plan.implied
            && kind.phases[implied]
        {
            let overhead = std::mem::take(&mut detail.phases[implied]);
            let accounted = detail.phases.iter().fold(0_u32, |sum, us| sum.wrapping_add(*us));
            let accounted = self.body.sum(Signed::Overhead, overhead, accounted);
            detail.phases[implied] = detail.total.wrapping_sub(accounted);
        }
        if kind.has_response {
            detail.response = self.body.response(next(&mut self.responses)?, detail.total);
        }
        if kind.error.is_some() {
            detail.text = next(&mut self.text_of_failure)?;
        }
        Ok(detail)
    }
}

fn next(values: &mut Iter<'_, u32>) -> Result<u32, BlockError> {
    values.next().copied().ok_or(BlockError::Malformed("a column is too short"))
}
