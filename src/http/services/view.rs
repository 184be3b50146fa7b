//! Services as clients see them: what is stored, joined with what the engine knows now.

use serde_json::Value;

use crate::engine::aggregator::Snapshot;
use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::service_json::{LiveFigures, service_json};
use crate::http::store_access::StoreResult as _;
use crate::model::service::Service;
use crate::model::verdict::Verdict;
use crate::store::Connection;
use crate::store::maintenances::effect::covered;

/// One service.
pub(super) async fn one(
    api: &Api,
    connection: &impl Connection,
    service: &Service,
) -> Result<Value, ApiError> {
    let mut rows = all(api, connection, std::slice::from_ref(service)).await?;
    rows.pop().ok_or(ApiError::NotFound)
}

/// One service as it will be once `after` is committed in the place of `before`: the engine has not heard of it yet.
pub(super) async fn changed(
    api: &Api,
    connection: &impl Connection,
    (before, after): (&Service, &Service),
) -> Result<Value, ApiError> {
    let snapshots = api.snapshots(std::slice::from_ref(after)).await?;
    let in_maintenance = !covered(connection, &[after.key]).await.or_unavailable()?.is_empty();
    let figures = |snapshot| figures(snapshot, in_maintenance);
    let mut figures = snapshots.first().map(figures).unwrap_or_default();
    if before.pause.is_some() || !before.is_configured() {
        figures.verdict = Verdict::Unknown;
    }
    Ok(service_json(after, &figures, &api.parts.config.compat.secret_placeholder))
}

/// Several services, with one question to the engine and one about maintenances.
pub(super) async fn all(
    api: &Api,
    connection: &impl Connection,
    services: &[Service],
) -> Result<Vec<Value>, ApiError> {
    let snapshots = api.snapshots(services).await?;
    let keys: Vec<_> = services.iter().map(|service| service.key).collect();
    let in_maintenance = covered(connection, &keys).await.or_unavailable()?;
    let keep = &api.parts.config.compat.secret_placeholder;
    let row = |(service, snapshot): (&Service, &Snapshot)| {
        service_json(service, &figures(snapshot, in_maintenance.contains(&service.key)), keep)
    };
    Ok(services.iter().zip(&snapshots).map(row).collect())
}

const fn figures(snapshot: &Snapshot, in_maintenance: bool) -> LiveFigures {
    LiveFigures {
        verdict: snapshot.verdict,
        last_check_at: snapshot.last_check_at,
        uptime_30d: snapshot.uptime_30d,
        avg_response_ms: snapshot.avg_response_ms,
        in_maintenance,
    }
}
