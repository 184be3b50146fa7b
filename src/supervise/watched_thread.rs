//! A thread of actors that the watchdog asks whether it runs anything at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actix::ArbiterHandle;

use crate::supervise::exit::FROZEN_AFTER;

/// A thread of actors that is asked whether it runs.
#[derive(Debug)]
pub(super) struct WatchedThread {
    name: String,
    thread: ArbiterHandle,
    asked: u32,
    answered: Arc<AtomicU32>,
}

impl WatchedThread {
    pub(super) fn new(name: String, thread: ArbiterHandle) -> Self {
        Self { name, thread, asked: 0, answered: Arc::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true when the last question to the thread has been open for too long.
    pub(super) fn is_blocked(&self, now: u32) -> bool {
        self.is_open() && now.wrapping_sub(self.asked) >= FROZEN_AFTER
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
