//! From what a target answered to a measurement: the owner's conditions, then the dead address family.
//!
//! Conditions that say `down` win over everything, then those that cannot be decided: neither `up` nor `down` would be
//! true. Targets that did not answer never come here.

use crate::model::check::{CheckStatus, ErrorCode, Failure, Measurement, Micros, Outcome, Timings};
use crate::probe::condition::{Condition, DecidingConditions};
use crate::probe::fact::Facts;

/// The measurements that every answer comes with.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The time that `response_time_ms` shows.
    pub(crate) response_time: Micros,
    /// The time that each phase took.
    pub(crate) timings: Timings,
    /// HTTP only.
    pub(crate) status_code: Option<u16>,
    /// With `smart_dualstack`: the other family does not answer.
    pub(crate) partial: Option<Failure>,
}

impl Answered {
    /// Evaluates the conditions.
    pub(crate) fn judge(self, conditions: &[Condition], facts: &impl Facts) -> Outcome {
        let deciding = DecidingConditions::of(conditions, facts);
        let met = deciding.worst.map(|condition| {
            (condition.status(), Failure::new(ErrorCode::ConditionFailed, condition.explain(facts)))
        });
        let is_down = matches!(met, Some((CheckStatus::Down, _)));
        let undecided = deciding.undecided.filter(|_| !is_down).map(|condition| {
            let message =
                format!("The body is longer than what is read of it; not to be decided: {condition}");
            (CheckStatus::Degraded, Failure::new(ErrorCode::BodyTruncated, message))
        });
        let partial = self.partial.map(|failure| (CheckStatus::Degraded, failure));
        let (status, failure) = match undecided.or(met).or(partial) {
            Some((status, failure)) => (status, Some(Box::new(failure))),
            None => (CheckStatus::Up, None),
        };
        Outcome::Measured(Measurement {
            status,
            response_time: Some(self.response_time),
            timings: self.timings,
            status_code: self.status_code,
            failure,
        })
    }
}

/// Microseconds as the milliseconds that conditions are written in.
pub(crate) fn milliseconds(time: Micros) -> f64 {
    f64::from(time.get()) / 1000.0
}
