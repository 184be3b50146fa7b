//! Keeps this node's share of the partitions, in steps that are each written to the ledger by compare-and-swap.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::bus::connection::BusConnection;
use crate::bus::leases::{self, LIVES_FOR, LeaseSnapshot};
use crate::bus::{result_stream, streams};
use crate::cluster::counters::ClusterCounters;
use crate::cluster::database_contact::DatabaseContact;
use crate::cluster::handover::PartitionHandover;
use crate::config::limits::BusLimits;
use crate::model::lease::{LeaseJudge, cut_off_nodes};
use crate::model::ledger::{FencingToken, PartitionLedger, RebalanceStep};
use crate::model::node::NodeName;
use crate::model::partition::PartitionSet;
use crate::service_router::ownership::NodeIdentity;
use crate::store::{HistoryError, StoreError};

/// The poll interval of the ledger; changes are noticed at once.
const EVERY: Duration = Duration::from_secs(1);
/// After this time without a poll, a node cannot know which other nodes died in the meantime.
const BLIND_AFTER: Duration = Duration::from_secs(3);
/// A living node renews its key within this time, even on a slow machine.
const RENEWS_WITHIN: Duration = Duration::from_secs(3);
/// A node that has not reached the databases for this long, while another has, seems disconnected from them.
const CUT_OFF_AFTER: Duration = Duration::from_secs(6);
/// A node that has seemed disconnected for this long releases its partitions. After a failure of the databases
/// one node reaches them first, which must not count.
const CUT_OFF_FOR: Duration = Duration::from_secs(4);
/// Time limit for starting partitions.
const BEGIN_WITHIN: Duration = Duration::from_secs(45);
/// Time after which a node that reads the ledger again has stored all results that it measured in isolation.
const ISOLATION_ENDS: Duration = Duration::from_secs(60);
/// The poll interval of the database while the bus is unavailable.
const GO_ON_EVERY: Duration = Duration::from_secs(5);
/// Maximum number of attempts to leave; an attempt fails if another node changes the ledger at the same time.
const ATTEMPTS: u32 = 20;

/// The dependencies of a keeper.
#[derive(Debug)]
pub struct PartitionKeeperParts {
    /// Connection to the bus.
    pub connection: BusConnection,
    /// Starts and ends the watch of services.
    pub handover: PartitionHandover,
    /// Contact of this node with the databases.
    pub contact: DatabaseContact,
    /// Limits of the streams' sizes.
    pub limits: BusLimits,
    /// Counters of this node, for `/metrics`.
    pub counters: Arc<ClusterCounters>,
    /// True when this node is about to end.
    pub is_leaving: watch::Receiver<bool>,
    /// Receives the time of every poll.
    pub poll_time: watch::Sender<Instant>,
}

/// Keeps this node's share of the partitions.
#[derive(Debug)]
pub struct PartitionKeeper {
    connection: BusConnection,
    handover: PartitionHandover,
    contact: DatabaseContact,
    limits: BusLimits,
    counters: Arc<ClusterCounters>,
    is_leaving: watch::Receiver<bool>,
    poll_time: watch::Sender<Instant>,
    held: PartitionSet,
    /// The time since which this node has seen every change, and the time of the last poll.
    seeing_since: Instant,
    polled_at: Instant,
    /// Decides which keys count, with times since the start of this keeper.
    judge: LeaseJudge,
    started_at: Instant,
    /// The time at which the database was last asked for held partitions.
    asked_at: Option<Instant>,
    /// Smallest epoch of valid fencing tokens. Tokens of a lost lease store are invalid, however large they are.
    epoch_floor: i64,
    is_failing: bool,
    /// Keys that are not leases of this program and are already logged.
    foreign: BTreeSet<String>,
    /// Times since which living nodes seem disconnected from the databases.
    cut_off_since: BTreeMap<NodeName, Instant>,
}

