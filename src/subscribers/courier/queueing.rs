//! Facts become messages: one for each active subscriber of a page who wants the news.
//!
//! Each step is a transaction of a few hundred rows, and stores how far it came. Pages take turns, so that one with
//! many subscribers does not hold up the others; the facts of a page are queued in their order.

use crate::model::notification::delivery::GIVEN_UP_AFTER_MS;
use crate::model::subscriber::PageSubscriber;
use crate::store::subscriber_deliveries::{UnqueuedFact, advance, lock_position, queue_fact, unqueued};
use crate::store::{MainError, subscribers};
use crate::subscribers::courier::subscriber_courier::SubscriberCourier;
use crate::subscribers::news::PageNews;

/// Maximum number of pages that take turns.
const PAGES: u64 = 1_000;
/// Number of steps of one turn.
const STEPS: usize = 2;
/// Number of subscribers of one step.
const STEP: u64 = 500;

impl SubscriberCourier {
    /// Queues some facts for some subscribers; returns false if there is nothing to queue.
    pub(super) async fn queue_news(&self, turn: usize) -> Result<bool, MainError> {
        let waiting = unqueued(self.databases.main.reader(), PAGES).await?;
        for step in 0..STEPS.min(waiting.len()) {
            let chosen = (turn.wrapping_mul(STEPS).wrapping_add(step)) % waiting.len();
            self.queue_step(waiting[chosen]).await?;
        }
        Ok(!waiting.is_empty())
    }

    async fn queue_step(&self, of: UnqueuedFact) -> Result<(), MainError> {
        let main = &self.databases.main;
        let now = self.guard.now();
        let news = match PageNews::read(main.reader(), &self.config, of.fact, of.page).await {
            Err(MainError::Corrupt(error)) => {
                tracing::error!(page = of.page, %error, "cannot read news for subscribers; leaving them out");
                None
            }
            read => read?,
        };
        // Facts that could not be sent for a day are not sent any more.
        let news = news.filter(|news| now.ms_since(news.fact.at) < GIVEN_UP_AFTER_MS);
        let transaction = main.begin().await?;
        let Some(position) = lock_position(&transaction, of).await? else { return Ok(()) };
        let Some(news) = news else {
            advance(&transaction, of, None).await?;
            return transaction.commit().await;
        };
        let some = subscribers::active_after(&transaction, of.page, position, STEP).await?;
        let is_wanted = |one: &&PageSubscriber| news.concerns(one) && one.may_read(&news.identity.page);
        let wanted: Vec<&PageSubscriber> = some.iter().filter(is_wanted).collect();
        queue_fact(&transaction, of.fact, &wanted, now).await?;
        let is_last = u64::try_from(some.len()).unwrap_or(u64::MAX) < STEP;
        let next = some.last().map(|last| last.key).filter(|_| !is_last);
        advance(&transaction, of, next).await?;
        transaction.commit().await
    }
}
