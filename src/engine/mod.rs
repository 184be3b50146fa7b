//! The engine: supervised actors that check services on time and decide their status.
//!
//! - [`fleet`]: all services; places them on shards, restarts those that died.
//! - [`service`]: one actor per checked service; turns `model::watch` effects into messages and timers.
//! - [`location`]: one actor per location and shard; bounded, limited per host, runs the checks.
//! - [`aggregator`]: one actor per shard; live figures, and batches for the recorder.
//! - [`listening`]: the times in which this process receives pings.
//! - [`verdict_changes`]: the latest changes of verdicts.
//!
//! [`Engine`] is the only entry point. The engine never imports the store: facts leave it through a `Recipient`. A
//! shard is one thread, and everything of a service happens on its shard, so that a check wakes no other thread.
//!
//! Every request to the engine fails with [`EngineStopped`] once it has stopped.

pub mod aggregator;
pub mod check_queue;
pub mod counters;
pub mod definition;
mod first_check;
pub mod fleet;
pub mod listening;
pub mod location;
mod messages;
mod parts;
mod recheck_budget;
pub mod registry;
pub mod remote;
mod retired_services;
pub mod service;
pub mod shard;
pub mod verdict_changes;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Arbiter, MailboxError};

use crate::clock::{Clock, Timestamp};
use crate::engine::aggregator::{FlushBatch, LatenessQuery, LatenessReport, ServiceSnapshot, SnapshotQuery};
use crate::engine::counters::EngineCounters;
use crate::engine::definition::WatchDefinition;
use crate::engine::fleet::{
    ApplyDefinition, CheckServices, Fleet, FleetLivenessQuery, PermitPartitions, ReleasePartitions,
    RetireAll, RetireService, TakePing, WatchedService, WatchedServices,
};
use crate::engine::listening::ListeningTracker;
use crate::engine::registry::LocationRegistry;
use crate::engine::shard::Shard;
use crate::engine::verdict_changes::VerdictChanges;
use crate::id::Id;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::partition::PartitionSet;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::watch::WatchMemory;
use crate::stats::rolling_stats::RollingStats;
use crate::supervise::{ActorHandle, ActorPlacement, StopActor};

pub use crate::engine::parts::EngineParts;

/// The timeout of the health request.
const ANSWER_TAKES: Duration = Duration::from_secs(2);

/// Handle to the engine, and its only entry point. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine {
    fleet: ActorHandle<Fleet>,
    shards: Arc<[Arc<Shard>]>,
    arbiters: Arc<[Arbiter]>,
    counters: Arc<EngineCounters>,
    listening: Arc<ListeningTracker>,
    verdicts: Arc<VerdictChanges>,
    roster: Arc<LocationRegistry>,
    clock: Clock,
    started_at: Timestamp,
}

/// A service whose past figures have to be recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutdatedFigures {
    shard: usize,
    /// Database key of the service.
    pub key: ServiceKey,
    /// End of the period whose figures have to be recomputed.
    pub until: Timestamp,
}

/// The engine has stopped and answers no requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has stopped")]
pub struct EngineStopped;

impl From<MailboxError> for EngineStopped {
    fn from(_: MailboxError) -> Self {
        Self
    }
}

impl Engine {
    /// Starts shards and fleet, without any service.
    #[must_use]
    pub fn start(parts: &EngineParts) -> Self {
        let started_at = parts.clock.now();
        let counters = Arc::new(EngineCounters::default());
        let listening = Arc::new(ListeningTracker::new(parts.clock.clone()));
        let clock = parts.clock.clone();
        let arbiters = shard::threads(parts.threads);
        parts.roster.set_probers(&parts.probers);
        let verdicts = Arc::new(VerdictChanges::default());
        let shards = shard::start_all(parts, &arbiters, &counters, &listening, &verdicts);
        let placement = ActorPlacement { thread: Arbiter::current(), mailbox: parts.limits.mailbox };
        let members = Fleet::new(Arc::clone(&shards), Arc::clone(&counters), parts.supervisor.clone());
        let fleet = parts.supervisor.start_once(&placement, members);
        Self {
            fleet,
            shards,
            arbiters: arbiters.into(),
            counters,
            listening,
            verdicts,
            roster: Arc::clone(&parts.roster),
            clock,
            started_at,
        }
    }

