//! The partitions that this process may watch; they change when other nodes take or return some.

use actix::{Context, Handler, ResponseFuture};

use crate::engine::fleet::{Fleet, FleetMember, PermitPartitions, ReleasePartitions};
use crate::model::partition::Partition;

impl Handler<PermitPartitions> for Fleet {
    type Result = ();

    fn handle(&mut self, PermitPartitions(partitions): PermitPartitions, _: &mut Context<Self>) {
        self.permitted = self.permitted.union(partitions);
    }
}

/// Removes the services completely: their partition may return, and they are then started like new ones.
impl Handler<ReleasePartitions> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(
        &mut self,
        ReleasePartitions(partitions): ReleasePartitions,
        _: &mut Context<Self>,
    ) -> ResponseFuture<()> {
        self.permitted = self.permitted.without(partitions);
        self.shards.iter().for_each(|shard| shard.note_others());
        let is_released = |member: &FleetMember| partitions.contains(Partition::of(member.definition.key));
        let ended: Vec<_> = self.services.take(is_released).into_iter().map(FleetMember::end).collect();
        self.note_end_of_all();
        Box::pin(async move {
            futures_util::future::join_all(ended).await;
        })
    }
}
