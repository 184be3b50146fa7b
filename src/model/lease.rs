//! The living nodes of a cluster, determined by keys on the bus that nodes renew periodically.
//!
//! The server deletes a key some seconds after it was written. This may fail: after a crash, the server can restore keys
//! of nodes that ended long ago, and keep them for good. A key therefore counts only while it is recent by the server's
//! own times. Times of different clocks are never compared, and a step of the server's clock makes a key appear old only
//! until its node writes again.
//!
//! Each key also says how long before the write its node last reached the databases, so that all nodes can detect a
//! single node that cannot reach them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::model::node::NodeName;

/// The key of a node, as the server stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseKey {
    /// Number of the write among all writes of keys; a renewed key has a larger number.
    pub sequence: u64,
    /// Time of the write, by the server's clock, in milliseconds.
    pub written_at_ms: i64,
    /// Time from the node's last contact with both databases to the write, in milliseconds; `None` = the node runs an
    /// earlier version, which does not store this time.
    pub database_age_ms: Option<i64>,
}

impl LeaseKey {
    /// Time of the node's last contact with both databases, by the server's clock, in milliseconds; `None` = unknown.
    fn database_at_ms(&self) -> Option<i64> {
        Some(self.written_at_ms.saturating_sub(self.database_age_ms?))
    }
}

/// Returns the living nodes that have not reached the databases for `cut_off_after`, although another living node
/// reached them that much later. While no node reaches the databases, no node counts as cut off.
#[must_use]
pub fn cut_off_nodes(
    keys: &BTreeMap<NodeName, LeaseKey>,
    living: &BTreeSet<NodeName>,
    cut_off_after: Duration,
) -> BTreeSet<NodeName> {
    let cut_off_after_ms = i64::try_from(cut_off_after.as_millis()).unwrap_or(i64::MAX);
    let living = || keys.iter().filter(|(node, _)| living.contains(*node));
    let Some(newest) = living().filter_map(|(_, key)| key.database_at_ms()).max() else {
        return BTreeSet::new();
    };
    let is_cut_off = |key: &LeaseKey| {
        // The age is checked too: a step of the server's clock makes the difference large until all keys are renewed.
        let is_old = key.database_age_ms.is_some_and(|age| age >= cut_off_after_ms);
        is_old
            && key.database_at_ms().is_some_and(|reached| newest.saturating_sub(reached) >= cut_off_after_ms)
    };
    living().filter(|(_, key)| is_cut_off(key)).map(|(node, _)| node.clone()).collect()
}

/// Watches the keys and determines the living nodes.
#[derive(Debug)]
pub struct LeaseJudge {
    /// Age, by the server's times, above which a key is out of date.
    lives_for: Duration,
    /// Time within which a living node renews its key.
    renews_within: Duration,
    /// The newest sequence of each key, and the time at which this node first saw it.
    seen: BTreeMap<NodeName, ObservedLease>,
}

#[derive(Debug)]
struct ObservedLease {
    sequence: u64,
    since: Duration,
}

impl LeaseJudge {
    /// Creates a judge that has not seen any key.
    #[must_use]
    pub const fn new(lives_for: Duration, renews_within: Duration) -> Self {
        Self { lives_for, renews_within, seen: BTreeMap::new() }
    }

