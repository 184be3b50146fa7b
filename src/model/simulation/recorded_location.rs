//! The answer that a location would have given at a moment of the past: its last result at that time.
//!
//! A result is valid until the next one of its location. If the next one came much later than expected, the result is valid
//! for one interval, and the time after that is unknown. The interval is derived from the stored results, because the
//! settings may have changed since.
//!
//! Of a check that was retried, only the deciding attempt is stored. The attempts before it failed; their times are derived
//! from the due time of the check.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::watch::WatchPlan;

/// Milliseconds by which a result may come later and still be the answer; less than half of the shortest time between two
/// checks.
const SLACK_MS: i64 = 400;
/// Number of results before and after a moment from which the interval at that time is derived.
const NEIGHBOURS: usize = 4;

/// A stored result, reduced to the fields that a replay needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCheck {
    /// The moment at which the check was due.
    pub due_at: Timestamp,
    /// The start of its deciding attempt.
    pub checked_at: Timestamp,
    /// Status that the check gave its target.
    pub status: CheckStatus,
    /// Number of the deciding attempt, from 1.
    pub attempt: u8,
    /// Duration of the deciding attempt in milliseconds; 0 if it is not known.
    pub took_ms: u32,
}

impl RecordedCheck {
    /// The start of the check: its due time, or the start of the deciding attempt if that is earlier.
    fn began_at(&self) -> Timestamp {
        self.due_at.min(self.checked_at)
    }
}

/// The times between checks and attempts with which the results were measured, taken from the present settings.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCadence {
    /// Milliseconds between two checks of one location.
    pub interval_ms: i64,
    /// Wait before the second attempt, in milliseconds; doubled for each further attempt.
    pub backoff_ms: i64,
    /// Longest wait before a further attempt, in milliseconds.
    pub backoff_max_ms: i64,
}

impl RecordedCadence {
    /// The cadence of a plan.
    #[must_use]
    pub const fn of(plan: &WatchPlan) -> Self {
        let WatchPlan { interval_ms, backoff_ms, backoff_max_ms, .. } = *plan;
        Self { interval_ms, backoff_ms, backoff_max_ms }
    }

    /// The sum of the waits between the attempts of a check with this number of attempts, in milliseconds.
    fn backoffs_ms(&self, attempts: u8) -> i64 {
        let wait = |attempt: u8| (self.backoff_ms << u32::from(attempt).min(16)).min(self.backoff_max_ms);
        (0..attempts.saturating_sub(1)).map(wait).sum()
    }
}

/// The answer of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedAnswer {
    Saw(ReplayedCheck),
    /// No result is valid at that time. With the start of the next result, if there is one.
    Nothing(Option<Timestamp>),
}

/// A simulated check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplayedCheck {
    pub(super) began_at: Timestamp,
    pub(super) ended_at: Timestamp,
    pub(super) status: CheckStatus,
}

/// The stored results of a location. Queries must come in the order of their times.
#[derive(Debug)]
pub(super) struct RecordedLocation<'a> {
    seen: &'a [RecordedCheck],
    rhythm: RecordedCadence,
    /// Time limit of an attempt in the simulated plan, in milliseconds. Longer attempts count as down.
    timeout_ms: i64,
    /// Number of results that had started by the last query.
    begun: usize,
    /// Results that started before this time are ignored.
    since: Timestamp,
}

impl<'a> RecordedLocation<'a> {
    /// The recorded location with these results, which are in the order of their times.
    pub(super) const fn new(seen: &'a [RecordedCheck], rhythm: RecordedCadence, timeout_ms: i64) -> Self {
        Self { seen, rhythm, timeout_ms, begun: 0, since: Timestamp::from_ms(i64::MIN) }
    }

    pub(super) fn ask(&mut self, now: Timestamp) -> RecordedAnswer {
        while self.is_nearer(now) {
            self.begun += 1;
        }
        let next = self.seen.get(self.begun).map(RecordedCheck::began_at);
        let last = self.begun.checked_sub(1).filter(|index| self.holds(*index, now));
        match last.and_then(|index| self.seen.get(index)) {
            Some(seen) => RecordedAnswer::Saw(self.replay_check(seen, now)),
            None => RecordedAnswer::Nothing(next),
        }
    }

