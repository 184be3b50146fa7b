//! The service as clients see it (contract 4.3.1): what is stored, and what the engine knows now.

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::engine::aggregator::Snapshot;
use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::settings::settings_json;
use crate::model::check::CheckType;
use crate::model::service::{Service, ServiceStatus};
use crate::probe::catalogue::definition;

/// One service.
pub(super) async fn one(api: &Api, service: &Service) -> Result<Value, ApiError> {
    let mut rows = all(api, std::slice::from_ref(service)).await?;
    rows.pop().ok_or(ApiError::NotFound)
}

/// Several services, with one question to the engine.
pub(super) async fn all(api: &Api, services: &[Service]) -> Result<Vec<Value>, ApiError> {
    let snapshots = api.snapshots(services).await?;
    let keep = &api.parts.config.compat.secret_placeholder;
    Ok(services.iter().zip(&snapshots).map(|(service, snapshot)| to_json(service, snapshot, keep)).collect())
}

fn to_json(service: &Service, snapshot: &Snapshot, keep: &str) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let stated = service.status_override.as_ref();
    let pause = service.pause.as_ref();
    let configured_at = match service.check_type {
        CheckType::Manual => Some(service.created_at),
        _ => service.configured_at,
    };
    json!({
        "id": service.id.as_str(),
        "name": service.name,
        "check_type": service.check_type.as_str(),
        "check_type_label": definition(service.check_type).label,
        "target": service.target,
        "status": ServiceStatus::measured(service, snapshot.verdict).as_str(),
        "effective_status": ServiceStatus::effective(service, snapshot.verdict, false).as_str(),
        "status_override": stated.map(|stated| stated.status.as_str()),
        "status_override_reason": stated.map(|stated| stated.reason.as_str()),
        "status_override_at": time(stated.map(|stated| stated.at)),
        "status_override_by": stated.map(|stated| stated.by.as_str()),
        "is_paused": pause.is_some(),
        "paused_reason": pause.map(|pause| pause.reason.as_str()),
        "paused_at": time(pause.map(|pause| pause.at)),
        "is_configured": service.is_configured(),
        "configured_at": time(configured_at),
        "uptime_30d": snapshot.uptime_30d,
        "avg_response_ms": snapshot.avg_response_ms,
        "last_check_at": time(snapshot.last_check_at),
        "favicon_url": null,
        "tags": [],
        "settings": service.settings.as_ref().map(|settings| settings_json(settings, keep)),
        "heartbeat": null,
        "created_at": service.created_at.to_string(),
        "updated_at": service.updated_at.to_string(),
    })
}
