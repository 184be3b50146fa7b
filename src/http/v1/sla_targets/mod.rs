//! `/v1/sla-targets`: service level objectives.
//!
//! Every write locks the organisation first, as the deletion of a tag does, so that no target loses its tag. Reading a
//! body is in `draft`, the view in `view`.

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
use crate::http::gate::call::Call;
use crate::http::gate::write::{Committed, Write};
use crate::http::kit::error::ApiError;
use crate::http::kit::fields::{Errors, Fields};
use crate::http::kit::linked::read_id;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::quota::Quota;
use crate::http::kit::reply::Reply;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::sla_targets::draft::Draft;
use crate::http::v1::sla_targets::view::SlaTargetView;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::incident_policy::PolicyTag;
use crate::model::sla::SlaTarget;
use crate::store::{linked, sla_targets, tags};

pub(super) async fn list_sla_targets(call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (targets, total) = sla_targets::list(main, caller.sight(), request.window()).await?;
    let rows = targets.iter().map(|target| to_json(&SlaTargetView::of(target))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_sla_target(call: Call<AppState>) -> Result<Reply, ApiError> {
    let target = in_path::find(&call, sla_targets::find).await?;
    Ok(Reply::data(to_json(&SlaTargetView::of(&target))))
}

pub(super) async fn create_sla_target(call: Call<AppState>) -> Result<Committed, ApiError> {
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let draft = begin_draft(&write, &caller, &body, state.created_at()).await?;
    let target = draft.create(&body).map_err(ApiError::Fields)?;
    let usage = sla_targets::count(&*write, caller.organisation.key);
    take_slot(Quota::SlaTargets, caller.limits.sla_targets, usage).await?;
    let target = sla_targets::insert(&*write, target).await?;
    let location = format!("{}/v1/sla-targets/{}", state.base_url, target.id);
    write.commit(Reply::created(to_json(&SlaTargetView::of(&target)), &location)).await
}

pub(super) async fn update_sla_target(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, sla_targets::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, sla_targets::find).await?;
    let draft = begin_draft(&write, &caller, &body, state.now()).await?;
    let mut target = draft.update(&body, &stored).map_err(ApiError::Fields)?;
    if target != stored {
        target = SlaTarget { updated_at: draft.now, ..target };
        sla_targets::update(&*write, &target).await?;
    }
    write.commit(Reply::data(to_json(&SlaTargetView::of(&target)))).await
}

pub(super) async fn delete_sla_target(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, sla_targets::find).await?.id;
    let Call { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let target = in_path::find_for_update(&write, &caller, id, sla_targets::find).await?;
    sla_targets::delete(&*write, target.key).await?;
    write.commit(Reply::deleted(id)).await
}

/// A draft with the named rows that are visible to the caller.
async fn begin_draft(
    write: &Write,
    caller: &Caller,
    body: &Map<String, Value>,
    now: Timestamp,
) -> Result<Draft, ApiError> {
    let service = match named(body, "service_id") {
        Some(id) => linked::services_to_link(&**write, caller.sight(), &[id]).await?.remove(&id),
        None => None,
    };
    let tag = match named(body, "tag_id") {
        Some(id) => tags::find(&**write, caller.sight(), id).await?,
        None => None,
    };
    let tag = tag.map(|tag| PolicyTag { key: tag.row, id: tag.id, label: tag.name.label() });
    Ok(Draft { organisation: caller.organisation.key, service, tag, now })
}

/// The id in a field of the body, if it is well-formed.
fn named(body: &Map<String, Value>, name: &str) -> Option<Id> {
    let ignored = Errors::default();
    let field = Fields::new(body, "", &ignored).skippable(name)?;
    read_id(&field)
}