impl PartitionKeeper {
    /// Creates a keeper without partitions.
    #[must_use]
    pub fn new(parts: PartitionKeeperParts) -> Self {
        let PartitionKeeperParts { connection, handover, contact, limits, counters, is_leaving, poll_time } =
            parts;
        let now = Instant::now();
        Self {
            connection,
            handover,
            contact,
            limits,
            counters,
            is_leaving,
            poll_time,
            held: PartitionSet::NONE,
            seeing_since: now,
            polled_at: now,
            judge: LeaseJudge::new(LIVES_FOR, RENEWS_WITHIN),
            started_at: now,
            asked_at: None,
            epoch_floor: i64::MIN,
            is_failing: false,
            foreign: BTreeSet::new(),
            cut_off_since: BTreeMap::new(),
        }
    }

    /// Keeps the share until this node has to end; then releases everything.
    pub async fn run(mut self) {
        // An earlier process or run of this task may have watched some partitions.
        self.handover.lose(PartitionSet::ALL).await;
        loop {
            let Ok(changes) = leases::changes(&self.connection).await else { return };
            let mut changes = changes.ready_chunks(64);
            let mut leaving = self.is_leaving.clone();
            loop {
                if *self.is_leaving.borrow() {
                    return self.leave().await;
                }
                let is_settled = self.check_leases().await;
                if is_settled {
                    tokio::select! {
                        changed = timeout(EVERY, changes.next()) => if matches!(changed, Ok(None)) { break },
                        _ = leaving.changed() => {}
                    }
                }
            }
        }
    }

