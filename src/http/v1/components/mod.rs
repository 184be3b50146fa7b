//! `/v1/statuspages/{id}/components` (contract 4.14): list, read, create, change and delete components.
//!
//! Every write locks the organisation and the page, in this order, so that quota, tree and synced groups stay consistent
//! under concurrent writes.

mod draft;
pub(in crate::http) mod openapi;
pub(super) mod page_components;
pub(super) mod view;

use serde_json::{Map, Value};

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::components::draft::{ComponentLinks, ComponentParser};
use crate::http::v1::components::page_components::PageComponents;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::component::Component;
use crate::model::statuspage::Statuspage;
use crate::store::{Transaction, components, organisations, services, statuspages, synced_groups};

pub(in crate::http) async fn list_components(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, caller, query, canonical_path, headers, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let found =
        PageComponents::load(&state, state.databases.main.reader(), caller.visibility(), &page).await?;
    let rows = found.all(&languages);
    let total = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    let request = PageRequest::read_whole(&query, total);
    let path = format!("{}{canonical_path}", state.base_url);
    let rows = request.slice_rows(rows).iter().map(to_json).collect();
    let envelope = PageEnvelope { request, total, path: &path, query: &query }.envelope(rows);
    Ok(ApiReply::ok(envelope).in_language(&languages))
}

pub(in crate::http) async fn show_component(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let id = find_component(&call, &page).await?.id;
    let ApiCall { state, caller, headers, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let found =
        PageComponents::load(&state, state.databases.main.reader(), caller.visibility(), &page).await?;
    Ok(ApiReply::data(to_json(&found.one(id, &languages)?)).in_language(&languages))
}

pub(in crate::http) async fn create_component(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&state.databases.main).await?;
    let page = lock(&write, &caller, page.id).await?;
    let stored = components::of_page(&*write, caller.visibility(), page.key).await?;
    let links = find_links(&write, &caller, &body).await?;
    let draft = ComponentParser { organisation: &caller.organisation, components: &stored, links };
    let component = draft.read_new(&body, page.key, state.created_at()).map_err(ApiError::Fields)?;
    refuse_unseen(&caller, &component)?;
    let usage = components::count_made(&*write, page.key);
    take_slot(PlanQuota::Components, caller.limits.components, usage).await?;
    let component = components::insert(&*write, component).await?;
    if component.sync_tag.is_some() {
        let followed = synced_groups::follow_group(&*write, &caller.organisation, &component, state.now());
        followed.await?;
    }
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let found = PageComponents::load(&state, &*write, caller.visibility(), &page).await?;
    let shown = to_json(&found.one(component.id, &languages)?);
    let location = format!("{}/v1/statuspages/{}/components/{}", state.base_url, page.id, component.id);
    write.commit(ApiReply::created(shown, &location).in_language(&languages)).await
}

pub(in crate::http) async fn update_component(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let id = find_component(&call, &page).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin(&state.databases.main).await?;
    let page = lock(&write, &caller, page.id).await?;
    let stored = components::of_page(&*write, caller.visibility(), page.key).await?;
    let before = stored.iter().find(|component| component.id == id).ok_or(ApiError::NotFound)?;
    let links = find_links(&write, &caller, &body).await?;
    refuse_group(&caller, before)?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let earlier = PageComponents::load(&state, &*write, caller.visibility(), &page).await?;
    write.replaces(to_json(&earlier.one(id, &languages)?));
    let draft = ComponentParser { organisation: &caller.organisation, components: &stored, links };
    let changed = draft.read_changes(&body, before).map_err(ApiError::Fields)?;
    refuse_unseen(&caller, &changed)?;
    if changed != *before {
        components::update(&*write, &changed).await?;
        if changed.sync_tag != before.sync_tag {
            let followed = synced_groups::follow_group(&*write, &caller.organisation, &changed, state.now());
            followed.await?;
        }
    }
    let found = PageComponents::load(&state, &*write, caller.visibility(), &page).await?;
    let shown = to_json(&found.one(id, &languages)?);
    write.commit(ApiReply::data(shown).in_language(&languages)).await
}

pub(in crate::http) async fn delete_component(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let id = find_component(&call, &page).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let page = lock(&write, &caller, page.id).await?;
    let found = components::find(&*write, caller.visibility(), page.key, id).await?;
    let component = found.ok_or(ApiError::NotFound)?;
    refuse_group(&caller, &component)?;
    if component.is_sync_managed {
        return Err(ApiError::Fields(FieldErrors::of("component", FieldRule::Managed)));
    }
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let earlier = PageComponents::load(&state, &*write, caller.visibility(), &page).await?;
    write.replaces(to_json(&earlier.one(id, &languages)?));
    components::delete(&*write, component.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Finds the component in the path, on the page in the path.
async fn find_component(call: &ApiCall<AppState>, page: &Statuspage) -> Result<Component, ApiError> {
    let id = call.path.id(1)?;
    let main = call.state.databases.main.reader();
    components::find(main, call.caller.visibility(), page.key, id).await?.ok_or(ApiError::NotFound)
}

/// Locks the organisation and then the page until the transaction ends.
async fn lock(write: &WriteTransaction, caller: &Caller, page: Id) -> Result<Statuspage, ApiError> {
    let transaction: &Transaction = write;
    organisations::lock(transaction, caller.organisation.key).await?;
    resource_lookup::lock_or_404(transaction, caller, page, statuspages::find_for_update).await
}

/// Looks up the database keys for the ids in a body.
async fn find_links(
    write: &WriteTransaction,
    caller: &Caller,
    body: &Map<String, Value>,
) -> Result<ComponentLinks, ApiError> {
    let transaction: &Transaction = write;
    let visibility = caller.visibility();
    let id = |name: &str| body.get(name).and_then(Value::as_str).and_then(|text| text.trim().parse().ok());
    let mut links = ComponentLinks::default();
    if let Some(id) = id("service_id") {
        let found = services::find(transaction, visibility, id).await?;
        links.service = found.map(|service| service.key);
    }
    if let Some(id) = id("sync_tag_id") {
        links.tag = components::find_tag(transaction, visibility, id).await?;
    }
    if let Some(id) = id("parent_id") {
        links.parent_exists = components::exists(transaction, visibility, id).await?;
    }
    Ok(links)
}

/// Refuses changes of a group by a caller who is confined to an access scope: groups belong to the whole organisation.
fn refuse_group(caller: &Caller, component: &Component) -> Result<(), ApiError> {
    let is_others = caller.visibility().is_confined() && component.service.is_none();
    if is_others { Err(ApiError::Confined) } else { Ok(()) }
}

/// Checks that the caller will see the component: a confined caller must link it to a visible service.
fn refuse_unseen(caller: &Caller, component: &Component) -> Result<(), ApiError> {
    if caller.visibility().is_confined() && component.service.is_none() {
        return Err(ApiError::Fields(FieldErrors::of("service_id", FieldRule::ScopeService)));
    }
    Ok(())
}
