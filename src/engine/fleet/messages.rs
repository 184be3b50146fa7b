//! The messages of the fleet.

use std::collections::HashMap;
use std::sync::Arc;

use actix::Message;

use crate::engine::definition::WatchDefinition;
use crate::id::Id;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::partition::PartitionSet;
use crate::model::service::ServiceKey;
use crate::model::watch::WatchMemory;
use crate::supervise::ActorExit;

/// Watch a service by this definition.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ApplyDefinition {
    /// The definition to apply.
    pub definition: Arc<WatchDefinition>,
    /// The memory from before this process started.
    pub memory: Option<WatchMemory>,
}

/// A stored ping of a service that reports itself.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TakePing {
    /// Id of the service.
    pub id: Id,
    /// Time and contents of the ping.
    pub ping: HeartbeatPing,
}

/// Stop watching the service. A definition of at most this revision that arrives later changes nothing.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RetireService {
    /// Public id of the service.
    pub id: Id,
    /// Last revision of the service.
    pub revision: i64,
}

/// Check these services now, from every location, instead of at their next scheduled time.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CheckServices(pub Vec<Id>);

/// Services of these partitions may be watched from now on.
#[derive(Message)]
#[rtype(result = "()")]
pub struct PermitPartitions(pub PartitionSet);

/// Another node watches the services of these partitions from now on.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReleasePartitions(pub PartitionSet);

/// Stop watching all services of the engine.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RetireAll;

/// Asks for every service that the fleet knows, by id.
#[derive(Message)]
#[rtype(result = "HashMap<Id, WatchedService>")]
pub struct WatchedServices;

/// A service that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedService {
    /// Database key of the service.
    pub key: ServiceKey,
    /// Revision of the newest definition of the service.
    pub revision: i64,
}

/// Health request; answered as long as the fleet processes messages.
#[derive(Message)]
#[rtype(result = "()")]
pub struct FleetLivenessQuery;

/// A service actor has ended.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct ServiceExited {
    pub id: Id,
    pub generation: u64,
    pub ending: ActorExit,
}

/// The wait after a panic is over: start the service again, as soon as the pace of restarts allows.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct RestartService {
    pub id: Id,
    pub generation: u64,
    /// True once it has waited for its place among the restarts of this process.
    pub has_place: bool,
}
