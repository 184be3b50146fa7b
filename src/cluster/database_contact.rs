//! Contact of this node with both databases, which are asked every second whether they accept writes.
//!
//! Without this check, a node that reaches only the bus would keep its partitions and could report no outage.
//! The lease contains the time since the databases last answered; [`crate::model::lease::cut_off_nodes`]
//! decides the consequences.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, interval};

use crate::store::{Databases, StoreError};

/// The time between two requests.
const EVERY: Duration = Duration::from_secs(1);

/// The time of the last answers of the databases. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DatabaseContact {
    databases: Databases,
    shared: Arc<DatabaseContactState>,
}

#[derive(Debug)]
struct DatabaseContactState {
    answered_at: Mutex<Instant>,
    is_lost: AtomicBool,
}

impl DatabaseContact {
    /// Creates the state as if both databases had just answered: a process starts with working databases.
    #[must_use]
    pub fn new(databases: Databases) -> Self {
        let shared =
            DatabaseContactState { answered_at: Mutex::new(Instant::now()), is_lost: AtomicBool::new(false) };
        Self { databases, shared: Arc::new(shared) }
    }

    /// Returns the time since both databases answered, in milliseconds.
    #[must_use]
    pub fn age_ms(&self) -> i64 {
        let answered_at = *self.shared.answered_at.lock().unwrap_or_else(PoisonError::into_inner);
        i64::try_from(answered_at.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// Asks both databases repeatedly, until the future is dropped.
    pub async fn run(self) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.ask().await;
        }
    }

    /// Asks both databases now; returns true if they accept writes. Waits at most as long as for a database
    /// connection.
    pub async fn ask(&self) -> bool {
        // The time of the request counts: the answer may have been delayed.
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
                    tracing::warn!(
                        %error,
                        "cannot write to the databases; this node takes no more partitions"
                    );
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
