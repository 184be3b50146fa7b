//! The courier of subscribers: queues facts for the subscribers of their pages, sends what is due, and stores the results.
//!
//! Each message is sent at least once, always under the same id: after a kill, an attempt without a stored result is
//! repeated. The messages to one subscriber are sent in their order. Pages take turns, so that a page with many
//! subscribers does not delay the others. If several processes share a database, only the holder of a lock delivers.

mod attempt;
mod mail_pool;
mod news_cache;
mod queueing;
mod running_messages;
mod subscriber_courier;

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::model::subscriber::CONFIRMATION_MS;
use crate::notify::queue_poll::QueuePoll;
use crate::store::notifications::courier::{DeliveryQueue, take_courier_lock};
use crate::store::{AdvisoryLock, MainError, access_links, subscriber_deliveries, subscribers};
use crate::subscribers::courier::running_messages::RunningMessages;
pub use crate::subscribers::courier::subscriber_courier::SubscriberCourier;

/// The poll interval while nothing is due.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// The interval at which the lock is checked.
const CHECK_LOCK: Duration = Duration::from_secs(1);
/// The interval at which old rows are deleted, and expired messages given up.
const TIDY: Duration = Duration::from_secs(60);
/// The wait before the next attempt to take the lock, or to reach the database.
const RETRY: Duration = Duration::from_secs(2);
/// The time for which finished messages are kept, in milliseconds: a week.
const RETENTION_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

impl SubscriberCourier {
    /// Delivers until the future is dropped.
    pub async fn run(self) {
        loop {
            match take_courier_lock(&self.databases.main, DeliveryQueue::Subscribers).await {
                Ok(Some(lock)) => {
                    if let Err(error) = self.deliver(&lock).await {
                        tracing::warn!(%error, "delivery to subscribers interrupted; retrying");
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "cannot take the lock of subscribers; retrying"),
            }
            sleep(RETRY).await;
        }
    }

    /// Delivers for as long as the lock is held and the database answers. What is being sent then comes to its end, so that
    /// no message is sent again because of this.
    async fn deliver(&self, lock: &AdvisoryLock) -> Result<(), MainError> {
        let mut running = RunningMessages::new(self);
        let ended = self.take_turns(lock, &mut running).await;
        running.drain().await?;
        ended
    }

    async fn take_turns(
        &self,
        lock: &AdvisoryLock,
        running: &mut RunningMessages<'_>,
    ) -> Result<(), MainError> {
        let [mut checked, mut tidied] = [None::<Instant>; 2];
        let mut poll = QueuePoll::default();
        let is_time = |last: Option<Instant>, every| last.is_none_or(|at| at.elapsed() >= every);
        for turn in 0_usize.. {
            if is_time(checked, CHECK_LOCK) {
                if !lock.is_held().await {
                    return Ok(());
                }
                checked = Some(Instant::now());
            }
            let is_held = self.hold.is_in_force();
            if !is_held && is_time(tidied, TIDY) {
                self.tidy().await?;
                tidied = Some(Instant::now());
            }
            let (commits, begun) = (self.databases.main.write_commits(), Instant::now());
            let is_due = !running.is_idle() || poll.is_due(commits);
            let is_busy = is_due && self.take_turn(running, turn, is_held).await?;
            if is_due {
                poll.note(is_busy || !running.is_empty_since(begun), commits);
            }
            running.settle(if is_busy { Duration::ZERO } else { POLL_EVERY }).await?;
        }
        Ok(())
    }

    /// Queues some facts and starts due messages; returns true if there was something to do.
    async fn take_turn(
        &self,
        running: &mut RunningMessages<'_>,
        turn: usize,
        is_held: bool,
    ) -> Result<bool, MainError> {
        let has_queued = self.queue_news(turn).await?;
        let has_sent = !is_held && running.send_due().await?;
        Ok(has_queued || has_sent)
    }

    /// Gives up expired messages, and deletes old rows. Does nothing while the wall clock is not trusted.
    async fn tidy(&self) -> Result<(), MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(()) };
        let transaction = self.databases.main.begin().await?;
        subscriber_deliveries::give_up_expired(&transaction, now).await?;
        subscriber_deliveries::forget(&transaction, now.plus_ms(-RETENTION_MS)).await?;
        subscribers::forget_unconfirmed(&transaction, now.plus_ms(-CONFIRMATION_MS)).await?;
        access_links::forget_expired(&transaction, now).await?;
        transaction.commit().await
    }
}