    /// Returns true if the next result is a better answer at `now` than the last one: it has started, or it is about to
    /// start and is nearer to `now`.
    fn is_nearer(&self, now: Timestamp) -> bool {
        let Some(next) = self.seen.get(self.begun).map(RecordedCheck::began_at) else { return false };
        let last = self.begun.checked_sub(1).map(|last| self.seen[last].began_at());
        let ahead_ms = next.ms_since(now);
        ahead_ms <= 0 || ahead_ms <= SLACK_MS && last.is_none_or(|last| ahead_ms < now.ms_since(last))
    }

    /// The status of the first result at or shortly after `now`, with which a watch that starts at `now` begins; `None`
    /// without such a result.
    pub(super) fn status_at(&self, now: Timestamp) -> Option<CheckStatus> {
        let first = self.seen.get(self.seen.partition_point(|seen| seen.checked_at < now))?;
        let is_near = first.checked_at.ms_since(now) <= self.rhythm.interval_ms;
        is_near.then(|| self.judged(first))
    }

    /// The start of the first result that started at `from` or later.
    pub(super) fn first_since(&self, from: Timestamp) -> Option<Timestamp> {
        let index = self.seen.partition_point(|seen| seen.began_at() < from);
        self.seen.get(index).map(RecordedCheck::began_at)
    }

    /// Ignores results that started before `since` from now on.
    pub(super) const fn forget_before(&mut self, since: Timestamp) {
        self.since = since;
    }

    fn holds(&self, index: usize, now: Timestamp) -> bool {
        self.seen[index].began_at() >= self.since && now < self.until(index)
    }

    /// The time until which a result is valid.
    fn until(&self, index: usize) -> Timestamp {
        let began_at = self.seen[index].began_at();
        let interval_ms = self.interval_ms_at(index);
        let expected = self.seen[index].checked_at.plus_ms(interval_ms + interval_ms / 2);
        match self.seen.get(index + 1).map(RecordedCheck::began_at) {
            Some(next) if next <= expected => next,
            // The first result that was due afterwards did not come.
            _ => began_at.plus_ms(interval_ms),
        }
    }

    /// The interval around a result: the usual one there, or that of the present settings if it is longer.
    fn interval_ms_at(&self, index: usize) -> i64 {
        let around = index.saturating_sub(NEIGHBOURS)..(index + NEIGHBOURS + 2).min(self.seen.len());
        let mut waits: [i64; 2 * NEIGHBOURS + 1] = [0; 2 * NEIGHBOURS + 1];
        let mut count = 0;
        for (wait, pair) in waits.iter_mut().zip(self.seen[around].windows(2)) {
            *wait = pair[1].began_at().ms_since(pair[0].began_at());
            count += 1;
        }
        let waits = &mut waits[..count];
        waits.sort_unstable();
        let usual = waits.get(count / 2).copied().unwrap_or_default();
        usual.max(self.rhythm.interval_ms)
    }

    fn replay_check(&self, seen: &RecordedCheck, now: Timestamp) -> ReplayedCheck {
        let decides = seen.attempt <= 1 || Self::is_decided(seen, now);
        let (began_at, took_ms) = if decides {
            let is_this_one = seen.checked_at >= now.plus_ms(-SLACK_MS);
            (if is_this_one { seen.checked_at } else { now }, i64::from(seen.took_ms))
        } else {
            (now, self.took_before_ms(seen))
        };
        let status = match self.judged(seen) {
            CheckStatus::Up if !decides => CheckStatus::Down,
            status => status,
        };
        let ended_at = began_at.max(now).plus_ms(took_ms.min(self.timeout_ms));
        ReplayedCheck { began_at, ended_at, status }
    }

    /// Returns true if `now` is nearer to the deciding attempt than to the attempts before.
    fn is_decided(seen: &RecordedCheck, now: Timestamp) -> bool {
        let before = i64::from(seen.attempt.max(2) - 1);
        let between_ms = seen.checked_at.ms_since(seen.began_at()) / before;
        now.plus_ms((between_ms / 2).min(SLACK_MS)) >= seen.checked_at
    }

    /// The estimated duration of each attempt before the deciding one, in milliseconds.
    fn took_before_ms(&self, seen: &RecordedCheck) -> i64 {
        let all_ms = seen.checked_at.ms_since(seen.began_at()) - self.rhythm.backoffs_ms(seen.attempt);
        (all_ms / i64::from(seen.attempt.max(2) - 1)).max(0)
    }

    /// The status of a result under the simulated time limit: an attempt that took longer counts as down.
    fn judged(&self, seen: &RecordedCheck) -> CheckStatus {
        if i64::from(seen.took_ms) > self.timeout_ms { CheckStatus::Down } else { seen.status }
    }
}
