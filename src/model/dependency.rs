//! Dependencies of services: on other services, by themselves or by a tag that they carry.
//!
//! A service does not depend on itself, also when it carries the tag. Dependencies must not form a circle: one is
//! refused, and named.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::service::{NamedService, ServiceKey};

/// Maximum number of entries of a service.
pub const DEPENDENCIES_MAX: usize = 20;

/// Something that a service depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A single service.
    Service(NamedService),
    /// Every service that carries the tag.
    Tag {
        /// Key of the row.
        key: i64,
        /// The id that clients see.
        id: Id,
        /// `key:value`, or `key` alone.
        label: String,
    },
}

/// A service fails while one of its dependencies is down, or was down and the service was not checked since: whether
/// it works by itself cannot be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreachableState {
    /// Start of this state.
    pub since: Timestamp,
    /// The dependencies that are down, by name; empty when they are back.
    pub because_of: Vec<NamedService>,
}

/// The dependency graph of an organisation, tags resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyGraph {
    parents: BTreeMap<ServiceKey, BTreeSet<ServiceKey>>,
    /// The same edges, by the service at their other end.
    children: BTreeMap<ServiceKey, BTreeSet<ServiceKey>>,
}

impl DependencyGraph {
    /// A service depends on another one.
    pub fn add(&mut self, child: ServiceKey, parent: ServiceKey) {
        if child != parent {
            self.parents.entry(child).or_default().insert(parent);
            self.children.entry(parent).or_default().insert(child);
        }
    }

    /// The services that this one depends on directly.
    pub fn parents_of(&self, service: ServiceKey) -> impl Iterator<Item = ServiceKey> {
        self.parents.get(&service).into_iter().flatten().copied()
    }

    /// The services that depend on this one directly.
    pub fn children_of(&self, service: ServiceKey) -> impl Iterator<Item = ServiceKey> {
        self.children.get(&service).into_iter().flatten().copied()
    }

    /// Returns true if there are no dependencies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// A circle, from a service over those that it depends on back to itself; `None` when there is none.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<ServiceKey>> {
        let mut ends: BTreeSet<ServiceKey> = BTreeSet::new();
        self.parents.keys().find_map(|start| self.cycle_from(*start, &mut ends))
    }

    /// Walks upwards, depth first, without recursion: a chain may be as long as there are services. Services that
    /// lead to no circle are added to `ends`.
    fn cycle_from(&self, start: ServiceKey, ends: &mut BTreeSet<ServiceKey>) -> Option<Vec<ServiceKey>> {
        if ends.contains(&start) {
            return None;
        }
        let mut way = vec![start];
        let mut waiting: Vec<Vec<ServiceKey>> = vec![self.parents_of(start).collect()];
        while let Some(next) = waiting.last_mut() {
            match next.pop() {
                Some(parent) if ends.contains(&parent) => {}
                Some(parent) => {
                    if let Some(index) = way.iter().position(|known| *known == parent) {
                        way.push(parent);
                        return Some(way.split_off(index));
                    }
                    way.push(parent);
                    waiting.push(self.parents_of(parent).collect());
                }
                None => {
                    waiting.pop();
                    ends.extend(way.pop());
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn graph(edges: &[(ServiceKey, ServiceKey)]) -> DependencyGraph {
        let mut graph = DependencyGraph::default();
        for (child, parent) in edges {
            graph.add(*child, *parent);
        }
        graph
    }

    #[rstest]
    #[case(&[], None)]
    #[case(&[(1, 1)], None)]
    #[case(&[(1, 2), (1, 3), (2, 4), (3, 4)], None)]
    #[case(&[(1, 2), (2, 1)], Some(&[1, 2, 1][..]))]
    #[case(&[(5, 1), (1, 2), (2, 3), (3, 1)], Some(&[1, 2, 3, 1][..]))]
    fn a_circle_is_found_and_named(
        #[case] edges: &[(ServiceKey, ServiceKey)],
        #[case] cycle: Option<&[ServiceKey]>,
    ) {
        assert_eq!(graph(edges).cycle().as_deref(), cycle);
    }

    #[test]
    fn a_long_chain_is_walked() {
        let chain: Vec<(ServiceKey, ServiceKey)> = (0..100_000).map(|key| (key, key + 1)).collect();
        assert_eq!(graph(&chain).cycle(), None);
        assert_eq!(graph(&chain).parents_of(7).collect::<Vec<_>>(), [8]);
        assert_eq!(graph(&chain).children_of(7).collect::<Vec<_>>(), [6]);
    }

    proptest! {
        /// Found exactly where there is no order of all services, and the named services form a circle.
        #[test]
        fn a_circle_is_found_exactly_when_one_exists(edges in prop::collection::vec((0_i64..8, 0_i64..8), 0..20)) {
            let graph = graph(&edges);
            let mut left: Vec<(ServiceKey, ServiceKey)> = edges.into_iter().filter(|(a, b)| a != b).collect();
            loop {
                let children: BTreeSet<ServiceKey> = left.iter().map(|(child, _)| *child).collect();
                let before = left.len();
                left.retain(|(_, parent)| children.contains(parent));
                if left.len() == before {
                    break;
                }
            }
            let cycle = graph.cycle();
            prop_assert_eq!(cycle.is_some(), !left.is_empty());
            for pair in cycle.iter().flat_map(|cycle| cycle.windows(2)) {
                prop_assert!(graph.parents_of(pair[0]).any(|parent| parent == pair[1]));
            }
        }
    }
}
