//! Shared state of all workers of the server.

use std::sync::Arc;

use crate::http::console_entry::ConsoleEntry;
use crate::http::gate::ApiGate;
use crate::http::gate::traffic::TrafficCounters;
use crate::http::openapi::LazyDescription;
use crate::http::public_paths::front_page::FrontPage;
use crate::http::public_paths::ping_limiter::PingLimiter;
use crate::http::v1::state::AppState;

/// The application state, the gate in front of it, and what paths outside of `/v1` need.
pub(in crate::http) struct ServerState {
    pub(in crate::http) state: Arc<AppState>,
    pub(in crate::http) traffic: TrafficCounters,
    pub(in crate::http) pings: PingLimiter,
    pub(in crate::http) description: Arc<LazyDescription>,
    pub(in crate::http) page: FrontPage,
    pub(in crate::http) gate: Arc<ApiGate<AppState>>,
    pub(in crate::http) console: ConsoleEntry,
}
