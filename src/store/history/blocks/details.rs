//! The columns with details of checks: phases, totals, response times, texts. A column is decoded only if a requested
//! check has a value in it.

use std::num::NonZeroU32;

use super::body::{BlockBody, BlockColumn};
use super::error::BlockError;
use super::kind::{PHASES, SharedFields};
use super::prediction::{ColumnPrediction, SignedColumn};
use super::skeleton::BlockSkeleton;
use super::texts;
use crate::model::check::{CheckFailure, Measurement, PhaseTimings};

/// The columns in which the requested checks have values. A check whose connection was refused has no phases after it, and
/// a healthy check has no text, so most columns need not be decoded for either.
#[derive(Clone, Copy, Default)]
pub(super) struct ColumnNeeds {
    phases: [bool; PHASES],
    total: bool,
    response: bool,
    text: bool,
}

impl ColumnNeeds {
    /// Returns the columns that the checks at these indexes need.
    pub(super) fn of(skeleton: &BlockSkeleton, indexes: &[usize], prediction: ColumnPrediction) -> Self {
        let mut is_wanted = vec![false; skeleton.kinds.len()];
        for index in indexes {
            is_wanted[skeleton.of_check[*index] as usize] = true;
        }
        let mut needs = Self::default();
        for (kind, _) in skeleton.kinds.iter().zip(is_wanted).filter(|(_, is_wanted)| *is_wanted) {
            for (needed, measured) in needs.phases.iter_mut().zip(kind.phases) {
                *needed |= measured;
            }
            // The implied phase is computed from the total and the other phases, and most response times equal the total.
            let is_implied = prediction.implied.is_some_and(|phase| kind.phases[phase]);
            needs.total |= kind.has_total || is_implied || kind.has_response;
            needs.response |= kind.has_response;
            needs.text |= kind.error.is_some();
        }
        needs
    }
}

/// The decoded columns with details of checks; `None` if no requested check needs the column.
pub(super) struct DetailColumns {
    phases: [Option<Vec<u32>>; PHASES],
    totals: Option<Vec<u32>>,
    responses: Option<Vec<u32>>,
    text_of_failure: Option<Vec<u32>>,
    texts: Vec<Box<str>>,
}

impl DetailColumns {
    pub(super) fn read(
        body: &BlockBody<'_>,
        skeleton: &BlockSkeleton,
        needs: ColumnNeeds,
    ) -> Result<Self, BlockError> {
        let mut phases: [Option<Vec<u32>>; PHASES] = Default::default();
        for (phase, durations) in phases.iter_mut().enumerate().filter(|(phase, _)| needs.phases[*phase]) {
            *durations = Some(skeleton.read(body.phase(phase), |kind| kind.phases[phase])?);
        }
        let read = |is_needed: bool, column: BlockColumn, has: fn(&SharedFields) -> bool| {
            is_needed.then(|| skeleton.read(body.column(column), has)).transpose()
        };
        Ok(Self {
            phases,
            totals: read(needs.total, BlockColumn::Total, |kind| kind.has_total)?,
            responses: read(needs.response, BlockColumn::Response, |kind| kind.has_response)?,
            text_of_failure: read(needs.text, BlockColumn::TextOfFailure, |kind| kind.error.is_some())?,
            texts: if needs.text { texts::read(body.column(BlockColumn::Texts))? } else { Vec::new() },
        })
    }

    pub(super) fn cursor<'a>(&'a self, body: &'a BlockBody<'a>) -> DetailCursor<'a> {
        let columns = RunColumns {
            body,
            implied: None,
            phases: self.phases.each_ref().map(Option::as_deref),
            totals: self.totals.as_deref(),
            responses: self.responses.as_deref(),
            text_of_failure: self.text_of_failure.as_deref(),
        };
        DetailCursor(columns)
    }

    pub(super) fn measurement(
        &self,
        kind: &SharedFields,
        detail: &CheckDetail,
    ) -> Result<Measurement, BlockError> {
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
                Some(Box::new(CheckFailure { code, message }))
            }
        };
        Ok(Measurement {
            status: kind.status,
            response_time,
            timings: PhaseTimings { dns, connect, tls, ttfb, transfer, total },
            status_code: kind.status_code,
            failure,
        })
    }
}

