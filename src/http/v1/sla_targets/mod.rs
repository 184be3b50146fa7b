//! `/v1/sla-targets`: agreed availabilities of services, and reports about them.
//!
//! Every write locks the organisation first, as the deletion of a tag does, so that no target loses its tag. Bodies are read
//! in `draft`; `view` is the JSON.

mod draft;
mod format;
pub(in crate::http) mod openapi;
mod print;
pub(super) mod report;
mod report_view;
mod table;
mod view;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::ApiError;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::sla_targets::draft::SlaTargetParser;
use crate::http::v1::sla_targets::view::SlaTargetView;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::incident_policy::PolicyTag;
use crate::model::sla::SlaTarget;
use crate::store::{id_lookup, sla_targets, tags};

pub(super) async fn list_sla_targets(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (targets, total) = sla_targets::list(main, caller.visibility(), request.window()).await?;
    let rows = targets.iter().map(|target| to_json(&SlaTargetView::of(target))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_sla_target(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let target = resource_lookup::find_or_404(&call, sla_targets::find).await?;
    Ok(ApiReply::data(to_json(&SlaTargetView::of(&target))))
}

pub(super) async fn create_sla_target(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let draft = begin_draft(&write, &caller, &body, state.created_at()).await?;
    let target = draft.read_new(&body).map_err(ApiError::Fields)?;
    let usage = sla_targets::count(&*write, caller.organisation.key);
    take_slot(PlanQuota::SlaTargets, caller.limits.sla_targets, usage).await?;
    let target = sla_targets::insert(&*write, target).await?;
    let location = format!("{}/v1/sla-targets/{}", state.base_url, target.id);
    write.commit(ApiReply::created(to_json(&SlaTargetView::of(&target)), &location)).await
}

pub(super) async fn update_sla_target(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, sla_targets::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, sla_targets::find).await?;
    write.replaces(to_json(&SlaTargetView::of(&stored)));
    let draft = begin_draft(&write, &caller, &body, state.now()).await?;
    let mut target = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if target != stored {
        target = SlaTarget { updated_at: draft.now, ..target };
        sla_targets::update(&*write, &target).await?;
    }
    write.commit(ApiReply::data(to_json(&SlaTargetView::of(&target)))).await
}

pub(super) async fn delete_sla_target(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, sla_targets::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let target = resource_lookup::lock_or_404(&write, &caller, id, sla_targets::find).await?;
    write.replaces(to_json(&SlaTargetView::of(&target)));
    sla_targets::delete(&*write, target.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Creates a parser that knows the named rows which are visible to the caller.
async fn begin_draft(
    write: &WriteTransaction,
    caller: &Caller,
    body: &Map<String, Value>,
    now: Timestamp,
) -> Result<SlaTargetParser, ApiError> {
    let service = match named(body, "service_id") {
        Some(id) => id_lookup::services_to_link(&**write, caller.visibility(), &[id]).await?.remove(&id),
        None => None,
    };
    let tag = match named(body, "tag_id") {
        Some(id) => tags::find(&**write, caller.visibility(), id).await?,
        None => None,
    };
    let tag = tag.map(|tag| PolicyTag { key: tag.row, id: tag.id, label: tag.name.label() });
    Ok(SlaTargetParser { organisation: caller.organisation.key, service, tag, now })
}

/// Returns the id in a field of the body, if it is well-formed.
fn named(body: &Map<String, Value>, name: &str) -> Option<Id> {
    let ignored = ErrorCollector::default();
    let field = BodyFields::new(body, "", &ignored).skippable(name)?;
    read_id(&field)
}
