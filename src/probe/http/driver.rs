//! Drives an HTTP connection in the task of its check: no task is spawned, and dropping the check drops everything.
//!
//! HTTP/2 needs an executor for its connection. [`ConnectionTasks`] is an executor that only collects the
//! futures.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::Executor;

type Chore = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks that an HTTP/2 connection spawns.
#[derive(Clone, Default)]
pub(super) struct ConnectionTasks(Arc<Mutex<Vec<Chore>>>);

impl ConnectionTasks {
    fn take(&self) -> Vec<Chore> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Polls all futures, including those added meanwhile.
    fn poll(&self, context: &mut Context<'_>) {
        let mut waiting = Vec::new();
        loop {
            let mut chores = self.take();
            if chores.is_empty() {
                break;
            }
            chores.retain_mut(|chore| chore.as_mut().poll(context).is_pending());
            waiting.append(&mut chores);
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&mut waiting);
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for ConnectionTasks {
    fn execute(&self, future: F) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(future));
    }
}

/// A connection with its futures.
pub(super) struct ConnectionDriver<C> {
    connection: Option<C>,
    chores: Option<ConnectionTasks>,
}

impl<C: Future<Output = hyper::Result<()>> + Unpin> ConnectionDriver<C> {
    pub(super) const fn new(connection: C, chores: Option<ConnectionTasks>) -> Self {
        Self { connection: Some(connection), chores }
    }

    /// Waits for `wanted` while driving the connection. An error of the connection is returned through `wanted`.
    pub(super) async fn until<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = pin!(wanted);
        poll_fn(|context| {
            self.poll_connection(context);
            wanted.as_mut().poll(context)
        })
        .await
    }

    fn poll_connection(&mut self, context: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && let Poll::Ready(_) = Pin::new(connection).poll(context)
        {
            self.connection = None;
        }
        if let Some(chores) = &self.chores {
            chores.poll(context);
        }
    }
}
