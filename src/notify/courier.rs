//! The courier: takes what is due from the outbox, lets the carrier send it, and writes down what came of it.
//!
//! Each message is sent at least once, always under the same id: what was sent but not written down before a kill is sent again.
//! Of a channel's messages about one subject one at a time is under way, mails to each contact by themselves, and the next goes
//! when the end of the one before it is committed. Organisations, channels and recipients share what can be under way
//! (`model::notification::fair_share`). Among several processes on one database the holder of a lock delivers.

mod attempt;
mod reading;
mod round;
mod steps;
mod template_report;

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};

pub use attempt::Courier;

use crate::notify::courier::round::Round;
use crate::store::notifications::courier::{CourierLock, backlog, bring_all_forward, forget};
use crate::store::notifications::order::release_stranded;
use crate::store::{MainError, subscriber_facts};

/// The time between two looks at the outbox while nothing comes.
const LOOK: Duration = Duration::from_millis(200);
/// The time between two looks at what is rarely wrong.
const TIDY: Duration = Duration::from_secs(10);
/// The time between two looks at steps of escalations.
const ESCALATE: Duration = Duration::from_secs(1);
/// The time between two looks at what has expired.
const GIVE_UP: Duration = Duration::from_secs(60);
/// The time between two deletions of what is old.
const FORGET: Duration = Duration::from_secs(3_600);
/// The wait before the next attempt to take the lock, or to reach the database.
const RETRY: Duration = Duration::from_secs(2);
/// The time for which messages that have ended can be looked at, in milliseconds.
const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

impl Courier {
    /// Delivers until the future is dropped.
    pub async fn run(self) {
        loop {
            match CourierLock::take(&self.databases.main).await {
                Ok(Some(lock)) => {
                    if let Err(error) = self.deliver(&lock).await {
                        tracing::warn!(%error, "messages wait: the main database cannot be used");
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "messages wait: the main database cannot be used"),
            }
            sleep(RETRY).await;
        }
    }

    /// Delivers for as long as the lock is held and the database answers.
    async fn deliver(&self, lock: &CourierLock) -> Result<(), MainError> {
        let mut round = Round::new(self);
        let transaction = self.databases.main.begin().await?;
        bring_all_forward(&transaction, self.guard.now()).await?;
        transaction.commit().await?;
        let [mut tidied, mut escalated, mut given_up, mut forgotten] = [None::<Instant>; 4];
        let mut newest = None;
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
            let has_sent = !is_held && round.send_due().await?;
            round.settle(if has_sent { Duration::ZERO } else { LOOK }).await?;
        }
    }

    /// Looks at what is rarely wrong, and counts what waits.
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

    /// Deletes what is old. Returns false while the wall clock is doubted: then nothing is old.
    async fn forget_old(&self) -> Result<bool, MainError> {
        let Some(now) = self.guard.trusted_now() else { return Ok(false) };
        let transaction = self.databases.main.begin().await?;
        forget(&transaction, now.plus_ms(-KEPT_MS)).await?;
        subscriber_facts::forget(&transaction, now).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
