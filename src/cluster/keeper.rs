//! Keeps this node's share of the partitions: step by step, each one written into the ledger by compare-and-swap.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep, timeout};

use crate::announcer::ownership::Member;
use crate::bus::connection::Connection;
use crate::bus::leases::{self, LIVES_FOR, Leases};
use crate::bus::result_stream;
use crate::cluster::counters::ClusterCounters;
use crate::cluster::handover::Handover;
use crate::model::ledger::{Ledger, Step};
use crate::model::node::NodeName;
use crate::model::partition::Partitions;

/// The time between two renewals, and between two looks at the ledger; changes are noticed at once.
const EVERY: Duration = Duration::from_secs(1);
/// A node that has not looked for this long does not know who died meanwhile.
const BLIND_AFTER: Duration = Duration::from_secs(3);
/// Attempts to leave, each after somebody else was faster.
const ATTEMPTS: u32 = 20;

/// Says again and again that this node lives, until the future is dropped.
pub async fn live(connection: Connection, member: Member) {
    let Member { name, folder } = member;
    let folder = folder.to_string();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match leases::folder_of(&connection, &name).await {
            Ok(Some(other)) if other != folder => {
                tracing::error!(node = %name, "another process lives under the name of this node; each needs credentials of its own");
                continue;
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(error, "the lease of this node cannot be read"),
        }
        if let Err(error) = leases::live(&connection, &name, &folder).await {
            tracing::debug!(error, "the lease of this node cannot be renewed");
        }
    }
}

/// Keeps the share of this node.
#[derive(Debug)]
pub struct Keeper {
    connection: Connection,
    handover: Handover,
    counters: Arc<ClusterCounters>,
    /// True when this node is about to end.
    is_leaving: watch::Receiver<bool>,
    held: Partitions,
    /// Since when this node has seen every change, and when it looked last.
    seeing_since: Instant,
    looked_at: Instant,
    /// It has seen the leases since its start.
    has_looked: bool,
    is_failing: bool,
}

impl Keeper {
    /// A keeper that holds nothing yet.
    #[must_use]
    pub fn new(
        connection: Connection,
        handover: Handover,
        counters: Arc<ClusterCounters>,
        is_leaving: watch::Receiver<bool>,
    ) -> Self {
        let now = Instant::now();
        Self {
            connection,
            handover,
            counters,
            is_leaving,
            held: Partitions::NONE,
            seeing_since: now,
            looked_at: now,
            has_looked: false,
            is_failing: false,
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
            self.seeing_since = Instant::now();
        }
        self.looked_at = Instant::now();
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
                self.seeing_since = Instant::now();
                self.go_on().await;
                sleep(EVERY / 4).await;
                true
            }
        }
    }

    /// One step towards the share.
    async fn step(&mut self) -> Result<bool, String> {
        let leases = leases::read(&self.connection).await?;
        self.has_looked = true;
        let me = self.handover.member.name.clone();
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
        let Step { release, take } = leases.ledger.step(&me, &living);
        if !release.is_empty() {
            return self.release(&leases, release).await;
        }
        // What this node has in the ledger and does not hold, it had before it was started again.
        let take = take.and(mine.without(self.held));
        if take.is_empty() {
            return Ok(true);
        }
        self.take(&leases, &living, take).await
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

    /// Goes on with what this node had before it was started again, while the bus is away: nobody can have taken it since
    /// without the database knowing.
    async fn go_on(&mut self) {
        if self.held.is_empty() && !self.has_looked {
            match self.handover.go_on().await {
                Ok(held) => self.held = held,
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
        let after = pruned(leases.ledger.taken(me, partitions), leases);
        let Some(fence) = leases::change(&self.connection, leases, &after).await? else { return Ok(false) };
        self.handover.announcer.ownership.note_ledger(&after);
        for node in &dead {
            tracing::warn!(%node, "the node is dead; its services are watched by others");
            // What it had taken from the stream and not stored comes at once, and not when its time is over.
            result_stream::close(&self.connection, node).await?;
        }
        self.handover.begin(partitions, fence).await.map_err(|error| error.to_string())?;
        self.held = self.held.and(partitions);
        self.counters.taken.fetch_add(partitions.len().into(), Ordering::Relaxed);
        let from_dead = dead.iter().fold(Partitions::NONE, |had, node| had.and(leases.ledger.of(node)));
        let taken_over = partitions.common(from_dead).len();
        self.counters.takeovers.fetch_add(taken_over.into(), Ordering::Relaxed);
        Ok(false)
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
