//! A location has become blind: its earlier results no longer count, so its services are judged again.

use actix::{Context, Handler, Message};

use crate::engine::service::ServiceActor;
use crate::engine::service::watching::Watching;

/// Judge the service again: the set of votes that count has changed.
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
