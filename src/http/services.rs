//! `/v1/services` (contract 4.3): list, read, create, change, delete.
//!
//! A write is: body, begin, store, commit, engine, answer. What people do to a running service (pause, override) is in
//! `acts`; reading a body in `draft`; what a delete means for others in `departure`; the object that clients see in `view`.

pub(super) mod acts;
mod departure;
mod draft;
mod tagging;
mod view;

use std::str::FromStr as _;

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
use crate::http::services::tagging::Tagging;
use crate::http::store_access::StoreResult as _;
use crate::id::Id;
use crate::model::service::Service;
use crate::model::tag::TagName;
use crate::store::{Transaction, maintenances, organisations, services, synced_groups, tags};

/// The parameters of a delete that take incidents or maintenances along.
pub(super) const DELETE_ORPHANED_INCIDENTS: &str = "delete_orphaned_incidents";
pub(super) const DELETE_ORPHANED_MAINTENANCES: &str = "delete_orphaned_maintenances";

pub(super) async fn list_services(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let label = query.single("tag", &mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = api.parts.databases.main.reader();
    let organisation = caller.organisation.key;
    let tag = match label.map(TagName::from_str) {
        None => None,
        Some(Err(_)) => Some(None),
        Some(Ok(name)) => Some(tags::find_named(main, organisation, &name).await.or_unavailable()?),
    };
    let window = (request.offset(), request.per_page);
    let (rows, total) = match tag {
        // A label that names no tag selects nothing.
        Some(None) => (Vec::new(), 0),
        Some(Some(tag)) => {
            services::list(main, organisation, Some(tag.row), window).await.or_unavailable()?
        }
        None => services::list(main, organisation, None, window).await.or_unavailable()?,
    };
    let rows = view::all(&api, main, &rows).await?;
    let path = format!("{}{canonical_path}", api.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let service = find(&call).await?;
    let main = call.state.parts.databases.main.reader();
    Ok(Reply::data(view::one(&call.state, main, &service).await?))
}

pub(super) async fn create_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&api).await?;
    let tagging = Tagging::read(&body, &write, &caller, None).await?;
    let draft = Draft { api: &api, caller: &caller, id: Id::random(), tagging: &tagging };
    let service = draft.create(&body).map_err(ApiError::Fields)?;
    take_slot(&write, &caller).await?;
    let service = services::insert(&*write, service).await.or_unavailable()?;
    tagging.store(&write, &caller, (service.key, service.created_at)).await?;
    follow(&write, &caller, &service).await?;
    let location = format!("{}/v1/services/{}", api.base_url, service.id);
    let reply = Reply::created(view::one(&api, &*write, &service).await?, &location);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn update_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let id = find(&call).await?.id;
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&api).await?;
    organisations::lock(&*write, caller.organisation.key).await.or_unavailable()?;
    let stored = find_for_update(&write, &caller, id).await?;
    let tagging = Tagging::read(&body, &write, &caller, Some(stored.key)).await?;
    let draft = Draft { api: &api, caller: &caller, id, tagging: &tagging };
    let changed = draft.update(&body, &stored).map_err(ApiError::Fields)?;
    if changed == stored && !tagging.is_change() {
        return Ok(Reply::data(view::one(&api, &*write, &stored).await?));
    }
    let changed = Service { updated_at: api.now(), ..changed };
    let service = services::update(&*write, changed).await.or_unavailable()?;
    tagging.store(&write, &caller, (service.key, service.updated_at)).await?;
    if tagging.is_change() || service.name != stored.name {
        follow(&write, &caller, &service).await?;
    }
    let reply = Reply::data(view::changed(&api, &*write, (&stored, &service)).await?);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn delete_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let Service { id, key, .. } = find(&call).await?;
    let Call { state: api, caller, query, effect, .. } = call;
    let mut errors = FieldErrors::default();
    for flag in [DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES] {
        query.boolean(flag, &mut errors);
    }
    errors.into_result(()).map_err(ApiError::Fields)?;
    let write = effect.begin(&api).await?;
    organisations::lock(&*write, caller.organisation.key).await.or_unavailable()?;
    maintenances::cleanup::lock_of(&*write, key).await.or_unavailable()?;
    let service = find_for_update(&write, &caller, id).await?;
    let incidents = departure::leave_incidents(&api, &write, (&caller, &query), service.key).await?;
    let delete_orphaned = query.is_true(DELETE_ORPHANED_MAINTENANCES);
    let left = maintenances::cleanup::detach(&*write, service.key, delete_orphaned, api.now())
        .await
        .or_unavailable()?;
    synced_groups::forget_service(&*write, service.key).await.or_unavailable()?;
    services::delete(&*write, service.key).await.or_unavailable()?;
    let cleanup = json!({
        "incidents_resolved": incidents.resolved,
        "incidents_deleted": incidents.deleted,
        "incidents_detached": incidents.detached,
        "maintenances_cancelled": left.cancelled,
        "maintenances_deleted": left.deleted,
        "maintenances_detached": left.detached,
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

/// Lets the groups of status pages that follow a tag follow this service (contract 4.14.4). The organisation is locked before
/// the service everywhere, as it is by whoever writes components.
async fn follow(transaction: &Transaction, caller: &Caller, service: &Service) -> Result<(), ApiError> {
    let (organisation, keys) = (&caller.organisation, [service.key]);
    synced_groups::follow_services(transaction, organisation, &keys, service.updated_at)
        .await
        .or_unavailable()
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
