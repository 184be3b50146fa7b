//! Immediate checks of services because of what happened to others, for example to those that they depend on.

use actix::{Context, Handler};

use crate::engine::fleet::{Fleet, LookAt};
use crate::engine::service::LookNow;

/// Skips services that are not watched here or whose mailbox is full: they are checked at their scheduled time.
impl Handler<LookAt> for Fleet {
    type Result = ();

    fn handle(&mut self, LookAt(services): LookAt, _: &mut Context<Self>) {
        for member in services.iter().filter_map(|id| self.services.get(id)) {
            if member.address.try_send(LookNow).is_err() {
                tracing::debug!(service = %member.definition.id, "it is not asked to look now");
            }
        }
    }
}
