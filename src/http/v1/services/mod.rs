//! `/v1/services` (contract 4.3): list, read, create, change and delete services.
//!
//! The steps of a write are: read the body, begin, store, commit, notify the engine, respond. `actions` pauses and
//! overrides; bodies are read in `draft`; `deletion` has the effects of a deletion; `view` is the JSON.

pub(super) mod actions;
pub(super) mod check_now;
mod deletion;
mod dependency_input;
mod dependency_view;
mod draft;
mod filter;
mod heartbeat;
pub(in crate::http) mod openapi;
mod search;
mod service_cache;
mod service_viewer;
pub mod settings;
mod stored;
mod tag_input;
pub(super) mod view;

pub(super) use draft::{SettingsSubject, merge_settings, read_unstored};
pub(super) use service_cache::ServiceCache;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::slot::take_slot;
use crate::http::v1::resource_lookup;
use crate::http::v1::services::dependency_input::{DependencyInput, recheck_dependents, refuse_circles};
use crate::http::v1::services::draft::ServiceParser;
use crate::http::v1::services::filter::ServiceFilter;
use crate::http::v1::services::heartbeat::new_secret;
use crate::http::v1::services::search::search;
use crate::http::v1::services::service_cache::{PageKey, stamp};
use crate::http::v1::services::service_viewer::ServiceViewer;
use crate::http::v1::services::stored::ServicePage;
use crate::http::v1::services::tag_input::TagInput;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle::service_deletion::settle_maintenances;
use crate::model::check::CheckType;
use crate::model::service::Service;
use crate::model::visibility::Visibility;
use crate::store::changes::ChangeScope;
use crate::store::{Transaction, heartbeats, maintenances, services, synced_groups};

/// Query parameters of a deletion that also deletes incidents or maintenances that have no other service.
/// Time limit for a list that the database can count as well.
const MEMORY_PATIENCE: Duration = Duration::from_secs(1);

pub(super) const DELETE_ORPHANED_INCIDENTS: &str = "delete_orphaned_incidents";
pub(super) const DELETE_ORPHANED_MAINTENANCES: &str = "delete_orphaned_maintenances";

pub(super) async fn list_services(
    cache: Arc<ServiceCache>,
    call: ApiCall<AppState>,
) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let filter = ServiceFilter::read(&query)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let page = if filter.is_stored() {
        stored_page(&cache, &filter, &state, caller.visibility(), request).await?
    } else {
        search(&filter, &state, caller.visibility(), request).await?
    };
    let rows = ServiceViewer { state: &state, caller: &caller }.all(&page.rows).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total: page.total, path: &path, query: &query }.envelope(rows)))
}

/// Returns a page of a list by which the database can filter. Counting many services takes the database long, so they are
/// counted in memory if they are there.
async fn stored_page(
    cache: &ServiceCache,
    filter: &ServiceFilter,
    state: &AppState,
    visibility: Visibility,
    request: PageRequest,
) -> Result<ServicePage, ApiError> {
    let main = &state.databases.main;
    let (offset, limit) = (request.offset(), request.per_page);
    let key = PageKey { visibility, filter: filter.stored.clone(), offset, limit };
    if let Some(page) = cache.cached_page(main, &key).await? {
        return Ok(page);
    }
    let stamp = stamp(main, visibility);
    // Bringing the services in memory up to date may take long, for example after a change of very many.
    if main.changes().is_some()
        && state.fleets.is_loaded(visibility.organisation())
        && let Ok(Ok(page)) = timeout(MEMORY_PATIENCE, search(filter, state, visibility, request)).await
    {
        cache.keep_services(stamp, &page.rows);
        cache.keep_page(key, stamp, &page);
        return Ok(page);
    }
    cache.read_page(main, key).await
}

pub(super) async fn show_service(
    cache: Arc<ServiceCache>,
    call: ApiCall<AppState>,
) -> Result<ApiReply, ApiError> {
    let id = call.path.id(0)?;
    let stored = cache.one(&call.state.databases.main, call.caller.visibility(), id).await?;
    let viewer = ServiceViewer { state: &call.state, caller: &call.caller };
    Ok(ApiReply::data(viewer.stored(&stored).await?))
}

