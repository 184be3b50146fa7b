//! Tasks that run on a thread and end before it does: the resources of a running query can only be dropped within the
//! runtime of its thread.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use tokio::task::JoinHandle;

/// The tasks of one thread. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RunningTasks(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl RunningTasks {
    /// Adds tasks that are already running.
    pub fn add(&self, tasks: Vec<JoinHandle<()>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(tasks);
    }

    /// Cancels all tasks; returns once their resources are dropped.
    pub async fn end(&self) {
        let tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.iter().for_each(JoinHandle::abort);
        join_all(tasks).await;
    }
}

#[cfg(test)]
mod tests {
    use actix::Arbiter;
    use tokio::sync::oneshot;

    use super::*;

    /// A resource like a database connection that is returned to its pool during a query.
    struct NeedsRuntime(Option<oneshot::Sender<bool>>);

    impl Drop for NeedsRuntime {
        fn drop(&mut self) {
            let has_runtime = tokio::runtime::Handle::try_current().is_ok();
            let _ = self.0.take().map(|dropped| dropped.send(has_runtime));
        }
    }

    #[actix::test]
    async fn values_of_a_task_are_dropped_inside_its_runtime() {
        let (thread, running, (sender, dropped)) =
            (Arbiter::new(), RunningTasks::default(), oneshot::channel());
        let (began, begun) = oneshot::channel();
        let noted = running.clone();
        thread.spawn_fn(move || {
            let held = NeedsRuntime(Some(sender));
            let task = actix::spawn(async move {
                let _ = began.send(());
                let _held = held;
                std::future::pending::<()>().await;
            });
            noted.add(vec![task]);
        });
        begun.await.unwrap();
        running.end().await;
        thread.stop();
        assert_eq!(dropped.await, Ok(true));
    }
}
