//! The courier: takes due messages from the outbox, lets the carrier send them, and stores the results.
//!
//! Each message is sent at least once, always under the same id: after a kill, an attempt without a stored result is
//! repeated. Messages of a channel about one subject are sent one at a time (mails: one at a time per contact); the next
//! one follows when the result of the previous one is committed. Organisations, channels and recipients share the capacity
//! (`model::notification::fair_share`). If several processes share a database, only the holder of a lock delivers.

mod attempt;
mod channel_turns;
mod running_deliveries;
mod steps;
mod template_report;

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};

pub use attempt::{Courier, chance};

use crate::notify::courier::running_deliveries::RunningDeliveries;
use crate::notify::queue_poll::QueuePoll;
use crate::store::notifications::courier::{
    DeliveryQueue, backlog, bring_all_forward, forget, take_courier_lock,
};
use crate::store::notifications::order::release_stranded;
use crate::store::{AdvisoryLock, MainError, subscriber_facts};

/// The poll interval of the outbox while nothing is due.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// The interval of rare maintenance work.
const TIDY: Duration = Duration::from_secs(10);
/// The poll interval of escalation steps.
const ESCALATE: Duration = Duration::from_secs(1);
/// The interval at which expired messages are given up.
const GIVE_UP: Duration = Duration::from_secs(60);
/// The interval at which old rows are deleted.
const FORGET: Duration = Duration::from_secs(3_600);
/// The wait before the next attempt to take the lock, or to reach the database.
const RETRY: Duration = Duration::from_secs(2);
/// The time for which finished messages are kept, in milliseconds.
const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

impl Courier {
    /// Delivers until the future is dropped.
    pub async fn run(self) {
        loop {
            match take_courier_lock(&self.databases.main, DeliveryQueue::Alerts).await {
                Ok(Some(lock)) => {
                    if let Err(error) = self.deliver(&lock).await {
                        tracing::warn!(%error, "message delivery interrupted; retrying");
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "cannot take the delivery lock; retrying"),
            }
            sleep(RETRY).await;
        }
    }

    /// Delivers for as long as the lock is held and the database answers.
    async fn deliver(&self, lock: &AdvisoryLock) -> Result<(), MainError> {
        let mut round = RunningDeliveries::new(self);
        let transaction = self.databases.main.begin().await?;
        bring_all_forward(&transaction, self.guard.now()).await?;
        transaction.commit().await?;
        let [mut tidied, mut escalated, mut given_up, mut forgotten] = [None::<Instant>; 4];
        let (mut newest, mut poll) = (None, QueuePoll::default());
        let is_time = |last: Option<Instant>, every| last.is_none_or(|at| at.elapsed() >= every);
        loop {
            if is_time(tidied, TIDY) {
                if !lock.is_held().await {
                    return Ok(());
                }
                self.tidy().await?;
                tidied = Some(Instant::now());
            }
            let is_held = self.hold.is_in_force();
            if !is_held && is_time(given_up, GIVE_UP) {
                round.give_up_expired().await?;
                given_up = Some(Instant::now());
            }
            if is_time(forgotten, FORGET) && self.forget_old().await? {
                forgotten = Some(Instant::now());
            }
            if is_time(escalated, ESCALATE) {
                self.take_due_steps(&mut newest).await?;
                escalated = Some(Instant::now());
            }
            let has_sent = !is_held && self.poll(&mut round, &mut poll).await?;
            round.settle(if has_sent { Duration::ZERO } else { POLL_EVERY }).await?;
        }
    }

    /// Starts due attempts, unless nothing can have become due since the last poll.
    async fn poll(&self, round: &mut RunningDeliveries<'_>, poll: &mut QueuePoll) -> Result<bool, MainError> {
        let commits = self.databases.main.write_commits();
        if round.is_idle() && !poll.is_due(commits) {
            return Ok(false);
        }
        let has_sent = round.send_due().await?;
        poll.note(has_sent || round.has_due(), commits);
        Ok(has_sent)
    }

    /// Runs infrequent maintenance tasks, and counts waiting messages.
    async fn tidy(&self) -> Result<(), MainError> {
        let now = self.guard.now();
        let main = &self.databases.main;
        let waiting = backlog(main.reader(), now).await?;
        let seconds = waiting.oldest.map_or(0, |oldest| now.ms_since(oldest) / 1_000);
        self.counters.waiting.store(waiting.waiting, Ordering::Relaxed);
        self.counters.oldest_seconds.store(u64::try_from(seconds).unwrap_or_default(), Ordering::Relaxed);
        if waiting.waiting > 0 {
            let transaction = main.begin().await?;
            release_stranded(&transaction, now).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Deletes old rows. Returns false while the wall clock is not trusted: then nothing is deleted.
    async fn forget_old(&self) -> Result<bool, MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(false) };
        let transaction = self.databases.main.begin().await?;
        forget(&transaction, now.plus_ms(-RETENTION_MS)).await?;
        subscriber_facts::forget(&transaction, now).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