/// The values of one check in the columns of [`DetailColumns`]; 0 for a value that the check does not have.
pub(super) struct CheckDetail {
    phases: [u32; PHASES],
    total: u32,
    response: u32,
    text: u32,
}

/// The part of [`DetailColumns`] for a run of successive checks of one kind. A column is empty if the kind has no values
/// in it, and `None` if it was not decoded.
pub(super) struct RunColumns<'a> {
    body: &'a BlockBody<'a>,
    /// The phase that must be computed from the total; `None` if the kind does not have it.
    implied: Option<usize>,
    phases: [Option<&'a [u32]>; PHASES],
    totals: Option<&'a [u32]>,
    responses: Option<&'a [u32]>,
    text_of_failure: Option<&'a [u32]>,
}

impl RunColumns<'_> {
    pub(super) fn detail(&self, index: usize) -> CheckDetail {
        let mut phases = self.phases.map(|durations| at(durations, index));
        let total = at(self.totals, index);
        if let Some(implied) = self.implied {
            let overhead = std::mem::take(&mut phases[implied]);
            let others = phases.iter().fold(0_u32, |sum, us| sum.wrapping_add(*us));
            let accounted = self.body.sum(SignedColumn::Overhead, overhead, others);
            phases[implied] = total.wrapping_sub(accounted);
        }
        let response = match self.responses.and_then(|responses| responses.get(index)) {
            Some(stored) => self.body.response(*stored, total),
            None => 0,
        };
        CheckDetail { phases, total, response, text: at(self.text_of_failure, index) }
    }
}

/// Cursor over the details of all checks; holds the rest of each column and advances run by run.
pub(super) struct DetailCursor<'a>(RunColumns<'a>);

impl<'a> DetailCursor<'a> {
    /// Takes the values of the next `length` checks, all of which are of this kind.
    pub(super) fn next(&mut self, kind: &SharedFields, length: usize) -> Result<RunColumns<'a>, BlockError> {
        let left = &mut self.0;
        let mut phases = [None; PHASES];
        for ((phase, durations), measured) in phases.iter_mut().zip(&mut left.phases).zip(kind.phases) {
            *phase = take_read(durations, measured, length)?;
        }
        Ok(RunColumns {
            body: left.body,
            implied: left.body.head.prediction.implied.filter(|phase| kind.phases[*phase]),
            phases,
            totals: take_read(&mut left.totals, kind.has_total, length)?,
            responses: take_read(&mut left.responses, kind.has_response, length)?,
            text_of_failure: take_read(&mut left.text_of_failure, kind.error.is_some(), length)?,
        })
    }
}

/// Like `take`, for a column that may not have been decoded.
fn take_read<'a>(
    values: &mut Option<&'a [u32]>,
    present: bool,
    length: usize,
) -> Result<Option<&'a [u32]>, BlockError> {
    values.as_mut().map(|values| take(values, present, length)).transpose()
}

/// Takes the next `length` values from the front; takes none if `present` is false.
pub(super) fn take<'a>(
    values: &mut &'a [u32],
    present: bool,
    length: usize,
) -> Result<&'a [u32], BlockError> {
    let length = if present { length } else { 0 };
    values.split_off(..length).ok_or(BlockError::Malformed("a column is too short"))
}

/// The value at the index; 0 if it does not exist.
pub(super) fn at<'a>(values: impl Into<Option<&'a [u32]>>, index: usize) -> u32 {
    values.into().and_then(|values| values.get(index)).copied().unwrap_or_default()
}
