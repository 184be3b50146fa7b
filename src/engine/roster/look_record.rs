//! What the attempts of one location did lately, as all shards share it. The rule is `model::shed_attempts`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::model::check::{Outcome, Trouble};
use crate::model::impairment::Turn;
use crate::model::shed_attempts::{Blindness, ShedAttempts};

/// What the attempts of one location did lately.
#[derive(Debug)]
pub(super) struct LookRecord {
    attempts: Mutex<ShedAttempts>,
    /// Some could not look: the rule has something to judge.
    is_disturbed: AtomicBool,
    /// The begin of the last blindness.
    blind_since: Mutex<Option<Instant>>,
    /// The location has become blind, and the services do not know yet.
    is_news: AtomicBool,
    /// The log says that it is blind.
    is_logged: AtomicBool,
    born: Instant,
}

/// A location none of whose attempts looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindLocation {
    /// The first attempt that could not look; of a location in another process, when it was first heard of.
    pub since: Timestamp,
    /// The reason of the last one.
    pub trouble: Trouble,
}

impl Default for LookRecord {
    fn default() -> Self {
        Self {
            attempts: Mutex::default(),
            is_disturbed: AtomicBool::new(false),
            blind_since: Mutex::default(),
            is_news: AtomicBool::new(false),
            is_logged: AtomicBool::new(false),
            born: Instant::now(),
        }
    }
}

impl LookRecord {
    /// Notes how an attempt ended. While all of them look this is one look at a flag.
    pub(super) fn note(&self, outcome: &Outcome) -> Option<Turn> {
        let mut attempts = match outcome {
            Outcome::Measured(_) if !self.is_disturbed.load(Ordering::Acquire) => return None,
            _ => self.lock(),
        };
        let now_ms = self.age_ms();
        let turn = match outcome {
            Outcome::Measured(_) => attempts.note_looked(now_ms),
            Outcome::Unmeasured(trouble) => {
                attempts.note_shed(*trouble, now_ms);
                None
            }
        };
        self.is_disturbed.store(attempts.is_disturbed(), Ordering::Release);
        turn
    }

    pub(super) fn judge(&self) -> Option<(Turn, Option<Blindness>)> {
        if !self.is_disturbed.load(Ordering::Acquire) {
            return None;
        }
        let mut attempts = self.lock();
        let turn = attempts.judge(self.age_ms());
        self.is_disturbed.store(attempts.is_disturbed(), Ordering::Release);
        turn.map(|turn| (turn, attempts.blindness()))
    }

    pub(super) fn blindness(&self) -> Option<Blindness> {
        if self.is_disturbed.load(Ordering::Acquire) { self.lock().blindness() } else { None }
    }

    pub(super) fn become_blind(&self, since: Instant) {
        *self.blind_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(since);
        self.is_news.store(true, Ordering::Release);
    }

    /// Returns the begin of the last blindness, by a wall clock that says `now`.
    pub(super) fn blind_since(&self, now: Timestamp) -> Option<Timestamp> {
        let since = *self.blind_since.lock().unwrap_or_else(PoisonError::into_inner);
        let ago = since?.elapsed().as_millis();
        Some(now.plus_ms(-i64::try_from(ago).unwrap_or(i64::MAX)))
    }

    /// Returns true once for each time that the location became blind.
    pub(super) fn take_news(&self) -> bool {
        self.is_news.swap(false, Ordering::AcqRel)
    }

    /// Returns a moment of the rule.
    pub(super) fn at(&self, ms: u64) -> Instant {
        self.born + Duration::from_millis(ms)
    }

    /// Notes whether the log says that the location is blind; returns whether it said so before.
    pub(super) fn set_logged(&self, is_logged: bool) -> bool {
        self.is_logged.swap(is_logged, Ordering::Relaxed)
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, ShedAttempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
