//! `/v1/services` (contract 4.3): list, read, create, change, delete.
//!
//! A write is: body, begin, store, commit, engine, answer. What people do to a running service (pause, override) is in
//! `acts`; reading a body in `draft`; what a delete means for others in `departure`; the object that clients see in `view`.

pub(super) mod acts;
mod departure;
mod draft;
pub(in crate::http) mod heartbeat;
pub(super) mod openapi;
pub(super) mod service_json;
pub mod settings;
mod tagging;
mod view;

pub(super) use view::StoredService;

use std::str::FromStr as _;
use std::sync::Arc;

use serde_json::json;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::quota::{Quota, demand_room};
use crate::http::kit::reply::Reply;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::http::v1::services::draft::Draft;
use crate::http::v1::services::heartbeat::new_secret;
use crate::http::v1::services::tagging::Tagging;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::Service;
use crate::model::tag::TagName;
use crate::store::{
    PageWindow, Transaction, heartbeats, maintenances, organisations, services, synced_groups, tags,
};

/// The parameters of a delete that take incidents or maintenances along.
pub(super) const DELETE_ORPHANED_INCIDENTS: &str = "delete_orphaned_incidents";
pub(super) const DELETE_ORPHANED_MAINTENANCES: &str = "delete_orphaned_maintenances";

/// Which page of which list: organisation, label, rows before it, rows of it.
pub(super) type ServicePage = (i64, Option<String>, u64, u64);

pub(super) async fn list_services(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let label = query.single("tag", &mut errors).map(str::to_owned);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let page = (caller.organisation.key, label, request.offset(), request.per_page);
    let generation = api.parts.databases.main.generation();
    let (stored, total) = match api.shown_pages.get(&page, generation) {
        Some(kept) => kept,
        None => {
            let read = read_page(&api, &page).await?;
            api.shown_pages.keep(page, generation, read.clone());
            read
        }
    };
    let rows = view::all((&api, &caller), &stored).await?;
    let path = format!("{}{canonical_path}", api.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

async fn read_page(api: &Api, page: &ServicePage) -> Result<(Arc<[StoredService]>, u64), ApiError> {
    let (organisation, label, offset, limit) = page;
    let main = api.parts.databases.main.reader();
    let tag = match label.as_deref().map(TagName::from_str) {
        None => None,
        // A label that names no tag selects nothing.
        Some(Err(_)) => return Ok((Arc::new([]), 0)),
        Some(Ok(name)) => match tags::find_named(main, *organisation, &name).await.or_unavailable()? {
            Some(tag) => Some(tag.row),
            None => return Ok((Arc::new([]), 0)),
        },
    };
    let window = PageWindow { offset: *offset, limit: *limit };
    let (rows, total) = services::list(main, *organisation, tag, window).await.or_unavailable()?;
    Ok((view::gather(main, rows).await?.into(), total))
}

pub(super) async fn show_service(call: Call<Api>) -> Result<Reply, ApiError> {
    let id = call.path.id(0)?;
    Ok(Reply::data(view::find((&call.state, &call.caller), id).await?))
}

pub(super) async fn create_service(call: Call<Api>) -> Result<Committed, ApiError> {
    let Call { state: api, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&api).await?;
    let tagging = Tagging::read(&body, &write, &caller, None).await?;
    let draft = Draft { api: &api, caller: &caller, id: Id::random(), tagging: &tagging };
    let service = draft.create(&body).map_err(ApiError::Fields)?;
    take_slot(&write, &caller).await?;
    let service = services::insert(&*write, service).await.or_unavailable()?;
    tagging.store(&write, &caller, (service.key, service.created_at)).await?;
    if service.check_type == CheckType::Heartbeat {
        let secret = new_secret(&api, &caller, service.id)?;
        heartbeats::insert(&*write, service.key, secret).await.or_unavailable()?;
    }
    follow(&write, &caller, &service).await?;
    let location = format!("{}/v1/services/{}", api.base_url, service.id);
    let reply = Reply::created(view::one((&api, &caller), &*write, &service).await?, &location);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn update_service(call: Call<Api>) -> Result<Committed, ApiError> {
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
        let reply = Reply::data(view::one((&api, &caller), &*write, &stored).await?);
        return write.commit(reply).await;
    }
    let changed = Service { updated_at: api.now(), ..changed };
    let service = services::update(&*write, changed).await.or_unavailable()?;
    tagging.store(&write, &caller, (service.key, service.updated_at)).await?;
    if service.settings != stored.settings {
        heartbeats::count_from(&*write, service.key, service.updated_at).await.or_unavailable()?;
    }
    if tagging.is_change() || service.name != stored.name {
        follow(&write, &caller, &service).await?;
    }
    let reply = Reply::data(view::changed((&api, &caller), &*write, (&stored, &service)).await?);
    let reply = write.commit(reply).await?;
    api.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn delete_service(call: Call<Api>) -> Result<Committed, ApiError> {
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
    if api.parts.engine.retire(service.id, service.key, service.revision).await.is_err() {
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
    let usage = async { services::count_active(transaction, organisation).await.or_unavailable() };
    demand_room(Quota::Services, caller.limits.services, usage).await
}
