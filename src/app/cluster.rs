//! This node in a cluster: with NATS servers and PostgreSQL configured, nodes share the services.

use std::sync::Arc;
use std::time::Duration;

use actix::Arbiter;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::app::bus::BusMembership;
use crate::app::foundation::Foundation;
use crate::bus::connection::BusConnection;
use crate::bus::peers;
use crate::cluster::counters::ClusterCounters;
use crate::cluster::database_contact::DatabaseContact;
use crate::cluster::handover::PartitionHandover;
use crate::cluster::keeper::{PartitionKeeper, PartitionKeeperParts};
use crate::cluster::{lease_renewal, pings};
use crate::config::Config;
use crate::config::limits::BusLimits;
use crate::config::sources::ConfigError;
use crate::feed::ChangeSignal;
use crate::id::Id;
use crate::record::recorder::Recorder;
use crate::service_router::ServiceRouter;
use crate::service_router::ownership::{NodeIdentity, Ownership};
use crate::store::history::{History, holds};
use crate::supervise::running_tasks::RunningTasks;
use crate::supervise::{ActorHandle, ActorKind, Supervisor};

const ANSWERS: ActorKind = ActorKind::restarting("answers_to_nodes");
const KEEPER: ActorKind = ActorKind::restarting("partition_keeper");
const PINGS: ActorKind = ActorKind::restarting("stored_pings");
const CONTACT: ActorKind = ActorKind::restarting("database_contact");
const LEASE: ActorKind = ActorKind::restarting("node_lease");

/// Longest wait of a start for this node's share.
const SHARE_WITHIN: Duration = Duration::from_secs(5);
/// Longest wait of a stop until the share is released.
const LEFT_WITHIN: Duration = Duration::from_secs(4);

/// Keeps this node's share of the services, on a thread of its own.
pub(super) struct ClusterMembership {
    pub(super) counters: Arc<ClusterCounters>,
    thread: Arbiter,
    tasks: RunningTasks,
    is_leaving: watch::Sender<bool>,
    has_left: watch::Receiver<bool>,
}

/// Returns the ownership of services by this process: of all services, or of the share that leases assign to it. Nodes
/// share services if they use the same two databases.
///
/// # Errors
///
/// When other nodes share the services, and this process is not configured as one of them; the message is one line.
pub(super) async fn ownership(
    foundation: &Foundation,
    bus: Option<&BusMembership>,
    folder: Id,
) -> anyhow::Result<Ownership> {
    let config = &foundation.config;
    let is_shared = |url: &Option<String>| url.as_ref().is_some_and(|url| url.starts_with("postgres"));
    match bus {
        Some(bus) if is_shared(&config.database_url) && is_shared(&config.history_url) => {
            if config.alone {
                tracing::warn!("--alone ignored: nats_url is set, so this process is a node of a cluster");
            }
            Ok(Ownership::clustered(NodeIdentity { name: bus.node.clone(), folder }))
        }
        _ => {
            StandaloneNode { is_told: config.alone }.claim(&foundation.databases.history).await?;
            Ok(Ownership::alone())
        }
    }
}

const SHARED: &str = "nodes with nats_url own the services of these databases, and this process is not configured as one of \
    them: it would watch all of them a second time. Set nats_url, nats_credentials and the URLs of both databases \
    (docs/cluster.md), or, if the other nodes are gone for good, start it once with --alone";

/// A process that watches all services alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct StandaloneNode {
    /// True if the operator has confirmed that other nodes are gone for good (`--alone`).
    is_told: bool,
}

impl StandaloneNode {
    /// `None` for a node of a cluster.
    pub(super) fn of(ownership: &Ownership, config: &Config) -> Option<Self> {
        ownership.member().is_none().then_some(Self { is_told: config.alone })
    }

    /// Returns true if nodes hold the services and the operator has confirmed that they are gone.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if nodes hold the services and the operator has not confirmed that they are gone: this process
    /// would check everything a second time. Any other error if the history is unavailable.
    pub(super) async fn ask(self, history: &History) -> anyhow::Result<bool> {
        if holds::newest(history.reader()).await?.is_none() {
            Ok(false)
        } else if self.is_told {
            Ok(true)
        } else {
            Err(ConfigError(SHARED.into()).into())
        }
    }

    /// Takes over the services of nodes that are gone. Does nothing while the history is unavailable.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask).
    pub(super) async fn claim(self, history: &History) -> anyhow::Result<()> {
        if !history.is_prepared() || !self.ask(history).await? {
            return Ok(());
        }
        // The database connection of a node that lost power in the middle of a write still holds the lock.
        if let Err(error) = holds::terminate_stalled_copy_statements(history.reader()).await {
            tracing::warn!(%error, "cannot end stalled writes to the history database");
        }
        let transaction = history.begin().await?;
        holds::forget(&transaction).await?;
        transaction.commit().await?;
        tracing::warn!("this process now checks all services; several nodes shared them before");
        Ok(())
    }
}

