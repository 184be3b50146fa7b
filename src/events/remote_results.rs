//! The results that other nodes store, polled four times a second while there are listeners.
//!
//! A node that does not answer is polled again from the same position. If results are missing nevertheless (the node has
//! restarted or is gone), listeners to results are disconnected, and read them from the history when they reconnect.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::MissedTickBehavior;

use crate::clock::guard::ClockGuard;
use crate::model::history::CheckRecord;
use crate::model::node::NodeName;
use crate::service_router::ServiceRouter;
use crate::service_router::recent_results::{ResultPosition, ResultsReply, ResultsRequest};

/// The poll interval.
const EVERY: Duration = Duration::from_millis(250);
/// Maximum number of consecutive requests to one node.
const IN_A_ROW: usize = 20;
/// Maximum number of waiting results of other nodes.
const WAITING: usize = 50_000;

/// The results received from other nodes.
#[derive(Debug, Default)]
pub(super) struct RemoteResults(Mutex<RemoteResultsState>);

#[derive(Debug, Default)]
struct RemoteResultsState {
    nodes: BTreeMap<NodeName, NodeProgress>,
    results: Vec<CheckRecord>,
    is_missing_some: bool,
    has_begun: bool,
}

/// Progress in reading the results of a node.
#[derive(Clone, Copy, Debug)]
struct NodeProgress {
    position: Option<ResultPosition>,
    /// Unix time in milliseconds: all results that the node had stored by then have been received.
    received_at_ms: i64,
}

/// The results received since the last call.
#[derive(Debug)]
pub(super) struct ReceivedResults {
    /// The results, without duplicates.
    pub(super) results: Vec<CheckRecord>,
    /// True if results of a node are missing.
    pub(super) is_missing_some: bool,
    /// Unix time in milliseconds up to which the stored results of every node have been received; `None` = there is no other
    /// node.
    pub(super) received_at_ms: Option<i64>,
}

impl RemoteResults {
    /// Asks all other nodes for their present positions; results after these positions are published.
    pub(super) async fn query_positions(&self, router: &ServiceRouter, guard: &ClockGuard) {
        self.ask(router, guard, false).await;
        self.state().has_begun = true;
    }

    /// Polls the other nodes, until the future is dropped.
    pub(super) async fn poll_nodes(
        &self,
        router: &ServiceRouter,
        guard: &ClockGuard,
        is_wanted: impl Fn() -> bool,
    ) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.ask(router, guard, is_wanted()).await;
        }
    }

    pub(super) fn take(&self) -> ReceivedResults {
        let mut state = self.state();
        ReceivedResults {
            results: std::mem::take(&mut state.results),
            is_missing_some: std::mem::take(&mut state.is_missing_some),
            received_at_ms: state.nodes.values().map(|node| node.received_at_ms).min(),
        }
    }

    async fn ask(&self, router: &ServiceRouter, guard: &ClockGuard, wants_results: bool) {
        let nodes = router.living_peers();
        let now_ms = guard.now().ms();
        self.state().set_nodes(&nodes, now_ms);
        join_all(nodes.iter().map(async |node| {
            for _ in 0..IN_A_ROW {
                let asked_at_ms = guard.now().ms();
                let after = ResultsRequest { position: self.state().position_of(node), wants_results };
                let Some(recent) = router.fetch_results(node.clone(), after).await else { return };
                let has_more = recent.has_more;
                self.state().note(node, recent, asked_at_ms);
                if !has_more {
                    return;
                }
            }
        }))
        .await;
    }

    fn state(&self) -> MutexGuard<'_, RemoteResultsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteResultsState {
    /// Sets which other nodes exist. If a node has gone, its last results may be missing, which is noted.
    fn set_nodes(&mut self, nodes: &[NodeName], now_ms: i64) {
        let before = self.nodes.len();
        self.nodes.retain(|node, _| nodes.contains(node));
        self.is_missing_some |= self.nodes.len() < before;
        for node in nodes {
            self.nodes.entry(node.clone()).or_insert(NodeProgress { position: None, received_at_ms: now_ms });
        }
    }

    fn position_of(&self, node: &NodeName) -> Option<ResultPosition> {
        self.nodes.get(node)?.position
    }

    fn note(&mut self, node: &NodeName, recent: ResultsReply, asked_at_ms: i64) {
        let Some(known) = self.nodes.get_mut(node) else { return };
        let is_first = known.position.is_none() && !self.has_begun;
        known.position = Some(recent.position);
        if !recent.has_more {
            known.received_at_ms = asked_at_ms;
        }
        self.is_missing_some |= !recent.is_whole && !is_first;
        self.results.extend(recent.results);
        if self.results.len() > WAITING {
            self.results.clear();
            self.is_missing_some = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn recent(position: ResultPosition, is_whole: bool) -> ResultsReply {
        ResultsReply { position, results: Vec::new(), is_whole, has_more: false }
    }

    /// A known node answers, restarts its numbering, and disappears; another node appears.
    #[test]
    fn a_subscriber_restarts_only_when_results_are_missing() {
        let remote = RemoteResults::default();
        let [first, second]: [NodeName; 2] = ["a", "b"].map(|name| name.parse().unwrap());
        let position = ResultPosition { epoch: Id::random(), number: 0 };
        let know = |nodes: &[&NodeName], now_ms| {
            let nodes: Vec<NodeName> = nodes.iter().map(|node| (*node).clone()).collect();
            remote.state().set_nodes(&nodes, now_ms);
        };
        let note = |node, recent, at_ms| remote.state().note(node, recent, at_ms);
        let taken = || {
            let taken_results = remote.take();
            (taken_results.is_missing_some, taken_results.received_at_ms)
        };
        assert_eq!(taken(), (false, None), "there is no other node");
        know(&[&first], 10);
        note(&first, recent(position, false), 11);
        remote.state().has_begun = true;
        assert_eq!(taken(), (false, Some(11)), "it has just begun");
        note(&first, recent(position, true), 20);
        assert_eq!(taken(), (false, Some(20)));
        note(&first, recent(ResultPosition { epoch: Id::random(), ..position }, false), 30);
        assert_eq!(taken(), (true, Some(30)), "it has begun anew");
        know(&[&first, &second], 40);
        assert_eq!(taken(), (false, Some(30)));
        note(&second, recent(position, false), 41);
        assert_eq!(taken(), (true, Some(30)), "it had stored some before it was asked");
        know(&[&second], 50);
        assert_eq!(taken(), (true, Some(41)), "what it stored at last is not known");
    }
}
