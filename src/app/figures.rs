//! Operational figures, read from the counters of their sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::app::cluster::ClusterMembership;
use crate::app::remote::RemoteLocations;
use crate::bus::connection::ConnectionState;
use crate::cluster::counters::ClusterCounters;
use crate::engine::Engine;
use crate::engine::counters::EngineCounters;
use crate::http::v1::figures::{BusFigures, OperatorFigures, ReadFigures, ShareFigures};
use crate::record::fence::FenceCounters;
use crate::record::recorder::RecordCounters;
use crate::remote::counters::{RemoteCounters, ResultRefusal};

/// The counters and components that the figures are read from.
pub(super) struct FigureSources {
    engine: Arc<EngineCounters>,
    recorded: Arc<RecordCounters>,
    fenced: Arc<FenceCounters>,
    bus: Option<(Arc<ConnectionState>, Arc<RemoteCounters>)>,
    cluster: Option<Arc<ClusterCounters>>,
}

impl FigureSources {
    pub(super) fn new(
        engine: &Engine,
        recorded: &Arc<RecordCounters>,
        fenced: &Arc<FenceCounters>,
        remote: Option<&RemoteLocations>,
        cluster: Option<&ClusterMembership>,
    ) -> Self {
        Self {
            engine: engine.counters(),
            recorded: Arc::clone(recorded),
            fenced: Arc::clone(fenced),
            bus: remote.map(|remote| (Arc::clone(remote.connection.state()), Arc::clone(&remote.counters))),
            cluster: cluster.map(|cluster| Arc::clone(&cluster.counters)),
        }
    }

    fn share(&self) -> ShareFigures {
        let Some(cluster) = &self.cluster else { return ShareFigures::default() };
        ShareFigures {
            taken: get(&cluster.taken),
            takeovers: get(&cluster.takeovers),
            released: get(&cluster.released),
            lost: get(&cluster.lost),
            fenced_results: get(&self.fenced.results),
            fenced_changes: get(&self.fenced.changes),
        }
    }
}

impl ReadFigures for FigureSources {
    fn read(&self) -> OperatorFigures {
        let bus = self.bus.as_ref().map(|(connection, remote)| BusFigures {
            is_connected: connection.is_connected(),
            pending_batches: get(&remote.pending),
            lag_ms: get(&remote.lag_ms),
            redelivered_batches: remote.redelivered.get(),
            refused_results: ResultRefusal::ALL.into_iter().map(|reason| remote.refused(reason).get()).sum(),
        });
        OperatorFigures {
            waiting_results: get(&self.recorded.waiting),
            spool_bytes: get(&self.recorded.spool_bytes),
            lateness_p99_ms: self.engine.lateness_p99_ms(),
            bus,
            share: self.share(),
        }
    }
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
