//! A requested check: every location checks now instead of at its scheduled time.

use actix::{Context, Handler};

use crate::engine::service::watching::Watching;
use crate::engine::service::{LookNow, ServiceActor};

impl Handler<LookNow> for ServiceActor {
    type Result = ();

    fn handle(&mut self, _: LookNow, ctx: &mut Context<Self>) {
        let now = self.now();
        if let Watching::Checked(watch) = &mut self.watching {
            let effects = watch.look_now(now);
            self.apply(effects, ctx);
        }
    }
}
