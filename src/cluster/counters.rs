//! Numbers of a node among others, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::announcer::ownership::Ownership;
use crate::telemetry::{Collect, Exposition};

/// The numbers of this node.
#[derive(Debug)]
pub struct ClusterCounters {
    /// What it owns.
    pub ownership: Ownership,
    /// Partitions that it has taken, from whomever.
    pub taken: AtomicU64,
    /// Partitions that it has taken from nodes that had died.
    pub takeovers: AtomicU64,
    /// Partitions that it has given back.
    pub released: AtomicU64,
    /// Partitions that others had taken from it.
    pub lost: AtomicU64,
}

impl ClusterCounters {
    /// Numbers of the node that owns this.
    #[must_use]
    pub fn new(ownership: Ownership) -> Self {
        let zero = AtomicU64::default;
        Self { ownership, taken: zero(), takeovers: zero(), released: zero(), lost: zero() }
    }
}

impl Collect for ClusterCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let living = self.ownership.owned().map_or(0, |owned| owned.living.len());
        out.gauge("nodes", "Engine nodes that live, as this one sees them.").value(living);
        out.gauge("partitions_owned", "Partitions of the services that this node watches, of 64.")
            .value(self.ownership.ready().len());
        out.gauge("partitions_unowned", "Partitions that no living node owns, as this one sees them.")
            .value(self.ownership.unowned().len());
        out.counter("partitions_taken_total", "Partitions that this node has taken.").value(get(&self.taken));
        out.counter(
            "partition_takeovers_total",
            "Partitions that this node has taken from nodes that had died.",
        )
        .value(get(&self.takeovers));
        out.counter("partitions_released_total", "Partitions that this node has given back.")
            .value(get(&self.released));
        out.counter("partitions_lost_total", "Partitions that others have taken from this node.")
            .value(get(&self.lost));
    }
}
