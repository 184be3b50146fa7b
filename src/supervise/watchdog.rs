//! The watchdog: a thread of its own that counts the seconds in which this process ran, and ends a process that hangs.
//!
//! The watchdog asks the threads of the actors whether they run anything at all. A thread that does not can
//! neither be repaired nor stopped in order, so the process ends. The same happens when an orderly end takes
//! too long.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use actix::ArbiterHandle;

use crate::supervise::Supervisor;
use crate::supervise::exit::FROZEN_AFTER;
use crate::supervise::lock::lock;
use crate::supervise::watched_thread::WatchedThread;

/// Seconds that an orderly end may take.
const END_TAKES: u32 = 8;

/// A running watchdog, which ends when this value is dropped.
#[derive(Debug)]
pub struct Watchdog {
    _end: Sender<()>,
}

impl Watchdog {
    /// Starts the watchdog, which checks every `every`. `end` must end the process at once. It gets the reason,
    /// or `None` if the reason was reported before ([`Supervisor::failed`]).
    pub fn start(
        supervisor: Supervisor,
        every: Duration,
        end: impl FnMut(Option<&str>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (_end, ended) = channel();
        thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch(&supervisor, every, &ended, end))?;
        Ok(Self { _end })
    }
}

fn watch(supervisor: &Supervisor, every: Duration, ended: &Receiver<()>, mut end: impl FnMut(Option<&str>)) {
    let mut ending_since = None;
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        supervisor.tick();
        let now = supervisor.now();
        if let Some(thread) = supervisor.blocked_thread(now) {
            let reason = format!("the thread of {thread} has run nothing for {FROZEN_AFTER} seconds");
            end(Some(&reason));
            supervisor.fail(&reason);
        }
        if supervisor.failure().is_some() {
            let since = *ending_since.get_or_insert(now);
            if now.wrapping_sub(since) >= END_TAKES {
                end(None);
            }
        }
    }
}

impl Supervisor {
    /// Adds a thread to those that the watchdog asks.
    pub fn watch_thread(&self, name: impl Into<String>, thread: &ArbiterHandle) {
        lock(&self.0.threads).push(WatchedThread::new(name.into(), thread.clone()));
    }

    /// Asks every thread; returns the name of one that has not answered for too long.
    fn blocked_thread(&self, now: u32) -> Option<String> {
        let mut threads = lock(&self.0.threads);
        let mut blocked = None;
        for thread in threads.iter_mut() {
            if thread.is_blocked(now) {
                blocked = Some(thread.name().to_owned());
            }
        }
        // A thread that has ended is no longer asked: it ended with the app.
        threads.retain_mut(|thread| thread.is_open() || thread.ask(now));
        blocked
    }
}