/// Waits for this node's share, for a limited time: other nodes may own everything, or the bus may be unavailable.
pub(super) async fn wait_for_share(ownership: &Ownership) {
    let mut changes = ownership.changes();
    let _ = timeout(SHARE_WITHIN, changes.wait_for(|ready| !ready.is_empty())).await;
}

impl ClusterMembership {
    /// Starts to keep a share; `None` on a node that is alone.
    pub(super) fn start(
        bus: Option<&BusMembership>,
        router: &ServiceRouter,
        recorder: &ActorHandle<Recorder>,
        change_signal: &Arc<ChangeSignal>,
        supervisor: &Supervisor,
    ) -> Option<Self> {
        let ownership = router.ownership.clone();
        let (connection, member) = (bus?.connection.clone(), ownership.member()?.clone());
        let contact = DatabaseContact::new(router.databases.clone());
        let counters = Arc::new(ClusterCounters::new(ownership.clone(), contact));
        let (is_leaving, leaving) = watch::channel(false);
        let (left, has_left) = watch::channel(false);
        let (router, recorder, change_signal) = (router.clone(), recorder.clone(), Arc::clone(change_signal));
        let handover = PartitionHandover { router, recorder, change_signal, member };
        let limits = bus?.limits.clone();
        let tasks =
            ClusterTasks { connection, handover, limits, counters: Arc::clone(&counters), leaving, left };
        let thread = Arbiter::new();
        supervisor.watch_thread("the shares of nodes", &thread.handle());
        let supervisor = supervisor.clone();
        let running = RunningTasks::default();
        let started = running.clone();
        let is_sent = thread.spawn_fn(move || started.add(tasks.spawn(&supervisor)));
        debug_assert!(is_sent, "the thread has just been made");
        Some(Self { counters, thread, tasks: running, is_leaving, has_left })
    }

    /// Releases the share, so that other nodes continue at once.
    pub(super) async fn leave(&self) {
        self.is_leaving.send_replace(true);
        let mut has_left = self.has_left.clone();
        if timeout(LEFT_WITHIN, has_left.wait_for(|has_left| *has_left)).await.is_err() {
            tracing::warn!(
                limit_seconds = LEFT_WITHIN.as_secs(),
                "partitions not released within the time limit; other nodes take them over later"
            );
        }
        self.tasks.end().await;
        self.thread.stop();
    }
}

/// The parts of the tasks, before the tasks are spawned.
struct ClusterTasks {
    connection: BusConnection,
    handover: PartitionHandover,
    limits: BusLimits,
    counters: Arc<ClusterCounters>,
    leaving: watch::Receiver<bool>,
    left: watch::Sender<bool>,
}

impl ClusterTasks {
    /// Spawns the tasks on the current thread.
    fn spawn(self, supervisor: &Supervisor) -> Vec<JoinHandle<()>> {
        let Self { connection, handover, limits, counters, leaving, left } = self;
        let (lease, member) = (connection.clone(), handover.member.clone());
        let (contact, last_contact) = (counters.contact.clone(), counters.contact.clone());
        let (poll_time, polled_at) = watch::channel(Instant::now());
        let lease = supervisor.spawn(LEASE, move || {
            lease_renewal::run(lease.clone(), member.clone(), last_contact.clone(), polled_at.clone())
        });
        let asking = contact.clone();
        let asking = supervisor.spawn(CONTACT, move || asking.clone().run());
        let ping_router = handover.router.clone();
        let pings = supervisor.spawn(PINGS, move || pings::run(ping_router.clone()));
        let (asked, router) = (connection.clone(), handover.router.clone());
        let me = handover.member.name.clone();
        let answers = supervisor.spawn(ANSWERS, move || {
            let (asked, router, me) = (asked.clone(), router.clone(), me.clone());
            async move {
                if let Err(error) = peers::answer(&asked, me, &router).await {
                    tracing::error!(error, "this node no longer answers requests of other nodes");
                }
            }
        });
        let keeper = supervisor.spawn(KEEPER, move || {
            let keeper = PartitionKeeper::new(PartitionKeeperParts {
                connection: connection.clone(),
                handover: handover.clone(),
                contact: contact.clone(),
                limits: limits.clone(),
                counters: Arc::clone(&counters),
                is_leaving: leaving.clone(),
                poll_time: poll_time.clone(),
            });
            let left = left.clone();
            async move {
                keeper.run().await;
                left.send_replace(true);
            }
        });
        vec![lease, asking, pings, answers, keeper]
    }
}
