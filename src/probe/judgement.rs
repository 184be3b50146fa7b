//! From the answer of a target to a measurement: first the owner's conditions, then a failure of the other
//! address family.
//!
//! Conditions with status `down` take precedence, then undecided ones, which mean `degraded`: neither `up` nor
//! `down` would be true. Targets that did not answer are not judged here.

use crate::model::check::{
    CheckFailure, CheckOutcome, CheckStatus, ErrorCode, Measurement, Micros, PhaseTimings,
};
use crate::probe::condition::DecidingConditions;
use crate::probe::condition::report::CheckConditions;
use crate::probe::fact::FactSource;

/// The measurements of a target that answered.
#[derive(Debug)]
pub(crate) struct AnswerMeasurement {
    /// The value of `response_time_ms`.
    pub(crate) response_time: Micros,
    /// The time that each phase took.
    pub(crate) timings: PhaseTimings,
    /// Status code, HTTP only.
    pub(crate) status_code: Option<u16>,
    /// The failure of the other address family, with `smart_dualstack`.
    pub(crate) partial: Option<CheckFailure>,
}

impl AnswerMeasurement {
    pub(crate) fn judge(self, conditions: CheckConditions<'_>, facts: &impl FactSource) -> CheckOutcome {
        conditions.report(facts);
        let deciding = DecidingConditions::of(conditions.all, facts);
        let met = deciding.worst.map(|condition| {
            (condition.status(), CheckFailure::new(ErrorCode::ConditionFailed, condition.explain(facts)))
        });
        let is_down = matches!(met, Some((CheckStatus::Down, _)));
        let undecided = deciding.undecided.filter(|_| !is_down).map(|condition| {
            let message = format!(
                "The body is longer than the part that is read; this condition cannot be decided: {condition}"
            );
            (CheckStatus::Degraded, CheckFailure::new(ErrorCode::BodyTruncated, message))
        });
        let partial = self.partial.map(|failure| (CheckStatus::Degraded, failure));
        let (status, failure) = match undecided.or(met).or(partial) {
            Some((status, failure)) => (status, Some(Box::new(failure))),
            None => (CheckStatus::Up, None),
        };
        CheckOutcome::Measured(Measurement {
            status,
            response_time: Some(self.response_time),
            timings: self.timings,
            status_code: self.status_code,
            failure,
        })
    }
}

/// Converts microseconds to milliseconds, the unit of conditions.
pub(crate) fn milliseconds(time: Micros) -> f64 {
    f64::from(time.get()) / 1000.0
}
