//! Services that are to be looked at now, because of what happened to others: a service asks what it depends on.

use actix::{Context, Handler};

use crate::engine::fleet::{Fleet, LookAt};
use crate::engine::service::LookNow;

/// Those that are not watched here are left out, and so are those whose mailbox is full: they are looked at in time.
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
