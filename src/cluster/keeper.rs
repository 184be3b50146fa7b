//! Keeps this node's share of the partitions: step by step, each one written into the ledger by compare-and-swap.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::announcer::ownership::Member;
use crate::bus::connection::Connection;
use crate::bus::leases::{self, LIVES_FOR, Leases};
use crate::bus::{result_stream, streams};
use crate::cluster::counters::ClusterCounters;
use crate::cluster::database_contact::DatabaseContact;
use crate::cluster::handover::Handover;
use crate::config::limits::BusLimits;
use crate::model::lease::{LeaseJudge, cut_off_nodes};
use crate::model::ledger::{Fence, Ledger, Step};
use crate::model::node::NodeName;
use crate::model::partition::Partitions;
use crate::store::{HistoryError, StoreError};

/// The time between two looks at the ledger; changes are noticed at once.
const EVERY: Duration = Duration::from_secs(1);
/// A node that has not looked for this long does not know who died meanwhile.
const BLIND_AFTER: Duration = Duration::from_secs(3);
/// A node that lives renews its key within this time, even on a slow machine.
const RENEWS_WITHIN: Duration = Duration::from_secs(3);
/// A node that has not reached the databases for this long, while another has, gives back what it has.
const CUT_OFF_AFTER: Duration = Duration::from_secs(6);
/// It must look so for this long: after the databases were away from all, one node reaches them before the others do.
const CUT_OFF_FOR: Duration = Duration::from_secs(4);
/// The longest time that beginning with partitions may take.
const BEGIN_WITHIN: Duration = Duration::from_secs(45);
/// A node that has seen the ledger for this long has measured nothing in isolation that is not stored yet.
const ISOLATION_ENDS: Duration = Duration::from_secs(60);
/// The time between two looks at what the database says, while the bus is away.
const GO_ON_EVERY: Duration = Duration::from_secs(5);
/// Attempts to leave, each after somebody else was faster.
const ATTEMPTS: u32 = 20;

/// The parts of a keeper.
#[derive(Debug)]
pub struct KeeperParts {
    /// The bus.
    pub connection: Connection,
    /// Begins and ends the watch of services.
    pub handover: Handover,
    /// Says whether this node can write.
    pub contact: DatabaseContact,
    /// The sizes of streams.
    pub limits: BusLimits,
    /// Numbers of this node.
    pub counters: Arc<ClusterCounters>,
    /// True when this node is about to end.
    pub is_leaving: watch::Receiver<bool>,
    /// Told of every look.
    pub pulse: watch::Sender<Instant>,
}

/// Keeps the share of this node.
#[derive(Debug)]
pub struct Keeper {
    connection: Connection,
    handover: Handover,
    contact: DatabaseContact,
    limits: BusLimits,
    counters: Arc<ClusterCounters>,
    is_leaving: watch::Receiver<bool>,
    pulse: watch::Sender<Instant>,
    held: Partitions,
    /// Since when this node has seen every change, and when it looked last.
    seeing_since: Instant,
    looked_at: Instant,
    /// Says whose keys count, with the times since the start of this keeper.
    judge: LeaseJudge,
    started_at: Instant,
    /// When it asked the database last what it holds.
    asked_at: Option<Instant>,
    /// Tokens of a store that was lost count no more, however large they are.
    epoch_floor: i64,
    is_failing: bool,
    /// Keys of the leases that are not of this program, as they were logged.
    foreign: BTreeSet<String>,
    /// Since when living nodes have looked cut off from the databases.
    cut_off_since: BTreeMap<NodeName, Instant>,
}

impl Keeper {
    /// A keeper that holds nothing yet.
    #[must_use]
    pub fn new(parts: KeeperParts) -> Self {
        let KeeperParts { connection, handover, contact, limits, counters, is_leaving, pulse } = parts;
        let now = Instant::now();
        Self {
            connection,
            handover,
            contact,
            limits,
            counters,
            is_leaving,
            pulse,
            held: Partitions::NONE,
            seeing_since: now,
            looked_at: now,
            judge: LeaseJudge::new(LIVES_FOR, RENEWS_WITHIN),
            started_at: now,
            asked_at: None,
            epoch_floor: i64::MIN,
            is_failing: false,
            foreign: BTreeSet::new(),
            cut_off_since: BTreeMap::new(),
        }
    }

    /// Keeps the share until this node is to end; then gives everything back.
    pub async fn run(mut self) {
        // A process before this task, or this task before it died, may have watched some.
        self.handover.lose(Partitions::ALL).await;
        loop {
            let Ok(changes) = leases::changes(&self.connection).await else { return };
            let mut changes = changes.ready_chunks(64);
            let mut leaving = self.is_leaving.clone();
            loop {
                if *self.is_leaving.borrow() {
                    return self.leave().await;
                }
                let is_settled = self.look().await;
                if is_settled {
                    tokio::select! {
                        changed = timeout(EVERY, changes.next()) => if matches!(changed, Ok(None)) { break },
                        _ = leaving.changed() => {}
                    }
                }
            }
        }
    }

