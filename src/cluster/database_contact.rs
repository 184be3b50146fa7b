//! Whether this node reaches both databases: it asks them every second whether they take writes.
//!
//! A node that reaches the bus alone would keep its share and could tell nobody of an outage. The lease says how long ago
//! the databases answered; [`crate::model::lease::cut_off_nodes`] decides what follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, interval};

use crate::store::{Databases, StoreError};

/// The time between two questions.
const EVERY: Duration = Duration::from_secs(1);

/// When the databases last answered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DatabaseContact {
    databases: Databases,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    answered_at: Mutex<Instant>,
    is_lost: AtomicBool,
}

impl DatabaseContact {
    /// They count as having answered just now: a process starts with them.
    #[must_use]
    pub fn new(databases: Databases) -> Self {
        let shared = Shared { answered_at: Mutex::new(Instant::now()), is_lost: AtomicBool::new(false) };
        Self { databases, shared: Arc::new(shared) }
    }

    /// The time since both answered, in milliseconds.
    #[must_use]
    pub fn age_ms(&self) -> i64 {
        let answered_at = *self.shared.answered_at.lock().unwrap_or_else(PoisonError::into_inner);
        i64::try_from(answered_at.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// Asks them again and again, until the future is dropped.
    pub async fn run(self) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.ask().await;
        }
    }

    /// Asks both now; true if they take writes. It waits no longer than for a connection.
    pub async fn ask(&self) -> bool {
        // The moment of the question counts: the answer may have been under way for long.
        let asked_at = Instant::now();
        let asked = async {
            let Databases { main, history } = &self.databases;
            tokio::try_join!(async { main.ask_for_writes().await.map_err(StoreError::from) }, async {
                history.ask_for_writes().await.map_err(StoreError::from)
            },)
        };
        let is_lost = match asked.await {
            Ok(_) => {
                let mut answered_at = self.shared.answered_at.lock().unwrap_or_else(PoisonError::into_inner);
                *answered_at = asked_at.max(*answered_at);
                false
            }
            Err(error) => {
                if !self.shared.is_lost.load(Ordering::Relaxed) {
                    tracing::warn!(%error, "this node cannot write to the databases; it takes no partitions");
                }
                true
            }
        };
        if self.shared.is_lost.swap(is_lost, Ordering::Relaxed) && !is_lost {
            tracing::info!("this node can write to the databases again");
        }
        !is_lost
    }
}
