//! Times in which the checks of a thread did not run: the process was stopped by a signal, the processor was
//! busy with other processes, or the thread had more tasks than it could run.
//!
//! Stalls are noticed by a task that only sleeps and reads the clock, because this task waits in the same queue
//! as the checks: that of the thread's `LocalSet`. A check that failed while its own thread stood still for a
//! large part of the check's time has measured this process, not its target.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep};

/// Time between two readings of the clock.
const TICK: Duration = Duration::from_millis(50);
/// The shortest delay that counts as a stall.
const STALL_MIN: Duration = Duration::from_millis(100);
/// Maximum number of stored stalls, usually those of the last minutes.
const REMEMBERED: usize = 256;

/// The stalls of one thread's local tasks. The watch ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct StallMonitor {
    record: Arc<Mutex<StallRecord>>,
    watcher: AbortHandle,
}

#[derive(Debug)]
struct StallRecord {
    last_tick: Instant,
    stalls: VecDeque<TaskStall>,
}

#[derive(Clone, Copy, Debug)]
struct TaskStall {
    ended: Instant,
    length: Duration,
}

impl StallMonitor {
    /// Watches the local tasks of this thread.
    ///
    /// # Panics
    /// Outside of a `LocalSet`. Actors and their tasks run in one.
    pub(crate) fn watch() -> Self {
        let record = Arc::new(Mutex::new(StallRecord { last_tick: Instant::now(), stalls: VecDeque::new() }));
        let watched = Arc::clone(&record);
        let watcher = spawn_local(async move {
            loop {
                sleep(TICK).await;
                watched.lock().unwrap_or_else(PoisonError::into_inner).tick(Instant::now());
            }
        });
        Self { record, watcher: watcher.abort_handle() }
    }

    /// Returns the time since `start` in which the local tasks stood still. A stall in progress is included.
    pub(crate) fn since(&self, start: Instant) -> Duration {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).since(start, Instant::now())
    }

    /// Returns true when the local tasks have ended, or the watcher was stopped.
    pub(crate) fn is_over(&self) -> bool {
        self.watcher.is_finished()
    }
}

impl Drop for StallMonitor {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

impl StallRecord {
    /// Records that the watcher ran at `now`.
    fn tick(&mut self, now: Instant) {
        self.stalls.extend(self.pending(now));
        self.last_tick = now;
        if self.stalls.len() > REMEMBERED {
            self.stalls.pop_front();
        }
    }

    /// Returns the stall that is in progress at `now`, if the watcher is late by at least `STALL_MIN`.
    fn pending(&self, now: Instant) -> Option<TaskStall> {
        let length = now.saturating_duration_since(self.last_tick).saturating_sub(TICK);
        (length >= STALL_MIN).then_some(TaskStall { ended: now, length })
    }

    fn since(&self, start: Instant, now: Instant) -> Duration {
        let within = |stall: &TaskStall| stall.length.min(stall.ended.saturating_duration_since(start));
        let past = self.stalls.iter().rev().take_while(|stall| stall.ended > start).map(within);
        past.chain(self.pending(now).as_ref().map(within)).sum()
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::{LocalSet, yield_now};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stall_counts_for_the_checks_running_during_it() {
        let mut record = StallRecord { last_tick: Instant::now(), stalls: VecDeque::new() };
        let ms = Duration::from_millis;
        let at = |elapsed: u64| Instant::now() + ms(elapsed);
        for tick in [50, 100, 150] {
            record.tick(at(tick));
        }
        assert_eq!(record.since(at(0), at(150)), Duration::ZERO);
        record.tick(at(5_200));
        assert_eq!(record.since(at(0), at(5_200)), ms(5_000));
        assert_eq!(record.since(at(4_200), at(5_200)), ms(1_000), "only the part after its start");
        assert_eq!(record.since(at(5_200), at(5_200)), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn frequent_polling_does_not_hide_the_stall() {
        let start = Instant::now();
        let mut record = StallRecord { last_tick: start, stalls: VecDeque::new() };
        let ms = Duration::from_millis;
        for asked in (100..2_000).step_by(100) {
            record.since(start, start + ms(asked));
        }
        assert_eq!(record.since(start, start + ms(2_050)), ms(2_000), "the watcher still waits");
        record.tick(start + ms(2_050));
        assert_eq!(record.since(start, start + ms(2_060)), ms(2_000), "counted once");
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_polled_check_sees_the_stall() {
        let work = async {
            let stalls = StallMonitor::watch();
            let start = Instant::now();
            tokio::time::advance(Duration::from_secs(3)).await;
            assert!(stalls.since(start) >= Duration::from_millis(2_900));
            assert_eq!(stalls.since(Instant::now()), Duration::ZERO);
        };
        LocalSet::new().run_until(work).await;
    }

    /// Each poll takes a millisecond, and a thousand tasks wait for one.
    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "it keeps the thread busy on purpose")]
    async fn a_queue_that_is_too_long_is_a_stall() {
        let work = async {
            let stalls = StallMonitor::watch();
            let start = Instant::now();
            for _ in 0..1_000 {
                spawn_local(async move {
                    while start.elapsed() < Duration::from_millis(1_200) {
                        std::thread::sleep(Duration::from_millis(1));
                        yield_now().await;
                    }
                });
            }
            sleep(Duration::from_millis(1_200)).await;
            assert!(stalls.since(start) >= Duration::from_millis(500), "{:?}", stalls.since(start));
        };
        LocalSet::new().run_until(work).await;
    }
}
