//! The state of the components of this process, for operators.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, timestamp, view};
use crate::http::v1::engine::ownership::OwnershipView;
use crate::http::v1::engine::queues::QueuesView;
use crate::supervise::{ActorKindState, OnDeath};

/// The engine of this process.
#[derive(Serialize, ToSchema)]
#[schema(as = Engine)]
pub(super) struct EngineView<'a> {
    #[schema(schema_with = started_at)]
    pub(super) started_at: Timestamp,
    /// True if the engine accepts commands.
    pub(super) is_alive: bool,
    /// Problems that do not prevent the process from being ready, as in `/readyz`.
    pub(super) warnings: Vec<String>,
    /// The actors and background tasks, by name.
    #[schema(inline)]
    pub(super) actors: Vec<ActorView<'a>>,
    #[schema(schema_with = ownership, required)]
    pub(super) ownership: Option<OwnershipView>,
    #[schema(inline)]
    pub(super) queues: QueuesView,
}

/// A kind of actors or background tasks.
#[derive(Serialize, ToSchema)]
pub(super) struct ActorView<'a> {
    name: &'a str,
    /// The effect of the death of an actor or task of this kind.
    #[schema(schema_with = on_death)]
    on_death: &'static str,
    /// The number of actors or tasks of this kind that are running now.
    #[schema(minimum = 0)]
    alive: u64,
    #[schema(minimum = 0)]
    restarts: u64,
    #[schema(minimum = 0)]
    panics: u64,
    /// The number of actors or tasks that were replaced because they did not answer.
    #[schema(minimum = 0)]
    frozen: u64,
    /// The total length of the queues of this kind; null where the length is not known.
    #[schema(required, minimum = 0)]
    waiting: Option<u64>,
    #[schema(required)]
    last_error: Option<&'a str>,
}

impl<'a> ActorView<'a> {
    pub(super) fn all(states: &'a [ActorKindState]) -> Vec<Self> {
        states.iter().map(Self::of).collect()
    }

    fn of(state: &'a ActorKindState) -> Self {
        Self {
            name: state.name,
            on_death: state.on_death.as_str(),
            alive: state.alive,
            restarts: state.restarts,
            panics: state.panics,
            frozen: state.frozen,
            waiting: state.waiting,
            last_error: state.last_error.as_deref(),
        }
    }
}

fn ownership() -> ApiSchema {
    view::<OwnershipView>()
        .nullable()
        .says("The partitions of this node in a cluster; null on a single node.")
}

fn started_at() -> ApiSchema {
    timestamp()
}

fn on_death() -> ApiSchema {
    enum_of(&[OnDeath::Restart, OnDeath::EndProcess].map(OnDeath::as_str))
}
