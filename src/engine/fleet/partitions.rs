//! The partitions that this process may watch: other nodes take some and return them.

use actix::{Context, Handler, ResponseFuture};

use crate::engine::fleet::{Fleet, Member, Permit, Release};
use crate::model::partition::Partition;

impl Handler<Permit> for Fleet {
    type Result = ();

    fn handle(&mut self, Permit(partitions): Permit, _: &mut Context<Self>) {
        self.permitted = self.permitted.and(partitions);
    }
}

/// Removes the services completely: their partition may return, and they are then started like new ones.
impl Handler<Release> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Release(partitions): Release, _: &mut Context<Self>) -> ResponseFuture<()> {
        self.permitted = self.permitted.without(partitions);
        self.shards.iter().for_each(|shard| shard.note_others());
        let is_released = |member: &Member| partitions.contains(Partition::of(member.definition.key));
        let ended: Vec<_> = self.services.take(is_released).into_iter().map(Member::end).collect();
        self.note_end_of_all();
        Box::pin(async move {
            futures_util::future::join_all(ended).await;
        })
    }
}
