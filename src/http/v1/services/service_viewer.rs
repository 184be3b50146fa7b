//! Builds the views of services from stored data and the current state of the engine.
//!
//! The engine is queried once, however many services are shown.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::aggregator::ServiceSnapshot;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::view::to_json;
use crate::http::v1::services::heartbeat;
use crate::http::v1::services::stored::{StoredService, gather};
use crate::http::v1::services::view::{LiveFigures, ServiceDetails, ServiceView};
use crate::http::v1::state::AppState;
use crate::model::service::Service;
use crate::model::verdict::Verdict;
use crate::store::StoreConnection;

/// Builds views of services for one caller.
#[derive(Clone, Copy)]
pub(super) struct ServiceViewer<'a> {
    /// State with the engine, the settings and the sealer.
    pub(super) state: &'a AppState,
    /// The caller, whose permissions decide what is shown.
    pub(super) caller: &'a Caller,
}

impl ServiceViewer<'_> {
    pub(super) async fn stored(&self, stored: &StoredService) -> Result<Value, ApiError> {
        let snapshot = self.snapshot(&stored.service).await?;
        self.show(stored, snapshot)
    }

    /// Renders a service as this transaction sees it.
    pub(super) async fn show_current(
        &self,
        connection: &dyn StoreConnection,
        service: &Service,
    ) -> Result<Value, ApiError> {
        let snapshot = self.snapshot(service).await?;
        self.load_and_show(connection, service, snapshot).await
    }

    /// Renders a service as it will be when `before` has been replaced by `after`: the engine does not know the change yet.
    pub(super) async fn changed(
        &self,
        connection: &dyn StoreConnection,
        before: &Service,
        after: &Service,
    ) -> Result<Value, ApiError> {
        let mut snapshot = self.snapshot(after).await?;
        if before.pause.is_some() || !before.is_configured() {
            snapshot.verdict = Verdict::Unknown;
        }
        self.load_and_show(connection, after, snapshot).await
    }

    pub(super) async fn all(&self, stored: &[Arc<StoredService>]) -> Result<Vec<Value>, ApiError> {
        let addresses: Vec<_> = stored.iter().map(|stored| stored.service.address()).collect();
        let snapshots = self.state.live(&addresses).await?;
        stored.iter().zip(snapshots).map(|(stored, snapshot)| self.show(stored, snapshot)).collect()
    }

    async fn snapshot(&self, service: &Service) -> Result<ServiceSnapshot, ApiError> {
        let snapshots = self.state.live(&[service.address()]).await?;
        Ok(snapshots.first().copied().unwrap_or_default())
    }

    async fn load_and_show(
        &self,
        connection: &dyn StoreConnection,
        service: &Service,
        snapshot: ServiceSnapshot,
    ) -> Result<Value, ApiError> {
        let stored = gather(connection, vec![service.clone()]).await?;
        self.show(stored.first().ok_or(ApiError::NotFound)?, snapshot)
    }

    fn show(&self, stored: &StoredService, snapshot: ServiceSnapshot) -> Result<Value, ApiError> {
        let Self { state, caller } = *self;
        let StoredService { service, tags, in_maintenance, heartbeat, depends_on, unreachable } = stored;
        let live = LiveFigures {
            verdict: snapshot.verdict,
            is_flapping: snapshot.is_flapping,
            last_check_at: snapshot.last_check_at,
            uptime_30d: snapshot.uptime_30d,
            avg_response_ms: snapshot.avg_response_ms,
            in_maintenance: *in_maintenance,
        };
        let heartbeat = heartbeat.as_ref().map(|stored| heartbeat::view(state, caller, service.id, stored));
        let heartbeat = heartbeat.transpose()?;
        let keep = &state.config.compat.secret_placeholder;
        let unreachable = unreachable.as_ref();
        // The service may depend on services that a confined caller does not see.
        let is_confined = caller.visibility().is_confined();
        let heartbeat = heartbeat.as_ref();
        let beside = ServiceDetails { live, tags, heartbeat, depends_on, unreachable, is_confined };
        Ok(to_json(&ServiceView::of(service, &beside, keep)))
    }
}
