//! `/v1/services` (contract 4.3): list, read, create, change, delete.
//!
//! The steps of a write are: body, begin, store, commit, engine, response. Actions (pause, override) are in `acts`;
//! reading a body in `draft`; the effects of a deletion in `departure`; the view in `view`.

pub(super) mod acts;
mod departure;
mod depending;
mod draft;
mod filter;
mod heartbeat;
mod kept;
pub(in crate::http) mod openapi;
mod reach;
mod reading;
pub mod settings;
mod stored;
mod tagging;
pub(super) mod view;

pub(super) use draft::{Written, merge_settings};
pub(super) use kept::KeptServices;

use std::sync::Arc;

use serde_json::json;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::quota::Quota;
use crate::http::kit::reply::Reply;
use crate::http::kit::slot::take_slot;
use crate::http::v1::in_path;
use crate::http::v1::services::depending::{Depending, look_anew, refuse_circles};
use crate::http::v1::services::draft::Draft;
use crate::http::v1::services::filter::ServiceFilter;
use crate::http::v1::services::heartbeat::new_secret;
use crate::http::v1::services::kept::PageKey;
use crate::http::v1::services::reading::Viewer;
use crate::http::v1::services::tagging::Tagging;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle::service_deletion::settle_maintenances;
use crate::model::check::CheckType;
use crate::model::service::Service;
use crate::store::changes::Scope;
use crate::store::{Transaction, heartbeats, maintenances, services, synced_groups};

/// Parameters of a delete that also deletes incidents or maintenances.
pub(super) const DELETE_ORPHANED_INCIDENTS: &str = "delete_orphaned_incidents";
pub(super) const DELETE_ORPHANED_MAINTENANCES: &str = "delete_orphaned_maintenances";

pub(super) async fn list_services(kept: Arc<KeptServices>, call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, query, canonical_path, .. } = call;
    let filter = ServiceFilter::read(&query)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let page = if filter.is_stored() {
        let (offset, limit) = (request.offset(), request.per_page);
        let key = PageKey { sight: caller.sight(), filter: filter.stored, offset, limit };
        kept.page(&state.databases.main, key).await?
    } else {
        filter.search(&state, caller.sight(), request).await?
    };
    let rows = Viewer { state: &state, caller: &caller }.all(&page.rows).await?;
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total: page.total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_service(kept: Arc<KeptServices>, call: Call<AppState>) -> Result<Reply, ApiError> {
    let id = call.path.id(0)?;
    let stored = kept.one(&call.state.databases.main, call.caller.sight(), id).await?;
    let viewer = Viewer { state: &call.state, caller: &call.caller };
    Ok(Reply::data(viewer.stored(&stored).await?))
}

