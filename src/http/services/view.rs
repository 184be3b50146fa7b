//! Services as clients see them: what is stored, joined with tags, maintenances and what the engine knows now.
//!
//! However many services are shown, each of these is asked once.

use std::slice;

use serde_json::Value;

use crate::engine::aggregator::Snapshot;
use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::service_json::{Beside, LiveFigures, service_json};
use crate::http::store_access::StoreResult as _;
use crate::model::service::Service;
use crate::model::verdict::Verdict;
use crate::store::maintenances::effect::covered;
use crate::store::{Connection, tags};

/// One service.
pub(super) async fn one(
    api: &Api,
    connection: &impl Connection,
    service: &Service,
) -> Result<Value, ApiError> {
    let mut rows = all(api, connection, slice::from_ref(service)).await?;
    rows.pop().ok_or(ApiError::NotFound)
}

/// One service as it will be once `after` is committed in the place of `before`: the engine has not heard of it yet.
pub(super) async fn changed(
    api: &Api,
    connection: &impl Connection,
    (before, after): (&Service, &Service),
) -> Result<Value, ApiError> {
    let mut snapshots = api.snapshots(slice::from_ref(after)).await?;
    if before.pause.is_some() || !before.is_configured() {
        for snapshot in &mut snapshots {
            snapshot.verdict = Verdict::Unknown;
        }
    }
    let mut rows = render(api, connection, (slice::from_ref(after), &snapshots)).await?;
    rows.pop().ok_or(ApiError::NotFound)
}

/// Several services.
pub(super) async fn all(
    api: &Api,
    connection: &impl Connection,
    services: &[Service],
) -> Result<Vec<Value>, ApiError> {
    let snapshots = api.snapshots(services).await?;
    render(api, connection, (services, &snapshots)).await
}

async fn render(
    api: &Api,
    connection: &impl Connection,
    (services, snapshots): (&[Service], &[Snapshot]),
) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<_> = services.iter().map(|service| service.key).collect();
    let tags = tags::of_services(connection, &keys).await.or_unavailable()?;
    let in_maintenance = covered(connection, &keys).await.or_unavailable()?;
    let keep = &api.parts.config.compat.secret_placeholder;
    let row = |(service, snapshot): (&Service, &Snapshot)| {
        let live = figures(snapshot, in_maintenance.contains(&service.key));
        let tags = tags.get(&service.key).map(Vec::as_slice).unwrap_or_default();
        service_json(service, &Beside { live, tags }, keep)
    };
    Ok(services.iter().zip(snapshots).map(row).collect())
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
