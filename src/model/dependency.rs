//! Dependencies of services on other services, which are named one by one or by a tag that they carry.
//!
//! A service never depends on itself, even if it carries the tag. Dependencies must not form a circle: a dependency
//! that would close one is refused, and the error names the circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::service::{NamedService, ServiceKey};

/// Maximum number of dependencies of a service; a tag counts as one.
pub const DEPENDENCIES_MAX: usize = 20;

/// A dependency of a service: another service, or all services with a tag.
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
        /// Text of the tag: `key:value`, or `key` alone.
        label: String,
    },
}

/// The state of a service that fails while one of its dependencies is down, or was down and the service has not been
/// checked since. Whether the service itself works cannot be known in this time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreachableState {
    /// Start of this state.
    pub since: Timestamp,
    /// The dependencies that are down, sorted by name; empty when all of them are back.
    pub because_of: Vec<NamedService>,
}

/// The dependency graph of an organisation, with tags resolved to services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyGraph {
    parents: BTreeMap<ServiceKey, BTreeSet<ServiceKey>>,
    /// The same edges in the other direction: the dependent services of each service.
    children: BTreeMap<ServiceKey, BTreeSet<ServiceKey>>,
}

impl DependencyGraph {
    /// Adds the dependency of `child` on `parent`; a dependency of a service on itself is ignored.
    pub fn add(&mut self, child: ServiceKey, parent: ServiceKey) {
        if child != parent {
            self.parents.entry(child).or_default().insert(parent);
            self.children.entry(parent).or_default().insert(child);
        }
    }

    /// The services on which `service` depends directly.
    pub fn parents_of(&self, service: ServiceKey) -> impl Iterator<Item = ServiceKey> {
        self.parents.get(&service).into_iter().flatten().copied()
    }

    /// The services that depend on `service` directly.
    pub fn children_of(&self, service: ServiceKey) -> impl Iterator<Item = ServiceKey> {
        self.children.get(&service).into_iter().flatten().copied()
    }

    /// Returns true if no service depends on another.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// A circle of dependencies, listed from a service back to the same service; `None` if the graph has no circle.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<ServiceKey>> {
        let mut ends: BTreeSet<ServiceKey> = BTreeSet::new();
        self.parents.keys().find_map(|start| self.cycle_from(*start, &mut ends))
    }

    /// Searches from `start` along the dependencies, depth first. Does not recurse, because a chain may include every
    /// service. Services that lead to no circle are added to `ends`.
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
        /// A circle is found exactly if the services cannot be sorted by dependency, and the listed services form one.
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
