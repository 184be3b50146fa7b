//! The end of all services at once, when the process stops.
//!
//! Each service reports its end to the fleet, so that 100,000 answers need not be awaited one by one.

use actix::{ActorFutureExt as _, Context, Handler, ResponseActFuture, WrapFuture as _};
use tokio::sync::oneshot;

use crate::engine::fleet::{ANSWER_LIMIT, Fleet, RetireAll};
use crate::engine::service::EndWatch;

impl Fleet {
    /// Answers [`RetireAll`] when the last service has ended.
    pub(super) fn note_end_of_all(&mut self) {
        if self.services.is_empty()
            && let Some(notify_ended) = self.all_ended.take()
        {
            // The requester may have stopped waiting.
            let _ = notify_ended.send(());
        }
    }
}

impl Handler<RetireAll> for Fleet {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, _: RetireAll, _: &mut Context<Self>) -> Self::Result {
        self.is_closing = true;
        // A service that has died and waits for its restart ends by not being started.
        self.services.take(|member| !member.address.connected());
        for member in self.services.values() {
            #[expect(clippy::disallowed_methods, reason = "one for each service, and nothing follows it")]
            member.address.do_send(EndWatch);
        }
        let (notify_ended, all_ended) = oneshot::channel();
        self.all_ended = Some(notify_ended);
        self.note_end_of_all();
        let ended = tokio::time::timeout(ANSWER_LIMIT, all_ended);
        Box::pin(ended.into_actor(self).map(|ended, fleet, _| {
            if ended.is_err() {
                tracing::warn!(
                    services = fleet.services.len(),
                    limit_seconds = ANSWER_LIMIT.as_secs(),
                    "services not stopped within the time limit; abandoning them"
                );
                fleet.services.take(|_| true).iter().for_each(|member| member.life.give_up());
            }
        }))
    }
}
