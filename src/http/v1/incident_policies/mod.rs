//! `/v1/incident-policies`: ordered rules that decide which outages become incidents.
//!
//! Every write locks the organisation first, because positions are consecutive from 1. Bodies are read in `draft`; `view` is
//! the JSON.

pub(in crate::http::v1) mod draft;
pub(in crate::http) mod openapi;
mod view;

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
use crate::http::v1::incident_policies::draft::IncidentPolicyParser;
use crate::http::v1::incident_policies::view::IncidentPolicyView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::incident_policy::{IncidentPolicy, PolicyTag};
use crate::store::changes::ChangeScope;
use crate::store::{incident_policies, outages, tags};

pub(super) async fn list_incident_policies(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let all = incident_policies::list(state.databases.main.reader(), caller.organisation.key).await?;
    let window = request.window();
    let (skipped, shown) = (to_count(window.offset), to_count(window.limit));
    let rows = all.iter().skip(skipped).take(shown).map(|policy| to_json(&IncidentPolicyView::of(policy)));
    let path = format!("{}{canonical_path}", state.base_url);
    let page = PageEnvelope { request, total: all.len() as u64, path: &path, query: &query };
    Ok(ApiReply::ok(page.envelope(rows.collect())))
}

pub(super) async fn show_incident_policy(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let policy = resource_lookup::find_or_404(&call, incident_policies::find).await?;
    Ok(ApiReply::data(to_json(&IncidentPolicyView::of(&policy))))
}

pub(super) async fn create_incident_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let tag = find_tag(&write, &caller, &body).await?;
    let count = incident_policies::count(&*write, caller.organisation.key).await?;
    let draft = IncidentPolicyParser {
        organisation: caller.organisation.key,
        tag,
        count: to_count(count),
        now: state.created_at(),
    };
    let policy = draft.read_new(&body).map_err(ApiError::Fields)?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(PlanQuota::IncidentPolicies, caller.limits.incident_policies, usage).await?;
    let policy = incident_policies::insert(&*write, policy).await?;
    reevaluate_outages(&write, &caller, draft.now).await?;
    let location = format!("{}/v1/incident-policies/{}", state.base_url, policy.id);
    write.commit(ApiReply::created(to_json(&IncidentPolicyView::of(&policy)), &location)).await
}

pub(super) async fn update_incident_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incident_policies::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incident_policies::find).await?;
    write.replaces(to_json(&IncidentPolicyView::of(&stored)));
    let tag = find_tag(&write, &caller, &body).await?;
    let count = incident_policies::count(&*write, caller.organisation.key).await?;
    let draft = IncidentPolicyParser {
        organisation: caller.organisation.key,
        tag,
        count: to_count(count),
        now: state.now(),
    };
    let changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if changed != stored {
        let changed = IncidentPolicy { updated_at: draft.now, ..changed };
        incident_policies::update(&*write, &stored, &changed).await?;
        reevaluate_outages(&write, &caller, draft.now).await?;
        return write.commit(ApiReply::data(to_json(&IncidentPolicyView::of(&changed)))).await;
    }
    write.commit(ApiReply::data(to_json(&IncidentPolicyView::of(&stored)))).await
}

pub(super) async fn delete_incident_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incident_policies::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let policy = resource_lookup::lock_or_404(&write, &caller, id, incident_policies::find).await?;
    write.replaces(to_json(&IncidentPolicyView::of(&policy)));
    incident_policies::delete(&*write, &policy).await?;
    reevaluate_outages(&write, &caller, state.now()).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Schedules all decisions that depend on the policies again: which outages are incidents, and when incidents end.
async fn reevaluate_outages(
    write: &WriteTransaction,
    caller: &Caller,
    now: Timestamp,
) -> Result<(), ApiError> {
    write.concerns(ChangeScope::Organisation(caller.organisation.key));
    Ok(outages::evaluate_organisation(&**write, caller.organisation.key, now).await?)
}

/// Finds the tag named in the body, if it exists.
async fn find_tag(
    write: &WriteTransaction,
    caller: &Caller,
    body: &serde_json::Map<String, serde_json::Value>,
) -> Result<Option<PolicyTag>, ApiError> {
    let ignored = ErrorCollector::default();
    let field = BodyFields::new(body, "", &ignored).skippable("tag_id");
    let Some(id) = field.and_then(|field| read_id(&field)) else { return Ok(None) };
    let tag = tags::find(&**write, caller.visibility(), id).await?;
    Ok(tag.map(|tag| PolicyTag { key: tag.row, id: tag.id, label: tag.name.label() }))
}

fn to_count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