    /// Resets the observations after this node was cut off, because it cannot know which keys were renewed meanwhile.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// Returns the living nodes among those that have keys. `now` is the time since any fixed moment on this node.
    ///
    /// A node counts as dead although its key exists if the newest key was written more than `lives_for` after that key,
    /// and this node has not seen the key renewed for `renews_within`.
    pub fn living(&mut self, keys: &BTreeMap<NodeName, LeaseKey>, now: Duration) -> BTreeSet<NodeName> {
        self.seen.retain(|node, seen| keys.get(node).is_some_and(|key| key.sequence == seen.sequence));
        let newest = keys.values().max_by_key(|key| key.sequence).map_or(0, |key| key.written_at_ms);
        let lives_for_ms = i64::try_from(self.lives_for.as_millis()).unwrap_or(i64::MAX);
        let mut living = BTreeSet::new();
        for (node, key) in keys {
            let fresh = ObservedLease { sequence: key.sequence, since: now };
            let seen = self.seen.entry(node.clone()).or_insert(fresh);
            let is_old = newest.saturating_sub(key.written_at_ms) > lives_for_ms;
            let is_abandoned = now.saturating_sub(seen.since) >= self.renews_within;
            if !(is_old && is_abandoned) {
                living.insert(node.clone());
            }
        }
        living
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A stored key: node, sequence, time of the write by the server's clock in seconds.
    type Found = (&'static str, u64, i64);

    fn living(polls: &[(u64, Vec<Found>)]) -> Vec<String> {
        let mut judge = LeaseJudge::new(Duration::from_secs(8), Duration::from_secs(3));
        let mut living = BTreeSet::new();
        for (now, found) in polls {
            let key = |(name, sequence, seconds): &Found| {
                let key =
                    LeaseKey { sequence: *sequence, written_at_ms: seconds * 1_000, database_age_ms: None };
                (name.parse().unwrap(), key)
            };
            living = judge.living(&found.iter().map(key).collect(), Duration::from_secs(*now));
        }
        living.iter().map(ToString::to_string).collect()
    }

    #[rstest]
    #[case::no_node(vec![(0, vec![])], &[])]
    #[case::all_renew(vec![(0, vec![("a", 1, 100), ("b", 2, 100)]), (9, vec![("a", 9, 109), ("b", 10, 109)])], &["a", "b"])]
    #[case::the_last_renewal_is_within_the_time(vec![(0, vec![("a", 1, 108), ("b", 0, 100)]), (5, vec![("a", 1, 108), ("b", 0, 100)])], &["a", "b"])]
    #[case::a_key_that_came_back(vec![(0, vec![("a", 9, 500), ("c", 1, 100)]), (3, vec![("a", 10, 503), ("c", 1, 100)])], &["a"])]
    #[case::it_was_just_seen(vec![(0, vec![("a", 9, 500), ("c", 1, 100)]), (2, vec![("a", 10, 502), ("c", 1, 100)])], &["a", "c"])]
    #[case::the_node_is_back(vec![(0, vec![("a", 9, 500), ("c", 1, 100)]), (3, vec![("a", 10, 503), ("c", 11, 503)])], &["a", "c"])]
    #[case::the_clock_went_ahead(vec![(0, vec![("a", 1, 100), ("b", 2, 100)]), (1, vec![("a", 3, 9_000), ("b", 2, 100)])], &["a", "b"])]
    #[case::and_all_have_renewed(vec![(0, vec![("a", 1, 100), ("b", 2, 100)]), (4, vec![("a", 3, 9_000), ("b", 4, 9_000)])], &["a", "b"])]
    #[case::the_clock_went_back(vec![(0, vec![("a", 1, 9_000), ("b", 2, 9_000)]), (4, vec![("a", 3, 100), ("b", 4, 100)])], &["a", "b"])]
    #[case::one_that_was_away_came_back_old(vec![(0, vec![("c", 1, 100)]), (1, vec![]), (9, vec![("a", 2, 500), ("c", 1, 100)])], &["a", "c"])]
    fn a_key_counts_while_it_is_renewed(#[case] polls: Vec<(u64, Vec<Found>)>, #[case] expected: &[&str]) {
        assert_eq!(living(&polls), expected);
    }

    /// A node, the time at which its key was written, and how long before the write it had reached the databases, both in
    /// seconds.
    type Said = (&'static str, i64, Option<i64>);

    #[rstest]
    #[case::all_reach_them(&[("a", 100, Some(0)), ("b", 101, Some(1))], &[])]
    #[case::one_does_not(&[("a", 109, Some(0)), ("b", 109, Some(8))], &["b"])]
    #[case::not_yet(&[("a", 109, Some(0)), ("b", 109, Some(7))], &[])]
    #[case::two_do_not(&[("a", 120, Some(1)), ("b", 120, Some(19)), ("c", 120, Some(10))], &["b", "c"])]
    #[case::they_are_away_from_all(&[("a", 160, Some(60)), ("b", 160, Some(62))], &[])]
    #[case::one_died_with_them(&[("a", 108, Some(9)), ("b", 100, Some(0))], &[])]
    #[case::no_other_node_lives(&[("b", 160, Some(60))], &[])]
    #[case::the_clock_went_ahead(&[("a", 9_000, Some(0)), ("b", 101, Some(1))], &[])]
    #[case::an_earlier_version_does_not_say(&[("a", 109, Some(0)), ("b", 100, None)], &[])]
    #[case::and_proves_nothing(&[("a", 109, None), ("b", 109, Some(60))], &[])]
    fn a_node_that_alone_cannot_reach_the_databases_is_cut_off(
        #[case] announced: &[Said],
        #[case] expected: &[&str],
    ) {
        let key = |(name, seconds, age): &Said| {
            let database_age_ms = age.map(|seconds| seconds * 1_000);
            let key = LeaseKey { sequence: 1, written_at_ms: seconds * 1_000, database_age_ms };
            (name.parse().unwrap(), key)
        };
        let keys: BTreeMap<NodeName, LeaseKey> = announced.iter().map(key).collect();
        let living = keys.keys().cloned().collect();
        let found = cut_off_nodes(&keys, &living, Duration::from_secs(8));
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        assert_eq!(cut_off_nodes(&keys, &BTreeSet::new(), Duration::from_secs(8)), BTreeSet::new());
    }
}
