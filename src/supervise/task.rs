//! Background tasks under supervision: a panic is logged and counted, and the task starts again or the process ends.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use crate::supervise::backoff::Backoff;
use crate::supervise::life::{catch_panic, message};
use crate::supervise::{ActorExit, ActorKind, ActorKindCounters, Supervisor};

/// Counts a task as alive until it is dropped.
struct AliveGuard(Arc<ActorKindCounters>);

impl AliveGuard {
    fn new(state: Arc<ActorKindCounters>) -> Self {
        state.note_birth();
        Self(state)
    }
}

impl Drop for AliveGuard {
    fn drop(&mut self) {
        self.0.note_end();
    }
}

impl Supervisor {
    /// Runs a task on the current thread until it ends by itself. `make` creates the task at the start and
    /// after each panic.
    pub fn spawn<F: Future<Output = ()> + 'static>(
        &self,
        kind: ActorKind,
        mut make: impl FnMut() -> F + 'static,
    ) -> JoinHandle<()> {
        let supervisor = self.clone();
        actix::spawn(async move {
            let state = supervisor.kind(kind);
            let mut backoff = Backoff::default();
            loop {
                let alive = AliveGuard::new(Arc::clone(&state));
                let ending = match catch_panic(&mut make) {
                    Ok(task) => AssertUnwindSafe(task).catch_unwind().await.map_err(|panic| message(&*panic)),
                    Err(problem) => Err(problem),
                };
                drop(alive);
                let ending = ending.map_or_else(ActorExit::Panicked, |()| ActorExit::Stopped);
                if !supervisor.note_death(kind, &ending) {
                    return;
                }
                tokio::time::sleep(backoff.next_wait()).await;
                tokio::time::sleep(supervisor.restart_wait()).await;
                state.note_restart();
            }
        })
    }
}
