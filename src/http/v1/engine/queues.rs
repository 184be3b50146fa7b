//! Queues of results, in this process and at remote locations, and counts of delivered results, as known to this process.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::engine::registry::{LocationRegistry, RegisteredLocation};
use crate::http::openapi::shape::{ApiSchema, enum_of, integer, string};
use crate::http::v1::figures::OperatorFigures;
use crate::model::location::LocationStatus;

/// Queues of this process and of the locations. Counts start at 0 with the process.
#[derive(Serialize, ToSchema)]
#[schema(as = EngineQueues)]
pub(super) struct QueuesView {
    /// Number of results in memory that are not yet in the history database.
    #[schema(minimum = 0)]
    waiting_results: u64,
    /// Bytes of results on disk that are not yet in the history database.
    #[schema(minimum = 0)]
    spool_bytes: u64,
    #[schema(schema_with = lateness, required)]
    lateness_p99_ms: Option<u64>,
    /// True while a NATS server is connected; null if none is configured.
    #[schema(required)]
    bus_connected: Option<bool>,
    #[schema(schema_with = pending, required)]
    pending_batches: Option<u64>,
    #[schema(schema_with = lag, required)]
    lag_ms: Option<u64>,
    /// Number of batches of results from remote locations that were redelivered.
    #[schema(minimum = 0)]
    redelivered_batches: u64,
    /// Number of results from remote locations that were rejected.
    #[schema(minimum = 0)]
    refused_results: u64,
    /// The active locations, by code.
    #[schema(inline)]
    locations: Vec<LocationQueueView>,
}

/// A location with the figures of its last report.
#[derive(Serialize, ToSchema)]
struct LocationQueueView {
    #[schema(schema_with = code)]
    code: String,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = waiting, required)]
    waiting_results: Option<u64>,
    #[schema(schema_with = spool, required)]
    spool_bytes: Option<u64>,
    #[schema(schema_with = lateness_there, required)]
    lateness_p99_ms: Option<u64>,
}

impl QueuesView {
    pub(super) fn of(figures: &OperatorFigures, roster: &LocationRegistry, now: Timestamp) -> Self {
        let mut known = roster.all();
        known.sort_by(|left, right| left.location.code.cmp(&right.location.code));
        let bus = figures.bus.unwrap_or_default();
        Self {
            waiting_results: figures.waiting_results,
            spool_bytes: figures.spool_bytes,
            bus_connected: figures.bus.map(|bus| bus.is_connected),
            lateness_p99_ms: figures.lateness_p99_ms,
            pending_batches: figures.bus.map(|bus| bus.pending_batches),
            lag_ms: figures.bus.map(|bus| bus.lag_ms),
            redelivered_batches: bus.redelivered_batches,
            refused_results: bus.refused_results,
            locations: known.iter().map(|known| LocationQueueView::of(known, now)).collect(),
        }
    }
}

impl LocationQueueView {
    fn of(known: &RegisteredLocation, now: Timestamp) -> Self {
        let seen = known.last_seen();
        Self {
            code: known.location.code.to_string(),
            status: known.standing_for_all(now).as_str(),
            waiting_results: seen.as_ref().map(|seen| seen.waiting),
            spool_bytes: seen.as_ref().map(|seen| seen.spool_bytes),
            lateness_p99_ms: seen.as_ref().map(|seen| seen.lateness_p99_us.div_ceil(1_000)),
        }
    }
}

fn code() -> ApiSchema {
    string().pattern("^[a-z0-9][a-z0-9._-]{0,31}$")
}

fn status() -> ApiSchema {
    enum_of(&LocationStatus::ALL.map(LocationStatus::as_str))
}

fn lateness() -> ApiSchema {
    integer().at_least(0).nullable().says(
        "Lateness in milliseconds that 99 of 100 check starts of this process do not exceed, as a bound of the histogram in \
        /metrics; null before the first.",
    )
}

fn lateness_there() -> ApiSchema {
    integer().at_least(0).nullable().says("The same figure of a remote location, from its last report.")
}

fn pending() -> ApiSchema {
    integer().at_least(0).nullable().says(
        "Batches of results that waited for this node on the NATS server when it received the last one; null \
        without a NATS server.",
    )
}

fn lag() -> ApiSchema {
    integer().at_least(0).nullable().says(
        "Milliseconds that the last batch of results took from the NATS server into the history; null without a NATS server.",
    )
}

fn waiting() -> ApiSchema {
    integer().at_least(0).nullable().says(
        "Results in its memory that have not arrived yet; null for a location of this process, and for one that has never reported.",
    )
}

fn spool() -> ApiSchema {
    integer()
        .at_least(0)
        .nullable()
        .says("Bytes of results on its disk that have not arrived yet; null as for the results in memory.")
}
