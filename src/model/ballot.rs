//! The votes on one service as people see them: a ballot for each location, with the reason if it has no vote.
//!
//! The rule is that of the engine (`model::watch`), applied to the newest finished check of each location and to the
//! state of the locations. A test compares both.

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, LocalFault};
use crate::model::history::StoredCheck;
use crate::model::location::PUSH;
use crate::model::verdict::LocationVote;

/// A location that checks a service, with everything that decides whether its vote counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationOutlook {
    /// Code of the location, as in stored checks.
    pub code: String,
    /// Display name of the location.
    pub name: String,
    /// The reason why its votes are excluded at present; `None` if they count.
    pub exclusion: Option<VoteExclusion>,
    /// True if the location has not reported for a minute.
    pub is_offline: bool,
    /// The time at which the location was last no longer impaired: its earlier results are excluded.
    pub recovered_at: Option<Timestamp>,
    /// Start of the last time in which no check of the location could be made: its earlier results do not count.
    pub blind_since: Option<Timestamp>,
}

/// The reason why the votes of a location are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteExclusion {
    /// The location cannot check, for this reason of its own.
    Impaired(LocalFault),
    /// The location sees services down that all others see up.
    Suspect,
}

/// The reason why a location has no vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteAbsence {
    /// The location has not finished a check yet.
    NotChecked,
    /// The newest result of the location is too old.
    Stale,
    /// The location has not reported for a minute, and has no fresh result.
    Offline,
    /// The votes of the location are excluded.
    Excluded(VoteExclusion),
    /// The location was impaired, and has not finished a check since.
    Outdated,
    /// The location has been removed, or does not check this service any more.
    Withdrawn,
}

/// The vote of a location, or the reason why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteState {
    /// The location has this vote.
    Cast(CheckStatus),
    /// The location has no vote.
    Absent(VoteAbsence),
}

/// The ballot of one location on one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationBallot {
    /// Display name of the location; its code if the location has been removed.
    pub location: String,
    /// The vote, or the reason why there is none.
    pub vote: VoteState,
    /// The newest finished check of the location; `None` before the first.
    pub last_check: Option<StoredCheck>,
}

impl LocationBallot {
    /// Returns the vote; `None` if the location has none.
    #[must_use]
    pub const fn cast(&self) -> Option<CheckStatus> {
        match self.vote {
            VoteState::Cast(status) => Some(status),
            VoteState::Absent(_) => None,
        }
    }

    /// Returns the reason why the location has no vote; `None` if it has one.
    #[must_use]
    pub const fn absence(&self) -> Option<VoteAbsence> {
        match self.vote {
            VoteState::Cast(_) => None,
            VoteState::Absent(absence) => Some(absence),
        }
    }
}

/// The time for which votes are counted, and the interval by which their age is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BallotTime {
    /// The time for which votes are counted.
    pub now: Timestamp,
    /// Milliseconds between two checks of one location.
    pub interval_ms: i64,
}

/// Returns a ballot for each of these locations, in their order, and then one for each other location with a fresh result.
/// `checks` are finished checks of the service, newest first; only the newest of each location is used.
#[must_use]
pub fn ballots(
    locations: &[LocationOutlook],
    checks: &[StoredCheck],
    time: BallotTime,
) -> Vec<LocationBallot> {
    let entries: Vec<BallotEntry<'_>> =
        locations.iter().map(|location| BallotEntry::new(location, checks, locations.len(), time)).collect();
    let has_others = entries.iter().any(|entry| !entry.is_set_aside && entry.is_valid);
    let own = entries.iter().map(|entry| LocationBallot {
        location: entry.location.name.clone(),
        vote: entry.vote(has_others),
        last_check: entry.newest.cloned(),
    });
    let mut found: Vec<LocationBallot> = own.collect();
    let is_known = |code: &str| locations.iter().any(|location| location.code == code);
    let mut withdrawn: Vec<&StoredCheck> = Vec::new();
    for check in checks.iter().filter(|check| is_fresh(check, time) && check.probe != PUSH) {
        if !is_known(&check.probe) && withdrawn.iter().all(|known| known.probe != check.probe) {
            withdrawn.push(check);
        }
    }
    withdrawn.sort_by(|left, right| left.probe.cmp(&right.probe));
    found.extend(withdrawn.into_iter().map(|check| LocationBallot {
        location: check.probe.clone(),
        vote: VoteState::Absent(VoteAbsence::Withdrawn),
        last_check: Some(check.clone()),
    }));
    found
}

/// A location with its newest check, before it is known whether other locations have votes.
struct BallotEntry<'a> {
    location: &'a LocationOutlook,
    newest: Option<&'a StoredCheck>,
    /// True if the newest result is fresh, and newer than the last blindness of the location.
    is_valid: bool,
    is_fresh: bool,
    /// True if the vote counts only if no other location has one.
    is_set_aside: bool,
}

impl<'a> BallotEntry<'a> {
    fn new(
        location: &'a LocationOutlook,
        checks: &'a [StoredCheck],
        locations: usize,
        time: BallotTime,
    ) -> Self {
        let newest = checks.iter().find(|check| check.probe == location.code);
        let is_fresh = newest.is_some_and(|check| is_fresh(check, time));
        let is_after = |since: Timestamp| newest.is_some_and(|check| check.checked_at > since);
        let has_checked_since = |since: Timestamp| newest.is_some_and(|check| check.checked_at >= since);
        let is_outdated = location.recovered_at.is_some_and(|at| !has_checked_since(at));
        Self {
            location,
            newest,
            is_valid: is_fresh && location.blind_since.is_none_or(is_after),
            is_fresh,
            // No other location contradicts a single one.
            is_set_aside: locations > 1 && (is_outdated || location.exclusion.is_some()),
        }
    }

    fn vote(&self, has_others: bool) -> VoteState {
        let valid = self.newest.filter(|_| self.is_valid && !(self.is_set_aside && has_others));
        match valid {
            Some(check) => VoteState::Cast(check.measurement.status),
            None => VoteState::Absent(self.absence()),
        }
    }

    const fn absence(&self) -> VoteAbsence {
        match (self.location.exclusion, self.newest) {
            (Some(exclusion), _) => VoteAbsence::Excluded(exclusion),
            (None, _) if !self.is_fresh && self.location.is_offline => VoteAbsence::Offline,
            (None, None) => VoteAbsence::NotChecked,
            (None, Some(_)) if self.is_fresh => VoteAbsence::Outdated,
            (None, Some(_)) => VoteAbsence::Stale,
        }
    }
}

fn is_fresh(check: &StoredCheck, BallotTime { now, interval_ms }: BallotTime) -> bool {
    let vote = LocationVote { status: check.measurement.status, checked_at: check.checked_at };
    vote.is_fresh(now, interval_ms)
}

#[cfg(test)]
mod tests;
