//! The effects of a watch, as data: the actor around the watch carries them out.

use crate::clock::Timestamp;
use crate::model::check::Measurement;
use crate::model::status_timeline::MeasuredStatusChange;

/// An act of the watch that the actor around it carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEffect {
    /// Start an attempt at a location.
    Run(CheckAttempt),
    /// A check of a location is finished: record it.
    Record(FinishedCheck),
    /// Record a change of the measured status.
    Change(MeasuredStatusChange),
    /// Runs that were due while none could be started, or while one was running.
    Missed(u64),
    /// A location has an opinion on a service that others check too.
    Opinion(LocationOpinion),
    /// A location that keeps its own schedule is to check now, or more often.
    RequestRecheck(RecheckRequest),
    /// The location at this place would check sooner, if the recheck budget allows (`WatchState::hasten`).
    CheckEarly(usize),
}

/// An attempt to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckAttempt {
    /// Index of the location in the plan.
    pub slot: usize,
    /// The due time of the check.
    pub scheduled_at: Timestamp,
    /// Number of the attempt, from 1.
    pub attempt: u8,
}

/// A finished check with its deciding attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCheck {
    /// The attempt that decided the result.
    pub attempt: CheckAttempt,
    /// The start of its deciding attempt.
    pub checked_at: Timestamp,
    /// The findings of that attempt.
    pub measurement: Measurement,
}

/// The worth of a result from a location that keeps its own schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalOutcome {
    /// It is the vote of its location now.
    Vote(Vec<WatchEffect>),
    /// It is late and new: it changes the history, not the present status.
    Late,
    /// It was received before, is of the future, or no location of the plan sends results: it does not count.
    Nothing,
}

/// A request to a location that keeps its own schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecheckRequest {
    /// Index of the location in the plan.
    pub slot: usize,
    /// It is to check at once instead of at its next due time.
    pub check_now: bool,
    /// It is to check more often until then; a time in the past ends that.
    pub fast_rechecks_until: Timestamp,
}

/// A location's result, compared with those of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationOpinion {
    /// Index of the location in the plan.
    pub slot: usize,
    /// True if it is `down` where the others are `up`.
    pub contradicts: bool,
}
