//! Metrics of a node in a cluster, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cluster::database_contact::DatabaseContact;
use crate::service_router::ownership::Ownership;
use crate::telemetry::{Exposition, MetricCollector};

/// The metrics of this node.
#[derive(Debug)]
pub struct ClusterCounters {
    /// The partitions that this node owns.
    pub ownership: Ownership,
    /// The time since this node last reached the databases.
    pub contact: DatabaseContact,
    /// Number of partitions that this node has taken, from any node.
    pub taken: AtomicU64,
    /// Number of partitions that this node has taken from dead nodes.
    pub takeovers: AtomicU64,
    /// Number of partitions that this node has released.
    pub released: AtomicU64,
    /// Number of partitions that other nodes have taken from this node.
    pub lost: AtomicU64,
}

impl ClusterCounters {
    /// Creates the metrics of the node with this ownership.
    #[must_use]
    pub fn new(ownership: Ownership, contact: DatabaseContact) -> Self {
        let zero = AtomicU64::default;
        Self { ownership, contact, taken: zero(), takeovers: zero(), released: zero(), lost: zero() }
    }
}

impl MetricCollector for ClusterCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let living = self.ownership.owned().map_or(0, |owned| owned.living.len());
        out.gauge("nodes", "Live engine nodes, as seen by this node.").value(living);
        out.gauge("partitions_owned", "Partitions that this node owns, of 64.")
            .value(self.ownership.ready().len());
        out.gauge("partitions_unowned", "Partitions that no live node owns, as seen by this node.")
            .value(self.ownership.unowned().len());
        out.gauge(
            "nodes_cut_off",
            "Live engine nodes that cannot write to the databases although others can.",
        )
        .value(self.ownership.cut_off().len());
        out.gauge(
            "database_contact_age_seconds",
            "Time since both databases last accepted writes of this node.",
        )
        .value(self.contact.age_ms() / 1_000);
        out.counter("partitions_taken_total", "Partitions that this node has taken.").value(get(&self.taken));
        out.counter("partition_takeovers_total", "Partitions that this node has taken from dead nodes.")
            .value(get(&self.takeovers));
        out.counter("partitions_released_total", "Partitions that this node has released.")
            .value(get(&self.released));
        out.counter("partitions_lost_total", "Partitions that other nodes have taken from this node.")
            .value(get(&self.lost));
    }
}