    /// Starts to watch the service, or changes how it is watched. Returns once the change is effective: facts of the old
    /// definition that arrive later are dropped.
    pub async fn apply(&self, definition: Arc<WatchDefinition>) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(ApplyDefinition { definition, memory: None }).await?)
    }

    /// Continues to watch a service that was watched before this process started.
    pub async fn resume(
        &self,
        definition: Arc<WatchDefinition>,
        memory: WatchMemory,
    ) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(ApplyDefinition { definition, memory: Some(memory) }).await?)
    }

    /// Processes a ping, which is already stored. Returns once its effect is visible.
    pub async fn ping(&self, id: Id, ping: HeartbeatPing) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(TakePing { id, ping }).await?)
    }

    /// Checks these services now; those that are not watched here are skipped.
    pub async fn check_now(&self, services: Vec<Id>) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(CheckServices(services)).await?)
    }

    /// Removes the service, whose last revision was `revision`: pending results are dropped, and so is a definition that was
    /// read before and arrives later.
    pub async fn retire(&self, id: Id, key: ServiceKey, revision: i64) -> Result<(), EngineStopped> {
        self.fleet.send(RetireService { id, revision }).await?;
        self.shard_of(id).figures.untrack(key);
        Ok(())
    }

    /// Permits services of these partitions, which were released before.
    pub async fn permit(&self, partitions: PartitionSet) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(PermitPartitions(partitions)).await?)
    }

    /// Sends every fact to the sink. Returns once the sink has them.
    pub async fn flush(&self) -> Result<(), EngineStopped> {
        for shard in self.shards.iter() {
            shard.aggregator.send(FlushBatch).await?;
        }
        Ok(())
    }

    /// Ends the watch of all services of these partitions, which another node continues. Returns once their last facts are
    /// on their way to the sink.
    pub async fn release(&self, partitions: PartitionSet) -> Result<(), EngineStopped> {
        self.fleet.send(ReleasePartitions(partitions)).await?;
        self.shards.iter().for_each(|shard| shard.figures.untrack_all(partitions));
        self.listening.note_released(partitions);
        self.flush().await
    }

    /// Adds figures of the time before this engine started.
    pub fn prime(&self, id: Id, key: ServiceKey, before: &RollingStats) {
        self.shard_of(id).figures.prime(key, before);
    }

    /// Records that the past of a service has changed in the history.
    pub fn past_changed(&self, service: ServiceAddress) {
        self.shard_of(service.id).figures.mark_past_changed(service.key);
    }

    /// Records that a service has become unreachable because of another one, or reachable again. Idempotent.
    pub fn set_unreachable(&self, service: ServiceAddress, is_unreachable: bool) {
        self.shard_of(service.id).figures.set_unreachable(service.key, is_unreachable);
    }

    /// Returns the services whose figures have to be recomputed: the wall clock was set back, or their past has changed.
    #[must_use]
    pub fn undone(&self) -> Vec<OutdatedFigures> {
        let of_shard = |(shard, of_shard): (usize, &Arc<Shard>)| {
            let found = of_shard.figures.outdated_figures().into_iter();
            found.map(|(key, until)| OutdatedFigures { shard, key, until }).collect::<Vec<_>>()
        };
        self.shards.iter().enumerate().flat_map(of_shard).collect()
    }

    /// Replaces the figures of the past.
    pub fn replace_past(&self, undone: OutdatedFigures, before: &RollingStats) {
        let OutdatedFigures { shard, key, until } = undone;
        self.shards[shard].figures.replace_past(key, until, before);
    }

    /// Returns a current snapshot of each of these services, in their order. Sends one message per shard for any number of
    /// services.
    pub async fn snapshots(
        &self,
        services: &[ServiceAddress],
    ) -> Result<Vec<ServiceSnapshot>, EngineStopped> {
        let now = self.clock.now();
        let mut found = vec![ServiceSnapshot::default(); services.len()];
        for (index, shard) in self.shards.iter().enumerate() {
            let here: Vec<usize> =
                (0..services.len()).filter(|asked| self.index_of(services[*asked].id) == index).collect();
            if here.is_empty() {
                continue;
            }
            let keys = here.iter().map(|asked| services[*asked].key).collect();
            let answers = shard.aggregator.send(SnapshotQuery { keys, now }).await?;
            for (asked, snapshot) in here.into_iter().zip(answers) {
                found[asked] = snapshot;
            }
        }
        Ok(found)
    }

    /// Returns every watched service, by id.
    pub async fn watched(&self) -> Result<HashMap<Id, WatchedService>, EngineStopped> {
        Ok(self.fleet.send(WatchedServices).await?)
    }

    /// Returns the lateness of check starts since the last report.
    pub async fn lateness(&self) -> Result<LatenessReport, EngineStopped> {
        let mut sum = LatenessReport::default();
        for shard in self.shards.iter() {
            sum.merge(&shard.aggregator.send(LatenessQuery).await?);
        }
        Ok(sum)
    }

    /// Returns true if the engine answers: its fleet processes messages.
    pub async fn is_alive(&self) -> bool {
        let answer = self.fleet.send(FleetLivenessQuery);
        tokio::time::timeout(ANSWER_TAKES, answer).await.is_ok_and(|answer| answer.is_ok())
    }

    /// Returns the latest changes of verdicts.
    #[must_use]
    pub fn verdict_changes(&self) -> &VerdictChanges {
        &self.verdicts
    }

    /// Returns the counters since the start.
    #[must_use]
    pub fn counters(&self) -> Arc<EngineCounters> {
        Arc::clone(&self.counters)
    }

    /// Returns the locations that check, with the known state of each.
    #[must_use]
    pub fn roster(&self) -> Arc<LocationRegistry> {
        Arc::clone(&self.roster)
    }

    /// Returns the times in which this process listens for pings.
    #[must_use]
    pub fn listening(&self) -> Arc<ListeningTracker> {
        Arc::clone(&self.listening)
    }

    /// Returns the current wall time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the time at which this engine started. Figures of earlier times are added by `prime`.
    #[must_use]
    pub const fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Stops all checks, sends every fact to the sink, and ends the shards' threads.
    pub async fn stop(&self) {
        if self.fleet.send(RetireAll).await.is_err() {
            tracing::warn!("cannot stop the services: the fleet has already stopped");
        }
        for shard in self.shards.iter() {
            if shard.aggregator.send(FlushBatch).await.is_err() {
                tracing::warn!(
                    shard = shard.index,
                    "cannot flush the results: the aggregator has already stopped"
                );
            }
            shard.close().await;
        }
        // The fleet may already have ended.
        let _ = self.fleet.send(StopActor).await;
        for arbiter in self.arbiters.iter() {
            arbiter.stop();
        }
    }

    fn index_of(&self, id: Id) -> usize {
        shard::shard_index(id, self.shards.len())
    }

    fn shard_of(&self, id: Id) -> &Shard {
        &self.shards[self.index_of(id)]
    }
}
