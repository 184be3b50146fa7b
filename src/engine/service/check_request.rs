//! A requested check: every location checks now instead of at its scheduled time.

use actix::{Context, Handler};

use crate::engine::service::watch_machine::WatchMachine;
use crate::engine::service::{CheckNow, ServiceActor};

impl Handler<CheckNow> for ServiceActor {
    type Result = ();

    fn handle(&mut self, _: CheckNow, ctx: &mut Context<Self>) {
        let now = self.now();
        if let WatchMachine::Checked(watch) = &mut self.watching {
            let effects = watch.check_all_now(now);
            self.apply(effects, ctx);
        }
    }
}
