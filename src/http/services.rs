//! `/v1/services` (contract 4.3): list, read, create, change, delete.
//!
//! A write is: body, begin, store, commit, engine, answer. What people do to a running service (pause, override) is in
//! `acts`; reading a body in `draft`; the object that clients see in `view`.

pub(super) mod acts;
mod draft;
mod view;

use serde_json::json;

use crate::http::api::Api;
use crate::http::auth::Caller;
use crate::http::call::Call;
use crate::http::error::ApiError;
use crate::http::field_errors::FieldErrors;
use crate::http::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::quota::{Quota, QuotaExceeded};
use crate::http::reply::Reply;
use crate::http::services::draft::Draft;
use crate::http::store_access::StoreResult as _;
use crate::id::Id;
use crate::model::service::Service;
use crate::store::{Transaction, organisations, services};

/// The parameters of a delete that take incidents or maintenances along.
pub(super) const DELETE_ORPHANED_INCIDENTS: &str = "delete_orphaned_incidents";
pub(super) const DELETE_ORPHANED_MAINTENANCES: &str = "delete_orphaned_maintenances";

pub(super) async fn list_services(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let wants_tag = query.single("tag", &mut errors).is_some();
    errors.into_result(()).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    // No service carries a tag, so every label is unknown, and an unknown label selects nothing.
    let (rows, total) = if wants_tag {
        (Vec::new(), 0)
    } else {
        let main = api.parts.databases.main.reader();
        services::list(main, caller.organisation.key, request.offset(), request.per_page)
            .await
            .or_unavailable()?
    };
    let rows = view::all(&api, &rows).await?;
    let path = format!("{}{canonical_path}", api.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let service = find(&call).await?;
    Ok(Reply::data(view::one(&call.state, &service).await?))
}

pub(super) async fn create_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let draft = Draft { api: &api, caller: &caller, id: Id::random() };
    let service = draft.create(&body).map_err(ApiError::Fields)?;
    let write = effect.begin(&api).await?;
    take_slot(&write, &caller).await?;
    let service = services::insert(&*write, service).await.or_unavailable()?;
    let location = format!("{}/v1/services/{}", api.base_url, service.id);
    let reply = write.commit(Reply::created(view::one(&api, &service).await?, &location)).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn update_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&api).await?;
    let stored = find_for_update(&write, &caller, id).await?;
    let changed =
        Draft { api: &api, caller: &caller, id }.update(&body, &stored).map_err(ApiError::Fields)?;
    if changed == stored {
        return Ok(Reply::data(view::one(&api, &stored).await?));
    }
    let changed = Service { updated_at: api.now(), ..changed };
    let service = services::update(&*write, changed).await.or_unavailable()?;
    let reply = write.commit(Reply::data(view::changed(&api, &stored, &service).await?)).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn delete_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, query, effect, .. } = call;
    let mut errors = FieldErrors::default();
    for flag in [DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES] {
        query.boolean(flag, &mut errors);
    }
    errors.into_result(()).map_err(ApiError::Fields)?;
    let write = effect.begin(&api).await?;
    let service = find_for_update(&write, &caller, id).await?;
    services::delete(&*write, service.key).await.or_unavailable()?;
    let cleanup = json!({
        "incidents_resolved": 0, "incidents_deleted": 0, "incidents_detached": 0,
        "maintenances_cancelled": 0, "maintenances_deleted": 0, "maintenances_detached": 0,
    });
    let deleted = json!({"id": service.id.as_str(), "deleted": true, "cleanup": cleanup});
    let reply = write.commit(Reply::data(deleted)).await?;
    if api.parts.engine.retire(service.id, service.key).await.is_err() {
        tracing::warn!(service = %service.id, "the engine has stopped");
    }
    Ok(reply)
}

/// The service in the path (step 8 of contract 1.8).
///
/// # Errors
/// 404, 503, 500.
pub(super) async fn find(call: &Call<Api>) -> Result<Service, ApiError> {
    let id = call.path.id(0)?;
    let main = call.state.parts.databases.main.reader();
    let found = services::find(main, call.caller.organisation.key, id).await.or_unavailable()?;
    found.ok_or(ApiError::NotFound)
}

/// The service again, kept from others until the transaction ends.
async fn find_for_update(transaction: &Transaction, caller: &Caller, id: Id) -> Result<Service, ApiError> {
    let found = services::find_for_update(transaction, caller.organisation.key, id).await.or_unavailable()?;
    found.ok_or(ApiError::NotFound)
}

/// Passes when the plan has room for one more active service (step 13). The organisation stays locked until the
/// transaction ends, so that two requests cannot take the same slot.
async fn take_slot(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let organisation = caller.organisation.key;
    organisations::lock(transaction, organisation).await.or_unavailable()?;
    let Some(limit) = caller.limits.services else { return Ok(()) };
    let usage = services::count_active(transaction, organisation).await.or_unavailable()?;
    if usage < u64::from(limit) {
        return Ok(());
    }
    Err(ApiError::Quota(QuotaExceeded { quota: Quota::Services, limit, usage }))
}