pub(super) async fn create_service(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let viewer = ServiceViewer { state: &state, caller: &caller };
    let write = effect.begin_locked(&state.databases.main).await?;
    let tagging = TagInput::read(&body, &write, &caller, None).await?;
    let depending = DependencyInput::read(&body, &write, &caller, None).await?;
    let id = Id::random();
    let draft =
        ServiceParser { state: &state, caller: &caller, id, tagging: &tagging, depending: &depending };
    let service = draft.read_new(&body).map_err(ApiError::Fields)?;
    take_active_slot(&write, &caller).await?;
    take_total_slot(&write, &caller).await?;
    let service = services::insert(&*write, service).await?;
    tagging.store(&write, &caller, service.key, service.created_at).await?;
    depending.store(&write, service.key).await?;
    refuse_circles(&write, &caller, "depends_on", service.key).await?;
    if service.check_type == CheckType::Heartbeat {
        let secret = new_secret(&state, &caller, service.id)?;
        heartbeats::insert(&*write, service.key, &secret).await?;
    }
    update_synced_groups(&write, &caller, &service).await?;
    write.concerns(ChangeScope::Organisation(caller.organisation.key));
    write.concerns(ChangeScope::Service(service.key));
    let location = format!("{}/v1/services/{}", state.base_url, service.id);
    let reply = ApiReply::created(viewer.show_current(&*write, &service).await?, &location);
    let reply = write.commit(reply).await?;
    state.notify_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn update_service(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, services::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let viewer = ServiceViewer { state: &state, caller: &caller };
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(viewer.show_current(&*write, &stored).await?);
    let tagging = TagInput::read(&body, &write, &caller, Some(stored.key)).await?;
    let depending = DependencyInput::read(&body, &write, &caller, Some(stored.id)).await?;
    let draft =
        ServiceParser { state: &state, caller: &caller, id, tagging: &tagging, depending: &depending };
    let changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    let has_new_dependencies = depending.is_change(&write, stored.key).await?;
    if changed == stored && !tagging.is_change() && !has_new_dependencies {
        let reply = ApiReply::data(viewer.show_current(&*write, &stored).await?);
        return write.commit(reply).await;
    }
    let changed = Service { updated_at: state.now(), ..changed };
    if tagging.is_change() {
        recheck_dependents(&write, stored.key, changed.updated_at).await?;
    }
    let service = services::update(&*write, changed).await?;
    tagging.store(&write, &caller, service.key, service.updated_at).await?;
    if has_new_dependencies {
        depending.store(&write, service.key).await?;
    }
    if has_new_dependencies || tagging.is_change() {
        let field = if has_new_dependencies { "depends_on" } else { "tags" };
        refuse_circles(&write, &caller, field, service.key).await?;
        recheck_dependents(&write, service.key, service.updated_at).await?;
    }
    if service.settings != stored.settings {
        heartbeats::count_from(&*write, service.key, service.updated_at).await?;
    }
    write.concerns(ChangeScope::Service(service.key));
    if tagging.is_change() {
        write.concerns(ChangeScope::Organisation(caller.organisation.key));
    }
    if tagging.is_change() || service.name != stored.name {
        update_synced_groups(&write, &caller, &service).await?;
    }
    let reply = ApiReply::data(viewer.changed(&*write, &stored, &service).await?);
    let reply = write.commit(reply).await?;
    state.notify_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn delete_service(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let Service { id, key, .. } = resource_lookup::find_or_404(&call, services::find).await?;
    let ApiCall { state, caller, query, effect, .. } = call;
    let viewer = ServiceViewer { state: &state, caller: &caller };
    let mut errors = FieldErrors::default();
    for flag in [DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES] {
        query.boolean(flag, &mut errors);
    }
    errors.into_result(()).map_err(ApiError::Fields)?;
    let write = effect.begin_locked(&state.databases.main).await?;
    maintenances::of_service::lock_of(&*write, key).await?;
    let service = resource_lookup::lock_or_404(&write, &caller, id, services::find_for_update).await?;
    write.replaces(viewer.show_current(&*write, &service).await?);
    let incidents = deletion::settle_service_incidents(&state, &write, &caller, &query, service.key).await?;
    let delete_orphaned = query.is_true(DELETE_ORPHANED_MAINTENANCES);
    let left = settle_maintenances(&write, service.key, delete_orphaned, state.now()).await?;
    recheck_dependents(&write, service.key, state.now()).await?;
    synced_groups::forget_service(&*write, service.key).await?;
    services::delete(&*write, service.key).await?;
    write.concerns(ChangeScope::Organisation(caller.organisation.key));
    write.concerns(ChangeScope::Service(service.key));
    let cleanup = json!({
        "incidents_resolved": incidents.resolved,
        "incidents_deleted": incidents.deleted,
        "incidents_detached": incidents.detached,
        "maintenances_cancelled": left.cancelled,
        "maintenances_deleted": left.deleted,
        "maintenances_detached": left.detached,
    });
    let deleted = json!({"id": service.id.as_str(), "deleted": true, "cleanup": cleanup});
    let reply = write.commit(ApiReply::data(deleted)).await?;
    state.router.retire(service.address(), service.revision).await;
    Ok(reply)
}

/// Updates the groups of status pages that follow a tag of this service (contract 4.14.4). The organisation must be locked
/// before the service, in the same order as by writes of components.
async fn update_synced_groups(
    transaction: &Transaction,
    caller: &Caller,
    service: &Service,
) -> Result<(), ApiError> {
    let (organisation, keys) = (&caller.organisation, [service.key]);
    Ok(synced_groups::follow_services(transaction, organisation, &keys, service.updated_at).await?)
}

/// Checks that the plan has room for another active service (step 13). The organisation must be locked until the transaction
/// ends, so that two requests cannot take the same slot.
async fn take_active_slot(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let usage = services::count_active(transaction, caller.organisation.key);
    take_slot(PlanQuota::Services, caller.limits.services, usage).await
}

/// Checks that the plan has room for another service of any state, paused ones included, as [`take_active_slot`] does.
async fn take_total_slot(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let usage = services::count(transaction, caller.organisation.key);
    take_slot(PlanQuota::ServicesTotal, caller.limits.services_of_any_state(), usage).await
}
