//! `/v1/escalation-policies`: recipients of incidents, step by step, until somebody acknowledges them.
//!
//! Every write locks the organisation first, because positions are consecutive from 1. Bodies are read in `draft`, `view` is
//! the JSON, and `progress` shows how far an incident has come.

mod draft;
mod known_rows;
pub(in crate::http) mod openapi;
mod progress;
mod view;

pub(super) use progress::show_incident_escalation;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::escalation_policies::draft::EscalationPolicyParser;
use crate::http::v1::escalation_policies::known_rows::KnownRows;
use crate::http::v1::escalation_policies::view::EscalationPolicyView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::lifecycle;
use crate::model::escalation::EscalationPolicy;
use crate::store::escalation_policies;

pub(super) async fn list_escalation_policies(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let all = escalation_policies::list(state.databases.main.reader(), caller.organisation.key).await?;
    let window = request.window();
    let (skipped, shown) = (to_count(window.offset), to_count(window.limit));
    let rows = all.iter().skip(skipped).take(shown).map(|policy| to_json(&EscalationPolicyView::of(policy)));
    let path = format!("{}{canonical_path}", state.base_url);
    let page = PageEnvelope { request, total: all.len() as u64, path: &path, query: &query };
    Ok(ApiReply::ok(page.envelope(rows.collect())))
}

pub(super) async fn show_escalation_policy(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let policy = resource_lookup::find_or_404(&call, escalation_policies::find).await?;
    Ok(ApiReply::data(to_json(&EscalationPolicyView::of(&policy))))
}

pub(super) async fn create_escalation_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let count = escalation_policies::count(&*write, caller.organisation.key).await?;
    let known = KnownRows::find(&body, &write, &caller).await?;
    let draft =
        EscalationPolicyParser { caller: &caller, known, count: to_count(count), now: state.created_at() };
    let policy = draft.read_new(&body).map_err(ApiError::Fields)?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(PlanQuota::EscalationPolicies, caller.limits.escalation_policies, usage).await?;
    let policy = escalation_policies::insert(&*write, policy).await?;
    let location = format!("{}/v1/escalation-policies/{}", state.base_url, policy.id);
    write.commit(ApiReply::created(to_json(&EscalationPolicyView::of(&policy)), &location)).await
}

pub(super) async fn update_escalation_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, escalation_policies::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, escalation_policies::find).await?;
    write.replaces(to_json(&EscalationPolicyView::of(&stored)));
    let count = escalation_policies::count(&*write, caller.organisation.key).await?;
    let known = KnownRows::find(&body, &write, &caller).await?;
    let draft = EscalationPolicyParser { caller: &caller, known, count: to_count(count), now: state.now() };
    let changed = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if changed == stored {
        return write.commit(ApiReply::data(to_json(&EscalationPolicyView::of(&stored)))).await;
    }
    let changed = EscalationPolicy { updated_at: draft.now, ..changed };
    lifecycle::escalation_policies::update(&write, &stored, &changed, draft.now).await?;
    write.commit(ApiReply::data(to_json(&EscalationPolicyView::of(&changed)))).await
}

pub(super) async fn delete_escalation_policy(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, escalation_policies::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let policy = resource_lookup::lock_or_404(&write, &caller, id, escalation_policies::find).await?;
    write.replaces(to_json(&EscalationPolicyView::of(&policy)));
    escalation_policies::delete(&*write, &policy).await?;
    write.commit(ApiReply::deleted(id)).await
}

fn to_count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
