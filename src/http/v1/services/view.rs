//! Services as clients see them: what is stored, joined with what the engine knows now.
//!
//! However many services are shown, tags, maintenances, ping addresses and the engine are each asked once. What is stored is
//! kept until something is written.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::aggregator::Snapshot;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::http::v1::services::heartbeat::heartbeat_json;
use crate::http::v1::services::service_json::{Beside, LiveFigures, service_json};
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::Service;
use crate::model::tag::Tag;
use crate::model::verdict::Verdict;
use crate::store::heartbeats::StoredHeartbeat;
use crate::store::maintenances::effect::covered;
use crate::store::{Connection, heartbeats, services, tags};

/// What is stored about a service, as far as clients see it.
#[derive(Debug)]
pub(in crate::http) struct StoredService {
    service: Service,
    tags: Vec<Tag>,
    in_maintenance: bool,
    heartbeat: Option<StoredHeartbeat>,
}

/// One service by its id.
pub(super) async fn find((api, caller): (&Api, &Caller), id: Id) -> Result<Value, ApiError> {
    let main = &api.parts.databases.main;
    let (key, generation) = ((caller.organisation.key, id), main.generation());
    let stored = match api.shown_services.get(&key, generation) {
        Some(stored) => stored,
        None => {
            let found = services::find(main.reader(), key.0, id).await.or_unavailable()?;
            let stored = gather(main.reader(), vec![found.ok_or(ApiError::NotFound)?]).await?;
            let stored = Arc::new(stored.into_iter().next().ok_or(ApiError::NotFound)?);
            api.shown_services.keep(key, generation, Arc::clone(&stored));
            stored
        }
    };
    let snapshots = api.live(&[(stored.service.id, stored.service.key)]).await?;
    show((api, caller), &stored, snapshots.first().copied().unwrap_or_default())
}

/// One service as it stands in this transaction.
pub(super) async fn one(
    by: (&Api, &Caller),
    connection: &impl Connection,
    service: &Service,
) -> Result<Value, ApiError> {
    let snapshots = by.0.live(&[(service.id, service.key)]).await?;
    written(by, connection, (service, snapshots.first().copied().unwrap_or_default())).await
}

/// One service as it will be once `after` is committed in the place of `before`: the engine has not heard of it yet.
pub(super) async fn changed(
    by: (&Api, &Caller),
    connection: &impl Connection,
    (before, after): (&Service, &Service),
) -> Result<Value, ApiError> {
    let snapshots = by.0.live(&[(after.id, after.key)]).await?;
    let mut snapshot = snapshots.first().copied().unwrap_or_default();
    if before.pause.is_some() || !before.is_configured() {
        snapshot.verdict = Verdict::Unknown;
    }
    written(by, connection, (after, snapshot)).await
}

async fn written(
    by: (&Api, &Caller),
    connection: &impl Connection,
    (service, snapshot): (&Service, Snapshot),
) -> Result<Value, ApiError> {
    let stored = gather(connection, vec![service.clone()]).await?;
    show(by, stored.first().ok_or(ApiError::NotFound)?, snapshot)
}

/// Several services.
pub(super) async fn all(
    (api, caller): (&Api, &Caller),
    stored: &[StoredService],
) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<_> = stored.iter().map(|stored| (stored.service.id, stored.service.key)).collect();
    let snapshots = api.live(&keys).await?;
    let rows = stored.iter().zip(snapshots);
    rows.map(|(stored, snapshot)| show((api, caller), stored, snapshot)).collect()
}

/// What is stored beside these services.
pub(super) async fn gather(
    connection: &impl Connection,
    services: Vec<Service>,
) -> Result<Vec<StoredService>, ApiError> {
    let keys: Vec<_> = services.iter().map(|service| service.key).collect();
    let mut tags = tags::of_services(connection, &keys).await.or_unavailable()?;
    let in_maintenance = covered(connection, &keys).await.or_unavailable()?;
    let reporting = services.iter().filter(|service| service.check_type == CheckType::Heartbeat);
    let reporting: Vec<_> = reporting.map(|service| service.key).collect();
    let mut heartbeats = heartbeats::of_services(connection, &reporting).await.or_unavailable()?;
    let row = |service: Service| StoredService {
        tags: tags.remove(&service.key).unwrap_or_default(),
        in_maintenance: in_maintenance.contains(&service.key),
        heartbeat: heartbeats.remove(&service.key),
        service,
    };
    Ok(services.into_iter().map(row).collect())
}

fn show(
    (api, caller): (&Api, &Caller),
    stored: &StoredService,
    snapshot: Snapshot,
) -> Result<Value, ApiError> {
    let StoredService { service, tags, in_maintenance, heartbeat } = stored;
    let live = LiveFigures {
        verdict: snapshot.verdict,
        last_check_at: snapshot.last_check_at,
        uptime_30d: snapshot.uptime_30d,
        avg_response_ms: snapshot.avg_response_ms,
        in_maintenance: *in_maintenance,
    };
    let heartbeat = heartbeat.as_ref().map(|heartbeat| heartbeat_json(api, caller, (service.id, heartbeat)));
    let heartbeat = heartbeat.transpose()?;
    let keep = &api.parts.config.compat.secret_placeholder;
    Ok(service_json(service, &Beside { live, tags, heartbeat: heartbeat.as_ref() }, keep))
}
