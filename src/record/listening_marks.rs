//! Stores when this process listens for pings, so that a later process, or another node, knows when no process
//! listened.
//!
//! `engine::listening` defines listening, and gets a tick from here every second. A killed process counts as having
//! listened until its last mark, at most `KEEP_EVERY` before the kill.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::engine::listening::ListeningTracker;
use crate::id::Id;
use crate::store::listening_spans::{self, ListeningSpan};
use crate::store::{Databases, MainError};

/// The interval between two ticks.
const TICK_EVERY: Duration = Duration::from_secs(1);
/// The interval between two marks; short compared to the intervals of heartbeats.
const KEEP_EVERY: Duration = Duration::from_secs(5);
/// Largest difference in milliseconds between two starts of one span, because clocks drift slowly.
const SAME_MS: i64 = 1_000;

/// Stores the times in which this process listens.
#[derive(Debug)]
pub struct ListeningMarks {
    databases: Databases,
    node: Id,
    /// The row of the current span, and its start.
    present: Mutex<Option<(i64, Timestamp)>>,
}

impl ListeningMarks {
    /// Creates the marks of the process with this data folder.
    #[must_use]
    pub const fn new(databases: Databases, node: Id) -> Self {
        Self { databases, node, present: Mutex::new(None) }
    }

    /// Ticks and marks until the future is dropped.
    pub async fn run(self: Arc<Self>, listening: Arc<ListeningTracker>, guard: Arc<ClockGuard>) {
        let mut ticks = tokio::time::interval(TICK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut marked_at, mut is_failing): (Option<Instant>, bool) = (None, false);
        loop {
            ticks.tick().await;
            listening.tick();
            listening.note_trust(guard.trusted_now().is_some());
            let is_due = marked_at.is_none_or(|at| at.elapsed() >= KEEP_EVERY);
            let Some(span) = listening.stretch().filter(|_| is_due) else { continue };
            let stored = self.keep(span).await;
            marked_at = Some(Instant::now());
            let was_failing = std::mem::replace(&mut is_failing, stored.is_err());
            if let Some(error) = stored.err().filter(|_| !was_failing) {
                tracing::warn!(%error, "cannot store the time in which pings are received; retrying");
            }
        }
    }

    /// Stores the length of the last span, when the process stops listening.
    pub async fn keep_last(&self, span: Option<ListeningSpan>) {
        let Some(span) = span else { return };
        if let Err(error) = self.keep(span).await {
            tracing::warn!(
                %error,
                "cannot store the time of the stop; pings are assumed lost since the last mark"
            );
        }
    }

    /// Stores how long the current span has lasted.
    pub async fn keep(&self, (from, to): ListeningSpan) -> Result<(), MainError> {
        let present = *self.present.lock().unwrap_or_else(PoisonError::into_inner);
        let present = present.filter(|(_, began)| began.ms_since(from).abs() < SAME_MS);
        let transaction = self.databases.main.begin().await?;
        let is_extended = match present {
            Some((key, _)) => listening_spans::extend(&transaction, key, to).await?,
            None => false,
        };
        let inserted = if is_extended {
            None
        } else {
            Some(listening_spans::insert(&transaction, self.node, (from, to)).await?)
        };
        transaction.commit().await?;
        let mut known = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        *known = inserted.map(|key| (key, from)).or(*known);
        drop(known);
        Ok(())
    }
}
