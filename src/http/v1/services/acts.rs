//! What people do to a service that goes on living: pause, resume, state its status, replace its ping address (contract 4.3.8,
//! 4.3.10, 4.3.11).
//!
//! Each act writes the window of its effect in the same transaction, so that uptime never depends on a message.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::gate::write::{Committed, Write};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{Errors, Fields};
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::http::v1::services::heartbeat::new_secret;
use crate::http::v1::services::{find, find_for_update, take_slot, view};
use crate::model::check::CheckType;
use crate::model::service::{OverrideStatus, Pause, PauseReason, Service, StatusOverride};
use crate::model::window::WindowKind;
use crate::store::{heartbeats, organisations, services, windows};

pub(in crate::http) async fn pause_service(call: Call<Api>) -> Result<Committed, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, effect, .. } = call;
    let write = effect.begin(&api).await?;
    let stored = find_for_update(&write, &caller, id).await?;
    let now = api.now();
    let at = stored.pause.map_or(now, |pause| pause.at);
    if stored.pause.is_none() {
        windows::open(&*write, stored.key, WindowKind::Pause, at).await.or_unavailable()?;
    }
    let pause = Some(Pause { reason: PauseReason::Manual, at });
    let changed = Service { pause, ..stored.clone() };
    finish((&api, &caller), write, (stored, changed)).await
}

pub(in crate::http) async fn resume_service(call: Call<Api>) -> Result<Committed, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, effect, .. } = call;
    let write = effect.begin(&api).await?;
    organisations::lock(&*write, caller.organisation.key).await.or_unavailable()?;
    let stored = find_for_update(&write, &caller, id).await?;
    if stored.pause.is_some() {
        take_slot(&write, &caller).await?;
        let now = api.now();
        windows::close_pause(&*write, stored.key, now).await.or_unavailable()?;
        heartbeats::count_from(&*write, stored.key, now).await.or_unavailable()?;
    }
    let changed = Service { pause: None, ..stored.clone() };
    finish((&api, &caller), write, (stored, changed)).await
}

pub(in crate::http) async fn set_status_override(call: Call<Api>) -> Result<Committed, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let errors = Errors::default();
    let fields = Fields::new(&body, "", &errors);
    let words = OverrideStatus::ALL.map(OverrideStatus::as_str);
    let status =
        fields.required("status").and_then(|field| field.word(&words)).and_then(|word| word.parse().ok());
    let reason = fields.required("reason").and_then(|field| field.text(1..=500));
    let (Some(status), Some(reason)) = (status, reason) else {
        return Err(ApiError::Fields(errors.into_inner()));
    };
    let write = effect.begin(&api).await?;
    let stored = find_for_update(&write, &caller, id).await?;
    let at = api.now();
    windows::open(&*write, stored.key, WindowKind::Override(status), at).await.or_unavailable()?;
    let stated = StatusOverride { status, reason, at, by: caller.token.name.clone() };
    let changed = Service { status_override: Some(stated), ..stored.clone() };
    finish((&api, &caller), write, (stored, changed)).await
}

pub(in crate::http) async fn remove_status_override(call: Call<Api>) -> Result<Committed, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, effect, .. } = call;
    let write = effect.begin(&api).await?;
    let stored = find_for_update(&write, &caller, id).await?;
    windows::close_override(&*write, stored.key, api.now()).await.or_unavailable()?;
    let changed = Service { status_override: None, ..stored.clone() };
    finish((&api, &caller), write, (stored, changed)).await
}

pub(in crate::http) async fn rotate_heartbeat(call: Call<Api>) -> Result<Committed, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, effect, .. } = call;
    let write = effect.begin(&api).await?;
    let stored = find_for_update(&write, &caller, id).await?;
    if stored.check_type != CheckType::Heartbeat {
        let rule = FieldRule::CheckTypeHeartbeat;
        return Err(ApiError::Fields(FieldErrors::of("check_type", rule)));
    }
    let secret = new_secret(&api, &caller, stored.id)?;
    heartbeats::rotate(&*write, stored.key, secret).await.or_unavailable()?;
    let service = Service { updated_at: api.now(), ..stored };
    let service = services::update(&*write, service).await.or_unavailable()?;
    let reply = Reply::data(view::one((&api, &caller), &*write, &service).await?);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

/// Stores the change, tells the engine, answers with the service. Without a change nothing is stored.
async fn finish(
    (api, caller): (&Api, &Caller),
    write: Write,
    (stored, changed): (Service, Service),
) -> Result<Committed, ApiError> {
    if changed == stored {
        let reply = Reply::data(view::one((api, caller), &*write, &stored).await?);
        return write.commit(reply).await;
    }
    let changed = Service { updated_at: api.now(), ..changed };
    let service = services::update(&*write, changed).await.or_unavailable()?;
    let reply = Reply::data(view::changed((api, caller), &*write, (&stored, &service)).await?);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}
