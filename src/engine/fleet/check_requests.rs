//! Immediate checks of services because of a change of another service, for example one that they depend on.

use actix::{Context, Handler};

use crate::engine::fleet::{CheckServices, Fleet};
use crate::engine::service::CheckNow;

/// Skips services that are not watched here or whose mailbox is full: they are checked at their scheduled time.
impl Handler<CheckServices> for Fleet {
    type Result = ();

    fn handle(&mut self, CheckServices(services): CheckServices, _: &mut Context<Self>) {
        for member in services.iter().filter_map(|id| self.services.get(id)) {
            if member.address.try_send(CheckNow).is_err() {
                tracing::debug!(
                    service = %member.definition.id,
                    "immediate check skipped: the service actor is busy"
                );
            }
        }
    }
}
