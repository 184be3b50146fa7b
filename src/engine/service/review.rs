//! A location has become blind: what it saw before counts no more, so its services are judged again.

use actix::{Context, Handler, Message};

use crate::engine::service::ServiceActor;
use crate::engine::service::watching::Watching;

/// Judge the service again: other votes count than before.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::engine) struct JudgeAgain;

impl Handler<JudgeAgain> for ServiceActor {
    type Result = ();

    fn handle(&mut self, _: JudgeAgain, ctx: &mut Context<Self>) {
        let now = self.now();
        self.set_votes_aside();
        if let Watching::Checked(watch) = &mut self.watching {
            let effects = watch.judge(now);
            self.apply(effects, ctx);
        }
    }
}