pub(super) async fn create_service(call: Call<AppState>) -> Result<Committed, ApiError> {
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let viewer = Viewer { state: &state, caller: &caller };
    let write = effect.begin_locked(&state.databases.main).await?;
    let tagging = Tagging::read(&body, &write, &caller, None).await?;
    let depending = Depending::read(&body, &write, &caller, None).await?;
    let id = Id::random();
    let draft = Draft { state: &state, caller: &caller, id, tagging: &tagging, depending: &depending };
    let service = draft.create(&body).map_err(ApiError::Fields)?;
    take_active_slot(&write, &caller).await?;
    take_total_slot(&write, &caller).await?;
    let service = services::insert(&*write, service).await?;
    tagging.store(&write, &caller, (service.key, service.created_at)).await?;
    depending.store(&write, service.key).await?;
    refuse_circles(&write, &caller, "depends_on").await?;
    if service.check_type == CheckType::Heartbeat {
        let secret = new_secret(&state, &caller, service.id)?;
        heartbeats::insert(&*write, service.key, secret).await?;
    }
    follow(&write, &caller, &service).await?;
    let location = format!("{}/v1/services/{}", state.base_url, service.id);
    let reply = Reply::created(viewer.one(&*write, &service).await?, &location);
    let reply = write.commit(reply).await?;
    state.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn update_service(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, services::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let viewer = Viewer { state: &state, caller: &caller };
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, services::find_for_update).await?;
    let tagging = Tagging::read(&body, &write, &caller, Some(stored.key)).await?;
    let depending = Depending::read(&body, &write, &caller, Some(stored.id)).await?;
    let draft = Draft { state: &state, caller: &caller, id, tagging: &tagging, depending: &depending };
    let changed = draft.update(&body, &stored).map_err(ApiError::Fields)?;
    let depends_anew = depending.is_change(&write, stored.key).await?;
    if changed == stored && !tagging.is_change() && !depends_anew {
        let reply = Reply::data(viewer.one(&*write, &stored).await?);
        return write.commit(reply).await;
    }
    let changed = Service { updated_at: state.now(), ..changed };
    if tagging.is_change() {
        look_anew(&write, stored.key, changed.updated_at).await?;
    }
    let service = services::update(&*write, changed).await?;
    tagging.store(&write, &caller, (service.key, service.updated_at)).await?;
    if depends_anew {
        depending.store(&write, service.key).await?;
    }
    if depends_anew || tagging.is_change() {
        refuse_circles(&write, &caller, if depends_anew { "depends_on" } else { "tags" }).await?;
        look_anew(&write, service.key, service.updated_at).await?;
    }
    if service.settings != stored.settings {
        heartbeats::count_from(&*write, service.key, service.updated_at).await?;
    }
    if !tagging.is_change() {
        write.concerns(Scope::Service(service.key));
    }
    if tagging.is_change() || service.name != stored.name {
        follow(&write, &caller, &service).await?;
    }
    let reply = Reply::data(viewer.changed(&*write, &stored, &service).await?);
    let reply = write.commit(reply).await?;
    state.tell_engine(&service, caller.organisation.id).await;
    Ok(reply)
}

pub(super) async fn delete_service(call: Call<AppState>) -> Result<Committed, ApiError> {
    let Service { id, key, .. } = in_path::find(&call, services::find).await?;
    let Call { state, caller, query, effect, .. } = call;
    let mut errors = FieldErrors::default();
    for flag in [DELETE_ORPHANED_INCIDENTS, DELETE_ORPHANED_MAINTENANCES] {
        query.boolean(flag, &mut errors);
    }
    errors.into_result(()).map_err(ApiError::Fields)?;
    let write = effect.begin_locked(&state.databases.main).await?;
    maintenances::of_service::lock_of(&*write, key).await?;
    let service = in_path::find_for_update(&write, &caller, id, services::find_for_update).await?;
    let incidents = departure::leave_incidents(&state, &write, (&caller, &query), service.key).await?;
    let delete_orphaned = query.is_true(DELETE_ORPHANED_MAINTENANCES);
    let left = settle_maintenances(&write, service.key, delete_orphaned, state.now()).await?;
    look_anew(&write, service.key, state.now()).await?;
    synced_groups::forget_service(&*write, service.key).await?;
    services::delete(&*write, service.key).await?;
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
    state.announcer.retire(service.address(), service.revision).await;
    Ok(reply)
}

/// Updates the groups of status pages that follow a tag of this service (contract 4.14.4). The organisation is always
/// locked before the service, also by writes of components.
async fn follow(transaction: &Transaction, caller: &Caller, service: &Service) -> Result<(), ApiError> {
    let (organisation, keys) = (&caller.organisation, [service.key]);
    Ok(synced_groups::follow_services(transaction, organisation, &keys, service.updated_at).await?)
}

/// Checks that the plan has room for one more active service (step 13). The caller has locked the organisation until
/// the transaction ends, so that two requests cannot take the same slot.
async fn take_active_slot(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let usage = services::count_active(transaction, caller.organisation.key);
    take_slot(Quota::Services, caller.limits.services, usage).await
}

/// Checks that there is room for one more service of any state, paused ones included. As [`take_active_slot`].
async fn take_total_slot(transaction: &Transaction, caller: &Caller) -> Result<(), ApiError> {
    let usage = services::count(transaction, caller.organisation.key);
    take_slot(Quota::ServicesTotal, caller.limits.services_of_any_state(), usage).await
}
