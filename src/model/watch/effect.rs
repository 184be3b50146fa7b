//! The effects of a watch as data, which the actor around the watch carries out.

use crate::clock::Timestamp;
use crate::model::check::Measurement;
use crate::model::status_timeline::MeasuredStatusChange;

/// An effect of the watch, to be carried out by the actor around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEffect {
    /// Start an attempt at a location.
    Run(CheckAttempt),
    /// A check is finished: record its result.
    Record(FinishedCheck),
    /// Record a change of the measured status.
    Change(MeasuredStatusChange),
    /// Count this number of checks that were due while none could be started, or while one was running.
    Missed(u64),
    /// Compare the result of a location with those of other locations; see `model::suspicion`.
    Opinion(LocationOpinion),
    /// Request a location with its own schedule to check now, or more often.
    RequestRecheck(RecheckRequest),
    /// Let the location with this index check sooner if the recheck budget allows it; see `WatchState::check_early`.
    CheckEarly(usize),
}

/// An attempt of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckAttempt {
    /// Index of the location in the plan.
    pub slot: usize,
    /// The due time of the check.
    pub scheduled_at: Timestamp,
    /// Number of the attempt, from 1.
    pub attempt: u8,
}

/// A finished check, with the result of its deciding attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCheck {
    /// The deciding attempt.
    pub attempt: CheckAttempt,
    /// The start of the deciding attempt.
    pub checked_at: Timestamp,
    /// The result of the deciding attempt.
    pub measurement: Measurement,
}

/// How a result from a location with its own schedule was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalOutcome {
    /// The result is now the vote of its location.
    Vote(Vec<WatchEffect>),
    /// The result is new but late: it belongs to the history and does not change the present status.
    Late,
    /// The result is ignored: it was received before, is from the future, or is not from a location of the plan with its
    /// own schedule.
    Nothing,
}

/// A request to a location with its own schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecheckRequest {
    /// Index of the location in the plan.
    pub slot: usize,
    /// True if the location must check at once instead of at its next due time.
    pub check_now: bool,
    /// The time until which the location checks more often; a time that has passed ends this.
    pub fast_rechecks_until: Timestamp,
}

/// The result of a location, compared with the votes of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationOpinion {
    /// Index of the location in the plan.
    pub slot: usize,
    /// True if the result is `down` while the others see the service `up`.
    pub contradicts: bool,
}
