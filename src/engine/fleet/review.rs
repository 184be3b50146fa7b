//! The review of the locations, once a second: when a location has become blind, its services are notified at once and not
//! only at their next check, which may be far in the future.

use crate::engine::fleet::Fleet;
use crate::engine::service::review::ReevaluateService;

impl Fleet {
    /// Makes all services judge their status again if a location has become blind. A service whose mailbox is
    /// full does so at its next wake-up.
    pub(super) fn review_locations(&self) {
        let Some(shard) = self.shards.first() else { return };
        if !shard.roster.review() {
            return;
        }
        for member in self.services.values() {
            if member.address.try_send(ReevaluateService).is_err() {
                tracing::debug!(
                    service = %member.definition.id,
                    "reevaluation delayed until the next check: the service actor is busy"
                );
            }
        }
    }
}
