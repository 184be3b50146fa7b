//! The cluster from the point of view of this node: live nodes, owners of partitions, and moves of partitions.

use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::shape::{ApiSchema, integer, list_of, string};
use crate::http::v1::figures::ShareFigures;
use crate::model::node::NodeName;
use crate::model::partition::{PARTITIONS, Partition, PartitionSet};
use crate::service_router::ownership::{Ownership, OwnershipSnapshot};

/// The distribution of the services' partitions among the nodes. Counts start at 0 with the process.
#[derive(Serialize, ToSchema)]
#[schema(as = EngineOwnership)]
pub(super) struct OwnershipView {
    /// The name of this node.
    #[schema(schema_with = node_name)]
    node: String,
    /// True if this node runs the cluster-wide jobs, because it owns the first partition.
    leads: bool,
    /// The number of partitions (of 64) that this node owns.
    #[schema(minimum = 0, maximum = 64)]
    partitions: u32,
    /// The nodes that are live or own partitions, by name, as this node has last read them.
    #[schema(inline)]
    nodes: Vec<NodeView>,
    /// The number of partitions that no node owns.
    #[schema(minimum = 0, maximum = 64)]
    unowned: u32,
    /// The number of partitions that this node has taken, with or without a previous owner.
    #[schema(minimum = 0)]
    taken: u64,
    /// The number of partitions that this node has taken from dead nodes.
    #[schema(minimum = 0)]
    takeovers: u64,
    /// The number of partitions that this node has released.
    #[schema(minimum = 0)]
    released: u64,
    /// The number of partitions that other nodes have taken from this node.
    #[schema(minimum = 0)]
    lost: u64,
    /// The number of results that were refused because another node had taken their partition.
    #[schema(minimum = 0)]
    fenced_results: u64,
    /// The number of status changes that were refused because another node had taken their partition.
    #[schema(minimum = 0)]
    fenced_changes: u64,
}

/// A node of the cluster.
#[derive(Serialize, ToSchema)]
struct NodeView {
    #[schema(schema_with = node_name)]
    name: String,
    /// The number of partitions that the node owns.
    #[schema(minimum = 0, maximum = 64)]
    partitions: u32,
    /// The numbers of the partitions that the node owns.
    #[schema(schema_with = numbers)]
    numbers: Vec<u8>,
    /// True if the node renewed its lease recently enough to count as live.
    is_living: bool,
}

impl OwnershipView {
    /// Creates the view of a node of a cluster; `None` if this node does not belong to a cluster.
    pub(super) fn of(ownership: &Ownership, share: ShareFigures) -> Option<Self> {
        let (member, owned) = (ownership.member()?, ownership.owned()?);
        let names: BTreeSet<&NodeName> = owned.ledger.owners.keys().chain(&owned.living).collect();
        let all = owned.ledger.owners.values().fold(PartitionSet::NONE, |all, some| all.union(*some));
        Some(Self {
            node: member.name.to_string(),
            leads: ownership.leads(),
            partitions: owned.ready.len(),
            nodes: names.into_iter().map(|name| NodeView::of(name, &owned)).collect(),
            unowned: u32::from(PARTITIONS) - all.len(),
            taken: share.taken,
            takeovers: share.takeovers,
            released: share.released,
            lost: share.lost,
            fenced_results: share.fenced_results,
            fenced_changes: share.fenced_changes,
        })
    }
}

impl NodeView {
    fn of(name: &NodeName, owned: &OwnershipSnapshot) -> Self {
        let partitions = owned.ledger.of(name);
        Self {
            name: name.to_string(),
            partitions: partitions.len(),
            numbers: partitions.iter().map(Partition::number).collect(),
            is_living: owned.living.contains(name),
        }
    }
}

fn node_name() -> ApiSchema {
    string().pattern("^[a-z0-9][a-z0-9_-]{0,31}$")
}

fn numbers() -> ApiSchema {
    list_of(integer().at_least(0)).says("From 0 to 63.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::Id;
    use crate::model::ledger::{FencingToken, PartitionLedger};
    use crate::service_router::ownership::NodeIdentity;

    fn some(numbers: impl IntoIterator<Item = u8>) -> PartitionSet {
        numbers.into_iter().filter_map(Partition::new).collect()
    }

    #[test]
    fn a_single_node_has_no_ownership() {
        assert!(OwnershipView::of(&Ownership::alone(), ShareFigures::default()).is_none());
    }

    #[test]
    fn every_node_that_lives_or_owns_partitions_is_shown() {
        let [a, b, c] = ["a", "b", "c"].map(|name| name.parse::<NodeName>().unwrap());
        let ownership = Ownership::clustered(NodeIdentity { name: a.clone(), folder: Id::random() });
        ownership.note_ledger(&PartitionLedger::default().taken(&a, some([0, 2])).taken(&b, some([1])));
        ownership.note_living(&[a, c].into_iter().collect());
        ownership.hold(some([0, 2]), FencingToken { epoch: 1, revision: 1 });
        ownership.note_ready(some([0]));
        let share = ShareFigures { taken: 2, ..ShareFigures::default() };
        let view = serde_json::to_value(OwnershipView::of(&ownership, share)).unwrap();
        let nodes = json!([
            {"name": "a", "partitions": 2, "numbers": [0, 2], "is_living": true},
            {"name": "b", "partitions": 1, "numbers": [1], "is_living": false},
            {"name": "c", "partitions": 0, "numbers": [], "is_living": true},
        ]);
        assert_eq!(view["nodes"], nodes);
        assert_eq!([&view["leads"], &view["partitions"]], [&json!(true), &json!(1)]);
        assert_eq!([&view["unowned"], &view["taken"]], [&json!(61), &json!(2)]);
    }
}
