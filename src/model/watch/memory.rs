//! The past of a service as it is known from before: by an earlier process, or by an actor that has panicked.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::history::MeasuredStatus;
use crate::model::status_line::{Change, StatusLine};
use crate::model::verdict::{Verdict, Vote, majority};

/// The past of a service, as the history tells it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The newest result of each location that has one, by the location's place in the plan.
    pub votes: Vec<(usize, Vote)>,
    /// The last recorded status.
    pub status: MeasuredStatus,
    /// The time of its beginning.
    pub status_since: Option<Timestamp>,
}

/// A memory, as far as it holds at the present time.
#[derive(Clone, Debug)]
pub(in crate::model) struct Resumed {
    /// The results that are not of the future.
    pub(in crate::model) votes: Vec<(usize, Vote)>,
    /// The status line that goes on.
    pub(in crate::model) line: StatusLine,
    /// The changes with which it goes on.
    pub(in crate::model) changes: Vec<Change>,
}

impl Memory {
    /// Returns the verdict of those votes that are still fresh at `now`.
    #[must_use]
    pub fn verdict(&self, interval_ms: i64, now: Timestamp) -> Verdict {
        let known = self.votes.iter().filter(|(_, vote)| !is_future(vote.checked_at, now));
        let fresh = known.filter(|(_, vote)| vote.is_fresh(now, interval_ms));
        majority(fresh.map(|(_, vote)| vote.status))
    }

    /// Returns the time of the newest result that is not of the future.
    #[must_use]
    pub fn last_result_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.votes.iter().map(|(_, vote)| vote.checked_at).filter(|at| !is_future(*at, now)).max()
    }

    /// Returns the part that holds at `now`. Results of the future were recorded under a clock that was wrong: nobody
    /// knows how old they are. A status of the future goes on from now.
    pub(in crate::model) fn resume(self, now: Timestamp) -> Resumed {
        let newest = self.votes.iter().map(|(_, vote)| vote.checked_at).max();
        let mut line = StatusLine::new(self.status, self.status_since);
        let changes = match self.status_since.filter(|since| is_future(*since, now)) {
            Some(since) => line.set_back(newest.map_or(since, |newest| newest.max(since)), now),
            None => Vec::new(),
        };
        let mut votes = self.votes;
        votes.retain(|(_, vote)| !is_future(vote.checked_at, now));
        Resumed { votes, line, changes }
    }
}

/// True for what was recorded before the wall clock was set back.
const fn is_future(at: Timestamp, now: Timestamp) -> bool {
    at.ms_since(now) > STEP_MS
}
