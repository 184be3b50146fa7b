//! The review of the locations, once a second: when one has become blind, the services learn it at once and not with their next
//! look, which may be far away.

use crate::engine::fleet::Fleet;
use crate::engine::service::review::JudgeAgain;

impl Fleet {
    /// A service whose mailbox is full is judged when it wakes.
    pub(super) fn review_locations(&self) {
        let Some(shard) = self.shards.first() else { return };
        if !shard.roster.review() {
            return;
        }
        for member in self.services.values() {
            if member.address.try_send(JudgeAgain).is_err() {
                tracing::debug!(service = %member.definition.id, "it is judged when it wakes");
            }
        }
    }
}