    /// Looks at the leases, and does what follows; false if there is more to do at once.
    async fn look(&mut self) -> bool {
        if self.looked_at.elapsed() > BLIND_AFTER {
            self.note_blindness();
        }
        self.looked_at = Instant::now();
        self.pulse.send_replace(self.looked_at);
        let overtaken = self.handover.announcer.ownership.take_overtaken();
        self.note_lost(self.held.common(overtaken)).await;
        match self.step().await {
            Ok(is_settled) => {
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the ledger of partitions is there again");
                }
                is_settled
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(
                        error,
                        "the share of this node cannot be kept; it goes on with what it has"
                    );
                }
                self.note_blindness();
                self.go_on().await;
                // The server may have lost what it had.
                if self.connection.state().is_connected()
                    && let Err(error) = streams::prepare(self.connection.jetstream(), &self.limits).await
                {
                    tracing::debug!(%error, "the bus cannot be prepared");
                }
                sleep(EVERY / 4).await;
                true
            }
        }
    }

    /// One step towards the share.
    async fn step(&mut self) -> Result<bool, String> {
        if !self.connection.state().is_connected() {
            return Err("the bus is not connected".into());
        }
        let leases = self.read().await?;
        let Member { name: me, folder } = self.handover.member.clone();
        if leases::folder_of(&self.connection, &me).await?.is_some_and(|other| other != folder) {
            // Another process has this node's name, and its lease.
            self.note_lost(self.held).await;
            return Ok(true);
        }
        if leases.is_new() && !self.held.is_empty() {
            // The store of the leases was lost. What this node looks after stays with it.
            return self.take(&leases, &leases.living, self.held).await;
        }
        self.handover.announcer.ownership.note_ledger(&leases.ledger);
        self.handover.announcer.ownership.note_living(&leases.living);
        let mine = leases.ledger.of(&me);
        self.note_lost(self.held.without(mine)).await;
        if !leases.living.contains(&me) {
            return Ok(true);
        }
        if leases.ledger.leaving.contains(&me) {
            let back = pruned(leases.ledger.taken(&me, Partitions::NONE), &leases);
            return leases::change(&self.connection, &leases, &back).await.map(|_| false);
        }
        let living = self.living(&leases);
        let cut_off = self.lasting(cut_off_nodes(&leases.keys, &leases.living, CUT_OFF_AFTER));
        self.handover.announcer.ownership.note_cut_off(&cut_off);
        let Step { release, take } = leases.ledger.without_nodes(&cut_off).step(&me, &living);
        if !release.is_empty() {
            if cut_off.contains(&me) {
                tracing::error!(
                    "this node cannot write to the databases, and others can: it gives back what it has"
                );
            }
            return self.release(&leases, release).await;
        }
        // What this node has in the ledger and does not hold, it had before it was started again.
        let take = take.and(mine.without(self.held));
        if take.is_empty() {
            return Ok(true);
        }
        self.take(&leases, &living, take).await
    }

    /// This node has not seen every change up to now.
    fn note_blindness(&mut self) {
        self.seeing_since = Instant::now();
        self.judge.forget();
    }

    /// Those of these nodes that have looked cut off for long enough.
    fn lasting(&mut self, nodes: BTreeSet<NodeName>) -> BTreeSet<NodeName> {
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

    /// Reads the leases, without nodes whose keys are there although they do not live.
    async fn read(&mut self) -> Result<Leases, String> {
        let mut leases = leases::read(&self.connection).await?;
        leases.living = self.judge.living(&leases.keys, self.started_at.elapsed());
        for key in leases.foreign.difference(&self.foreign) {
            tracing::warn!(key, "this key is no lease of this program: it counts for nothing");
        }
        self.foreign.clone_from(&leases.foreign);
        Ok(leases)
    }

    /// The nodes that are to be counted with. One whose key is gone is dead only for a node that has seen all of the time
    /// since: after an outage of the bus everybody's key is gone.
    fn living(&self, leases: &Leases) -> BTreeSet<NodeName> {
        let mut living = leases.living.clone();
        if self.seeing_since.elapsed() < LIVES_FOR {
            living.extend(leases.ledger.owners.keys().cloned());
        }
        living
    }

    /// Goes on with everything that the database says is this node's, and the ledger did not give to others, while the bus is
    /// away: nobody can have taken it since without the database knowing.
    async fn go_on(&mut self) {
        if self.asked_at.is_none_or(|asked_at| asked_at.elapsed() > GO_ON_EVERY) {
            self.asked_at = Some(Instant::now());
            let (ownership, me) = (&self.handover.announcer.ownership, &self.handover.member.name);
            let ledger = ownership.owned().unwrap_or_default().ledger;
            let of_others = ledger.owners.iter().filter(|(node, _)| *node != me);
            let taken = of_others.fold(self.held, |taken, (_, others)| taken.and(*others));
            match self.handover.go_on(taken).await {
                Ok(more) => self.held = self.held.and(more),
                Err(error) => tracing::warn!(%error, "what this node had before cannot be read"),
            }
        }
    }

    async fn note_lost(&mut self, lost: Partitions) {
        if lost.is_empty() {
            return;
        }
        tracing::warn!(partitions = lost.len(), "another node has taken partitions of this one");
        self.held = self.held.without(lost);
        self.counters.lost.fetch_add(lost.len().into(), Ordering::Relaxed);
        self.handover.lose(lost).await;
    }

    async fn release(&mut self, leases: &Leases, partitions: Partitions) -> Result<bool, String> {
        self.handover.end(partitions).await;
        self.held = self.held.without(partitions);
        let after = pruned(leases.ledger.released(partitions), leases);
        let changed = leases::change(&self.connection, leases, &after).await?;
        if changed.is_some() {
            tracing::info!(partitions = partitions.len(), "partitions are given back for other nodes");
            self.handover.announcer.ownership.let_go(partitions);
            self.counters.released.fetch_add(partitions.len().into(), Ordering::Relaxed);
        }
        Ok(false)
    }

    async fn take(
        &mut self,
        leases: &Leases,
        living: &BTreeSet<NodeName>,
        partitions: Partitions,
    ) -> Result<bool, String> {
        let me = &self.handover.member.name;
        let dead = leases.ledger.owners.keys().filter(|owner| !living.contains(*owner));
        let dead: Vec<NodeName> = dead.cloned().collect();
        if !self.handover.is_stored().await && self.seeing_since.elapsed() < ISOLATION_ENDS {
            // What was measured in isolation would be told after what others have told since.
            return Err("what was measured before is not stored yet".into());
        }
        // Asked before the ledger is changed: others would believe that the services are watched.
        if !self.contact.ask().await {
            return Ok(true);
        }
        for node in &dead {
            tracing::warn!(%node, "the node is dead; its services are watched by others");
            // What it had taken from the stream and not stored comes at once, and not when its time is over.
            if let Err(error) = result_stream::close(&self.connection, node).await {
                tracing::warn!(%node, error, "the node's end of the results cannot be closed");
            }
        }
        let after = pruned(leases.ledger.taken(me, partitions), leases);
        let Some(fence) = leases::change(&self.connection, leases, &after).await? else { return Ok(false) };
        self.handover.announcer.ownership.note_ledger(&after);
        let fence = Fence { epoch: fence.epoch.max(self.epoch_floor), ..fence };
        self.begin(partitions, fence).await?;
        self.held = self.held.and(partitions);
        self.counters.taken.fetch_add(partitions.len().into(), Ordering::Relaxed);
        let from_dead = dead.iter().fold(Partitions::NONE, |had, node| had.and(leases.ledger.of(node)));
        let taken_over = partitions.common(from_dead).len();
        self.counters.takeovers.fetch_add(taken_over.into(), Ordering::Relaxed);
        Ok(false)
    }

    /// Begins to watch, within a time: a database that does not answer must not keep this node from everything else.
    async fn begin(&mut self, partitions: Partitions, fence: Fence) -> Result<(), String> {
        let problem = match timeout(BEGIN_WITHIN, self.handover.begin(partitions, fence)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => {
                if matches!(error, StoreError::History(HistoryError::Overtaken(_))) {
                    self.mind_lost_store(fence).await?;
                }
                error.to_string()
            }
            Err(_) => "the databases do not answer in time".into(),
        };
        self.handover.lose(partitions).await;
        Err(problem)
    }

    /// The database knows a later token than this one. That is another node's, unless the store of the leases has gone back in
    /// time: then tokens count anew, above all that were given.
    async fn mind_lost_store(&mut self, fence: Fence) -> Result<(), String> {
        let newest = self.handover.newest_fence().await.map_err(|error| error.to_string())?;
        let now = leases::read(&self.connection).await?.fence();
        if let Some(newest) = newest.filter(|newest| *newest > now.max(fence)) {
            tracing::error!(
                "the leases have gone back in time: was the NATS server restored or its clock set?"
            );
            self.epoch_floor = newest.epoch + 1;
        }
        Ok(())
    }

    /// Gives everything back, so that others go on at once.
    async fn leave(&mut self) {
        let held = self.held;
        self.handover.end(held).await;
        for _ in 0..ATTEMPTS {
            let left = async {
                let leases = leases::read(&self.connection).await?;
                let after = leases.ledger.left(&self.handover.member.name);
                leases::change(&self.connection, &leases, &after).await
            };
            match left.await {
                Ok(Some(_)) => break,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(
                        error,
                        "the partitions of this node cannot be given back; others take them later"
                    );
                    break;
                }
            }
        }
        self.handover.announcer.ownership.let_go(held);
    }
}

/// The ledger without nodes that have left for good.
fn pruned(mut ledger: Ledger, leases: &Leases) -> Ledger {
    ledger.leaving.retain(|node| leases.living.contains(node));
    ledger
}