    /// Polls the leases, and takes the next step; returns false if there is more to do at once.
    async fn check_leases(&mut self) -> bool {
        if self.polled_at.elapsed() > BLIND_AFTER {
            self.forget_observations();
        }
        self.polled_at = Instant::now();
        self.poll_time.send_replace(self.polled_at);
        let overtaken = self.handover.router.ownership.take_overtaken();
        self.note_lost(self.held.common(overtaken)).await;
        match self.take_step().await {
            Ok(is_settled) => {
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("updating the partitions of this node works again");
                }
                is_settled
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(
                        error,
                        "cannot take or release partitions; keeping those that this node has"
                    );
                }
                self.forget_observations();
                self.resume_without_bus().await;
                // The server may have lost its streams.
                if self.connection.state().is_connected()
                    && let Err(error) = streams::prepare(self.connection.jetstream(), &self.limits).await
                {
                    tracing::debug!(%error, "cannot prepare the NATS streams; retrying");
                }
                sleep(EVERY / 4).await;
                true
            }
        }
    }

    /// Takes one step towards this node's share of the partitions.
    async fn take_step(&mut self) -> Result<bool, String> {
        if !self.connection.state().is_connected() {
            return Err("the bus is not connected".into());
        }
        let leases = self.read().await?;
        let NodeIdentity { name: me, folder } = self.handover.member.clone();
        if leases::folder_of(&self.connection, &me).await?.is_some_and(|other| other != folder) {
            // Another process has this node's name and its lease.
            self.note_lost(self.held).await;
            return Ok(true);
        }
        if leases.is_new() && !self.held.is_empty() {
            // The store of the leases was lost. This node keeps its partitions.
            return self.take_partitions(&leases, &leases.living, self.held).await;
        }
        self.handover.router.ownership.note_ledger(&leases.ledger);
        self.handover.router.ownership.note_living(&leases.living);
        let mine = leases.ledger.of(&me);
        self.note_lost(self.held.without(mine)).await;
        if !leases.living.contains(&me) {
            return Ok(true);
        }
        if leases.ledger.leaving.contains(&me) {
            let back = pruned(leases.ledger.taken(&me, PartitionSet::NONE), &leases);
            return leases::change(&self.connection, &leases, &back).await.map(|_| false);
        }
        let living = self.living(&leases);
        let cut_off = self.nodes_cut_off_too_long(cut_off_nodes(&leases.keys, &leases.living, CUT_OFF_AFTER));
        self.handover.router.ownership.note_cut_off(&cut_off);
        let RebalanceStep { release, take } = leases.ledger.without_nodes(&cut_off).plan_step(&me, &living);
        if !release.is_empty() {
            if cut_off.contains(&me) {
                tracing::error!(
                    partitions = release.len(),
                    "releasing partitions: this node cannot write to the databases, and others can"
                );
            }
            return self.release(&leases, release).await;
        }
        // Partitions in the ledger that this node does not hold are from before its restart.
        let take = take.union(mine.without(self.held));
        if take.is_empty() {
            return Ok(true);
        }
        self.take_partitions(&leases, &living, take).await
    }

    /// Records that this node may have missed changes until now.
    fn forget_observations(&mut self) {
        self.seeing_since = Instant::now();
        self.judge.forget();
    }

    /// Returns the nodes among these that have seemed disconnected from the databases for long enough.
    fn nodes_cut_off_too_long(&mut self, nodes: BTreeSet<NodeName>) -> BTreeSet<NodeName> {
        self.cut_off_since.retain(|node, _| nodes.contains(node));
        let mut since =
            |node: &NodeName| *self.cut_off_since.entry(node.clone()).or_insert_with(Instant::now);
        nodes
            .into_iter()
            .map(|node| (since(&node), node))
            .filter(|(since, _)| since.elapsed() >= CUT_OFF_FOR)
            .map(|(_, node)| node)
            .collect()
    }

    /// Reads the leases, without nodes that are dead although their keys exist.
    async fn read(&mut self) -> Result<LeaseSnapshot, String> {
        let mut leases = leases::read(&self.connection).await?;
        leases.living = self.judge.living(&leases.keys, self.started_at.elapsed());
        for key in leases.foreign.difference(&self.foreign) {
            tracing::warn!(key, "key ignored: not a lease of a node");
        }
        self.foreign.clone_from(&leases.foreign);
        Ok(leases)
    }

    /// Returns the nodes that count as living. A node without a key counts as dead only if this node has
    /// observed the leases for as long as a lease lives: after an outage of the bus all keys are gone.
    fn living(&self, leases: &LeaseSnapshot) -> BTreeSet<NodeName> {
        let mut living = leases.living.clone();
        if self.seeing_since.elapsed() < LIVES_FOR {
            living.extend(leases.ledger.owners.keys().cloned());
        }
        living
    }

    /// While the bus is unavailable, continues with this node's partitions according to the database, except those that
    /// the ledger gave to others: no other node can have taken them without a record in the database.
    async fn resume_without_bus(&mut self) {
        if self.asked_at.is_none_or(|asked_at| asked_at.elapsed() > GO_ON_EVERY) {
            self.asked_at = Some(Instant::now());
            let (ownership, me) = (&self.handover.router.ownership, &self.handover.member.name);
            let ledger = ownership.owned().unwrap_or_default().ledger;
            let of_others = ledger.owners.iter().filter(|(node, _)| *node != me);
            let taken = of_others.fold(self.held, |taken, (_, others)| taken.union(*others));
            match self.handover.begin_held(taken).await {
                Ok(more) => self.held = self.held.union(more),
                Err(error) => tracing::warn!(
                    %error,
                    "cannot read the partitions that this node held; retrying"
                ),
            }
        }
    }

    async fn note_lost(&mut self, lost: PartitionSet) {
        if lost.is_empty() {
            return;
        }
        tracing::warn!(partitions = lost.len(), "partitions taken by another node");
        self.held = self.held.without(lost);
        self.counters.lost.fetch_add(lost.len().into(), Ordering::Relaxed);
        self.handover.lose(lost).await;
    }

    async fn release(&mut self, leases: &LeaseSnapshot, partitions: PartitionSet) -> Result<bool, String> {
        self.handover.end(partitions).await;
        self.held = self.held.without(partitions);
        let after = pruned(leases.ledger.released(partitions), leases);
        let changed = leases::change(&self.connection, leases, &after).await?;
        if changed.is_some() {
            tracing::info!(partitions = partitions.len(), "partitions released");
            self.handover.router.ownership.let_go(partitions);
            self.counters.released.fetch_add(partitions.len().into(), Ordering::Relaxed);
        }
        Ok(false)
    }

    async fn take_partitions(
        &mut self,
        leases: &LeaseSnapshot,
        living: &BTreeSet<NodeName>,
        partitions: PartitionSet,
    ) -> Result<bool, String> {
        let me = &self.handover.member.name;
        let dead = leases.ledger.owners.keys().filter(|owner| !living.contains(*owner));
        let dead: Vec<NodeName> = dead.cloned().collect();
        if !self.handover.is_stored().await && self.seeing_since.elapsed() < ISOLATION_ENDS {
            // Results measured in isolation would be published after later ones of other nodes.
            return Err("results measured in isolation are not stored yet".into());
        }
        // Asked before the ledger is changed: otherwise other nodes would believe that the services are watched.
        if !self.contact.ask().await {
            return Ok(true);
        }
        for node in &dead {
            tracing::warn!(%node, "node is dead; taking over its partitions");
            // The node's unacknowledged batches are then delivered at once, not after their timeout.
            if let Err(error) = result_stream::close(&self.connection, node).await {
                tracing::warn!(%node, error, "cannot delete the result consumer of the dead node");
            }
        }
        let after = pruned(leases.ledger.taken(me, partitions), leases);
        let Some(fence) = leases::change(&self.connection, leases, &after).await? else { return Ok(false) };
        self.handover.router.ownership.note_ledger(&after);
        let fence = FencingToken { epoch: fence.epoch.max(self.epoch_floor), ..fence };
        self.begin(partitions, fence).await?;
        self.held = self.held.union(partitions);
        self.counters.taken.fetch_add(partitions.len().into(), Ordering::Relaxed);
        let from_dead = dead.iter().fold(PartitionSet::NONE, |had, node| had.union(leases.ledger.of(node)));
        let taken_over = partitions.common(from_dead).len();
        self.counters.takeovers.fetch_add(taken_over.into(), Ordering::Relaxed);
        Ok(false)
    }

    /// Starts partitions, with a time limit: a database that does not answer must not block this node.
    async fn begin(&mut self, partitions: PartitionSet, fence: FencingToken) -> Result<(), String> {
        let problem = match timeout(BEGIN_WITHIN, self.handover.begin(partitions, fence)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => {
                if matches!(error, StoreError::History(HistoryError::Overtaken(_))) {
                    self.detect_lost_store(fence).await?;
                }
                error.to_string()
            }
            Err(_) => "the databases do not answer in time".into(),
        };
        self.handover.lose(partitions).await;
        Err(problem)
    }

    /// Handles a database with a later token than this one. The token belongs to another node, unless the lease store
    /// was restored to an earlier state: then tokens restart above all earlier ones.
    async fn detect_lost_store(&mut self, fence: FencingToken) -> Result<(), String> {
        let newest = self.handover.newest_fence().await.map_err(|error| error.to_string())?;
        let now = leases::read(&self.connection).await?.fence();
        if let Some(newest) = newest.filter(|newest| *newest > now.max(fence)) {
            tracing::error!(
                "leases are older than the database: check whether the NATS server was restored or its clock set back"
            );
            self.epoch_floor = newest.epoch + 1;
        }
        Ok(())
    }

    /// Releases everything, so that other nodes continue at once.
    async fn leave(&mut self) {
        let held = self.held;
        self.handover.end(held).await;
        for _ in 0..ATTEMPTS {
            let left = async {
                let leases = leases::read(&self.connection).await?;
                let after = leases.ledger.without_leaving_node(&self.handover.member.name);
                leases::change(&self.connection, &leases, &after).await
            };
            match left.await {
                Ok(Some(_)) => break,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(
                        error,
                        "cannot release the partitions of this node; other nodes take them over later"
                    );
                    break;
                }
            }
        }
        self.handover.router.ownership.let_go(held);
    }
}

/// Returns the ledger without nodes that have left for good.
fn pruned(mut ledger: PartitionLedger, leases: &LeaseSnapshot) -> PartitionLedger {
    ledger.leaving.retain(|node| leases.living.contains(node));
    ledger
}
