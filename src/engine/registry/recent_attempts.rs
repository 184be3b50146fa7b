//! The recent outcomes of one location's attempts, shared by all shards. The rule is `model::shed_attempts`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::model::check::{CheckOutcome, LocalFault};
use crate::model::impairment::ImpairmentChange;
use crate::model::shed_attempts::{LocationBlindness, ShedAttempts};

/// The recent outcomes of one location's attempts.
#[derive(Debug)]
pub(super) struct RecentAttempts {
    attempts: Mutex<ShedAttempts>,
    /// True if some attempts could not measure, so that the rule has something to judge.
    is_disturbed: AtomicBool,
    /// Start of the last blindness.
    blind_since: Mutex<Option<Instant>>,
    /// True if the location has become blind and its services are not notified yet.
    has_become_blind: AtomicBool,
    /// True if the location's blindness was logged.
    is_logged: AtomicBool,
    born: Instant,
}

/// A location whose attempts all fail to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindLocation {
    /// Start of the first attempt that could not measure; for a remote location, the time of the first report
    /// of the blindness.
    pub since: Timestamp,
    /// The reason of the last failed attempt.
    pub trouble: LocalFault,
}

impl Default for RecentAttempts {
    fn default() -> Self {
        Self {
            attempts: Mutex::default(),
            is_disturbed: AtomicBool::new(false),
            blind_since: Mutex::default(),
            has_become_blind: AtomicBool::new(false),
            is_logged: AtomicBool::new(false),
            born: Instant::now(),
        }
    }
}

impl RecentAttempts {
    /// Records how an attempt ended. While all of them measure, this reads one flag only.
    pub(super) fn note(&self, outcome: &CheckOutcome) -> Option<ImpairmentChange> {
        let mut attempts = match outcome {
            CheckOutcome::Measured(_) if !self.is_disturbed.load(Ordering::Acquire) => return None,
            _ => self.lock(),
        };
        let now_ms = self.age_ms();
        let change = match outcome {
            CheckOutcome::Measured(_) => attempts.note_measured(now_ms),
            CheckOutcome::Unmeasured(trouble) => {
                attempts.note_shed(*trouble, now_ms);
                None
            }
        };
        self.is_disturbed.store(attempts.is_disturbed(), Ordering::Release);
        change
    }

    pub(super) fn judge(&self) -> Option<(ImpairmentChange, Option<LocationBlindness>)> {
        if !self.is_disturbed.load(Ordering::Acquire) {
            return None;
        }
        let mut attempts = self.lock();
        let change = attempts.judge(self.age_ms());
        self.is_disturbed.store(attempts.is_disturbed(), Ordering::Release);
        change.map(|change| (change, attempts.blindness()))
    }

    pub(super) fn blindness(&self) -> Option<LocationBlindness> {
        if self.is_disturbed.load(Ordering::Acquire) { self.lock().blindness() } else { None }
    }

    pub(super) fn become_blind(&self, since: Instant) {
        *self.blind_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(since);
        self.has_become_blind.store(true, Ordering::Release);
    }

    /// Returns the start of the last blindness in wall time, given `now`.
    pub(super) fn blind_since(&self, now: Timestamp) -> Option<Timestamp> {
        let since = *self.blind_since.lock().unwrap_or_else(PoisonError::into_inner);
        let ago = since?.elapsed().as_millis();
        Some(now.plus_ms(-i64::try_from(ago).unwrap_or(i64::MAX)))
    }

    /// Returns true once each time the location has become blind.
    pub(super) fn take_has_become_blind(&self) -> bool {
        self.has_become_blind.swap(false, Ordering::AcqRel)
    }

    /// Converts milliseconds as the rule counts them, from the creation of this value, to a monotonic time.
    pub(super) fn at(&self, ms: u64) -> Instant {
        self.born + Duration::from_millis(ms)
    }

    /// Sets whether the location's blindness is in the log; returns the previous value.
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
