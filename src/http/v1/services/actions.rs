//! Actions on a service: pause, resume, override its status, replace its ping URL (contract 4.3.8, 4.3.10, 4.3.11).
//!
//! Each action also writes the time window of its effect, in the same transaction, so that uptime does not depend on
//! messages to the engine.

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::resource_lookup;
use crate::http::v1::services::heartbeat::new_secret;
use crate::http::v1::services::service_viewer::ServiceViewer;
use crate::http::v1::services::take_active_slot;
use crate::http::v1::state::AppState;
use crate::model::check::CheckType;
use crate::model::service::{
    OverrideStatus, PauseReason, REASON_LENGTH, Service, ServicePause, StatusOverride,
};
use crate::model::service_window::WindowKind;
use crate::store::changes::ChangeScope;
use crate::store::{heartbeats, outages, services, windows};

pub(in crate::http) async fn pause_service(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &stored).await?);
    let now = state.now();
    let at = stored.pause.map_or(now, |pause| pause.at);
    if stored.pause.is_none() {
        windows::open(&*write, stored.key, WindowKind::Pause, at).await?;
    }
    let pause = Some(ServicePause { reason: PauseReason::Manual, at });
    let changed = Service { pause, ..stored.clone() };
    finish(ServiceViewer { state: &state, caller: &caller }, write, &stored, changed).await
}

pub(in crate::http) async fn resume_service(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &stored).await?);
    if stored.pause.is_some() {
        take_active_slot(&write, &caller).await?;
        let now = state.now();
        windows::close_pause(&*write, stored.key, now).await?;
        heartbeats::count_from(&*write, stored.key, now).await?;
    }
    let changed = Service { pause: None, ..stored.clone() };
    finish(ServiceViewer { state: &state, caller: &caller }, write, &stored, changed).await
}

pub(in crate::http) async fn set_status_override(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(&body, "", &errors);
    let word = fields.required("status").and_then(|field| field.word(OverrideStatus::WORDS));
    let status = word.and_then(|word| word.parse().ok());
    let reason = fields.required("reason").and_then(|field| field.text(REASON_LENGTH));
    let (Some(status), Some(reason)) = (status, reason) else {
        return Err(ApiError::Fields(errors.into_inner()));
    };
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &stored).await?);
    let at = state.now();
    windows::open(&*write, stored.key, WindowKind::Override(status), at).await?;
    let stated = StatusOverride { status, reason, at, by: caller.token.name.clone() };
    let changed = Service { status_override: Some(stated), ..stored.clone() };
    finish(ServiceViewer { state: &state, caller: &caller }, write, &stored, changed).await
}

pub(in crate::http) async fn remove_status_override(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &stored).await?);
    let now = state.now();
    windows::close_override(&*write, stored.key, now).await?;
    // Decisions that the override held back are due now.
    outages::evaluate_now(&*write, &[stored.key], now).await?;
    let changed = Service { status_override: None, ..stored.clone() };
    finish(ServiceViewer { state: &state, caller: &caller }, write, &stored, changed).await
}

pub(in crate::http) async fn rotate_heartbeat(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &stored).await?);
    if stored.check_type != CheckType::Heartbeat {
        let rule = FieldRule::CheckTypeHeartbeat;
        return Err(ApiError::Fields(FieldErrors::of("check_type", rule)));
    }
    let secret = new_secret(&state, &caller, stored.id)?;
    heartbeats::rotate(&*write, stored.key, &secret).await?;
    let service = Service { updated_at: state.now(), ..stored };
    write.concerns(ChangeScope::Service(service.key));
    let service = services::update(&*write, service).await?;
    let reply = ApiReply::data(
        ServiceViewer { state: &state, caller: &caller }.show_current(&*write, &service).await?,
    );
    let reply = write.commit(reply).await?;
    state.notify_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

/// Stores the change, notifies the engine, and responds with the service. Without a change, nothing is stored.
async fn finish(
    viewer: ServiceViewer<'_>,
    write: WriteTransaction,
    stored: &Service,
    changed: Service,
) -> Result<CommittedReply, ApiError> {
    if changed == *stored {
        let reply = ApiReply::data(viewer.show_current(&*write, stored).await?);
        return write.commit(reply).await;
    }
    let changed = Service { updated_at: viewer.state.now(), ..changed };
    write.concerns(ChangeScope::Service(changed.key));
    let service = services::update(&*write, changed).await?;
    let reply = ApiReply::data(viewer.changed(&*write, stored, &service).await?);
    let reply = write.commit(reply).await?;
    viewer.state.notify_engine(&service, viewer.caller.organisation.id).await;
    Ok(reply)
}
