//! The answer of a location at a moment of the past: its last result until then.
//!
//! A result is valid until the next one of its location. Where that came much later than expected, it is valid for
//! one interval only, and the time after that is unknown. The interval is that at which results really came at that
//! time, for settings may have changed since.
//!
//! Of a check that was retried only the deciding attempt is stored. The attempts before it were bad, and their times
//! follow from the due time of the check.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::watch::WatchPlan;

/// Delay in milliseconds up to which a later result is still the answer: less than half of the shortest time between
/// two checks.
const SLACK_MS: i64 = 400;
/// Number of results on either side from which the interval at some time is derived.
const NEIGHBOURS: usize = 4;

/// A stored result, reduced to the fields of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCheck {
    /// The moment at which the check was due.
    pub due_at: Timestamp,
    /// The start of its deciding attempt.
    pub checked_at: Timestamp,
    /// Status that the check gave its target.
    pub status: CheckStatus,
    /// The deciding attempt, from 1.
    pub attempt: u8,
    /// The milliseconds that it took; 0 = not known.
    pub took_ms: u32,
}

impl RecordedCheck {
    /// The start of its first attempt.
    fn began_at(&self) -> Timestamp {
        self.due_at.min(self.checked_at)
    }
}

/// The rhythm in which results were measured, by the present settings.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCadence {
    /// Milliseconds between two checks of one location.
    pub interval_ms: i64,
    /// Wait before the second attempt; it doubles.
    pub backoff_ms: i64,
    /// Longest wait before a further attempt.
    pub backoff_max_ms: i64,
}

impl RecordedCadence {
    /// The rhythm of a plan.
    #[must_use]
    pub const fn of(plan: &WatchPlan) -> Self {
        let WatchPlan { interval_ms, backoff_ms, backoff_max_ms, .. } = *plan;
        Self { interval_ms, backoff_ms, backoff_max_ms }
    }

    /// The waits between the attempts of a check with this number of attempts.
    fn backoffs_ms(&self, attempts: u8) -> i64 {
        let wait = |attempt: u8| (self.backoff_ms << u32::from(attempt).min(16)).min(self.backoff_max_ms);
        (0..attempts.saturating_sub(1)).map(wait).sum()
    }
}

/// The answer of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedAnswer {
    Saw(ReplayedCheck),
    /// It has no result; it checks again then.
    Nothing(Option<Timestamp>),
}

/// A check with a known outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplayedCheck {
    pub(super) began_at: Timestamp,
    pub(super) ended_at: Timestamp,
    pub(super) status: CheckStatus,
}

/// A location in the past. It is queried at rising times.
#[derive(Debug)]
pub(super) struct RecordedLocation<'a> {
    seen: &'a [RecordedCheck],
    rhythm: RecordedCadence,
    /// Time limit of a check: a longer one would have been given up.
    timeout_ms: i64,
    /// Results that had started at the last query.
    begun: usize,
    /// Results that started earlier do not count any more.
    since: Timestamp,
}

impl<'a> RecordedLocation<'a> {
    /// The results of one location, in the order of their times.
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

    /// Returns true if the next result is a better answer at `now` than the last one: it has started, or is about to
    /// and nearer.
    fn is_nearer(&self, now: Timestamp) -> bool {
        let Some(next) = self.seen.get(self.begun).map(RecordedCheck::began_at) else { return false };
        let last = self.begun.checked_sub(1).map(|last| self.seen[last].began_at());
        let ahead_ms = next.ms_since(now);
        ahead_ms <= 0 || ahead_ms <= SLACK_MS && last.is_none_or(|last| ahead_ms < now.ms_since(last))
    }

    /// The status known at `now`, or a moment later: the initial status of a watch that starts there.
    pub(super) fn status_at(&self, now: Timestamp) -> Option<CheckStatus> {
        let first = self.seen.get(self.seen.partition_point(|seen| seen.checked_at < now))?;
        let is_near = first.checked_at.ms_since(now) <= self.rhythm.interval_ms;
        is_near.then(|| self.judged(first))
    }

    /// The start of its first result that started at `from` or later.
    pub(super) fn first_since(&self, from: Timestamp) -> Option<Timestamp> {
        let index = self.seen.partition_point(|seen| seen.began_at() < from);
        self.seen.get(index).map(RecordedCheck::began_at)
    }

    /// Drops results from before `since`.
    pub(super) const fn forget_before(&mut self, since: Timestamp) {
        self.since = since;
    }

    fn holds(&self, index: usize, now: Timestamp) -> bool {
        self.seen[index].began_at() >= self.since && now < self.until(index)
    }

    /// The end of the time for which a result is valid.
    fn until(&self, index: usize) -> Timestamp {
        let began_at = self.seen[index].began_at();
        let interval_ms = self.interval_ms_at(index);
        let expected = self.seen[index].checked_at.plus_ms(interval_ms + interval_ms / 2);
        match self.seen.get(index + 1).map(RecordedCheck::began_at) {
            Some(next) if next <= expected => next,
            // The first result that was due did not come.
            _ => began_at.plus_ms(interval_ms),
        }
    }

    /// The interval around a result: that of the present settings, or the usual one there if that is longer.
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

    /// Returns true if the deciding attempt is nearer than those before.
    fn is_decided(seen: &RecordedCheck, now: Timestamp) -> bool {
        let before = i64::from(seen.attempt.max(2) - 1);
        let between_ms = seen.checked_at.ms_since(seen.began_at()) / before;
        now.plus_ms((between_ms / 2).min(SLACK_MS)) >= seen.checked_at
    }

    /// The milliseconds that each attempt before the deciding one took.
    fn took_before_ms(&self, seen: &RecordedCheck) -> i64 {
        let all_ms = seen.checked_at.ms_since(seen.began_at()) - self.rhythm.backoffs_ms(seen.attempt);
        (all_ms / i64::from(seen.attempt.max(2) - 1)).max(0)
    }

    /// A response that is not there in time is down.
    fn judged(&self, seen: &RecordedCheck) -> CheckStatus {
        if i64::from(seen.took_ms) > self.timeout_ms { CheckStatus::Down } else { seen.status }
    }
}
