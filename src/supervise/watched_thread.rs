//! A thread of actors that the watchdog asks whether it runs anything at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actix::ArbiterHandle;

use crate::supervise::exit::FROZEN_AFTER;
use crate::supervise::thread_progress::count_turns;

/// A thread of actors that is asked whether it runs. A thread with much to do answers late: it is blocked only if no actor has
/// had a turn either.
#[derive(Debug)]
pub(super) struct WatchedThread {
    name: String,
    thread: ArbiterHandle,
    asked: u32,
    answered: Arc<AtomicU32>,
    /// Turns of the actors of the thread.
    turns: Arc<AtomicU32>,
    /// The turns at the last check, and the tick at which they were first seen.
    seen: (u32, u32),
}

impl WatchedThread {
    pub(super) fn new(name: String, thread: ArbiterHandle) -> Self {
        let turns = count_turns(&thread);
        Self { name, thread, asked: 0, answered: Arc::default(), turns, seen: (0, 0) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true when the last question to the thread has been open for too long, and no actor has had a turn meanwhile.
    pub(super) fn is_blocked(&mut self, now: u32) -> bool {
        let turns = self.turns.load(Ordering::Relaxed);
        if self.seen.0 != turns {
            self.seen = (turns, now);
        }
        let is_long = |since: u32| now.wrapping_sub(since) >= FROZEN_AFTER;
        self.is_open() && is_long(self.asked) && is_long(self.seen.1)
    }

    /// Returns true while the last question to the thread is not answered.
    pub(super) fn is_open(&self) -> bool {
        self.answered.load(Ordering::Acquire) != self.asked
    }

    /// Asks the thread; returns false when it has ended.
    pub(super) fn ask(&mut self, now: u32) -> bool {
        self.asked = now;
        let answered = Arc::clone(&self.answered);
        self.thread.spawn_fn(move || answered.store(now, Ordering::Release))
    }
}
