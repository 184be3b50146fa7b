//! A location has become blind: its earlier results no longer count, so its services are judged again.

use actix::{Context, Handler, Message};

use crate::engine::service::ServiceActor;
use crate::engine::service::watch_machine::WatchMachine;

/// Judge the service again: the set of votes that count has changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::engine) struct ReevaluateService;

impl Handler<ReevaluateService> for ServiceActor {
    type Result = ();

    fn handle(&mut self, _: ReevaluateService, ctx: &mut Context<Self>) {
        let now = self.now();
        self.set_votes_aside();
        if let WatchMachine::Checked(watch) = &mut self.watching {
            let effects = watch.judge(now);
            self.apply(effects, ctx);
        }
    }
}
