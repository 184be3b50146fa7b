//! `/v1/statuspages/{id}/custom-domains` (contract 4.15): list, read, attach, detach, verify.
//!
//! DNS lookups are made outside of any transaction; their result is then applied to the current state of the domain.

mod cooldown;
pub(in crate::http) mod openapi;
mod view;

use std::sync::Arc;

use serde_json::Value;

use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{Errors, Fields};
use crate::http::kit::page::{Page, PageRequest};
use crate::http::kit::quota::Quota;
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::custom_domains::view::{DomainView, HOSTNAME_LENGTH};
use crate::http::v1::in_path;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle::custom_domains::record_look;
use crate::model::domain::claims::{DomainLook, LookReason, may_attach};
use crate::model::domain::{Domain, DomainStatus};
use crate::model::domain_names::is_hostname;
use crate::model::statuspage::Statuspage;
use crate::probe::domain_look::look;
use crate::store::{Transaction, custom_domains, statuspages};

pub(super) use cooldown::Cooldowns;

pub(super) async fn list_domains(call: Call<AppState>) -> Result<Reply, ApiError> {
    let page = in_path::find(&call, statuspages::find).await?;
    let Call { state, query, canonical_path, .. } = call;
    let main = state.databases.main.reader();
    let domains = custom_domains::list(main, page.key).await?;
    let total = u64::try_from(domains.len()).unwrap_or(u64::MAX);
    let request = PageRequest::read_whole(&query, total);
    let rows = request.cut(domains).iter().map(|domain| shown(&state, &page, domain)).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_domain(call: Call<AppState>) -> Result<Reply, ApiError> {
    let (page, domain) = find(&call).await?;
    Ok(Reply::data(shown(&call.state, &page, &domain)))
}

pub(super) async fn attach_domain(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, statuspages::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let errors = Errors::default();
    let hostname =
        Fields::new(&body, "", &errors).required("hostname").and_then(|field| field.text(HOSTNAME_LENGTH));
    let hostname = hostname.filter(|hostname| {
        if !is_hostname(hostname) {
            errors.add("hostname", FieldRule::HostnameForm);
        } else if state.domain_names.is_reserved(hostname) {
            errors.add("hostname", FieldRule::HostnameTaken);
        }
        true
    });
    let hostname = errors.into_inner().into_result(hostname.unwrap_or_default())?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let page = in_path::find_for_update(&write, &caller, id, statuspages::find_for_update).await?;
    let claims = custom_domains::claims_for_update(&*write, &hostname).await?;
    if !may_attach(caller.organisation.key, &claims) {
        return Err(FieldErrors::of("hostname", FieldRule::HostnameTaken).into());
    }
    let usage = custom_domains::count(&*write, page.key);
    take_slot(Quota::CustomDomains, caller.limits.custom_domains, usage).await?;
    // A clock that is behind must not let the week end before it has started.
    let created_at = state.created_at().max(state.guard.judged_now().best);
    let domain = Domain::attached(page.key, hostname, created_at);
    let domain = custom_domains::insert(&*write, domain).await?;
    let location = format!("{}/v1/statuspages/{}/custom-domains/{}", state.base_url, page.id, domain.id);
    write.commit(Reply::created(shown(&state, &page, &domain), &location)).await
}

pub(super) async fn detach_domain(call: Call<AppState>) -> Result<Committed, ApiError> {
    let (page, domain) = find(&call).await?;
    let Call { state, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let domain = find_for_update(&write, &page, domain.id).await?;
    custom_domains::delete(&*write, domain.key).await?;
    let committed = write.commit(Reply::deleted(domain.id)).await?;
    state.announcer.host_changes.note();
    Ok(committed)
}

pub(super) async fn verify_domain(
    cooldowns: Arc<Cooldowns>,
    call: Call<AppState>,
) -> Result<Committed, ApiError> {
    let (page, domain) = find(&call).await?;
    let Call { state, effect, .. } = call;
    demand_waiting(&domain)?;
    effect.check()?;
    let asked_at = state.now();
    cooldowns.claim(&domain, asked_at).map_err(ApiError::VerifyCooldown)?;
    let sight = look(&state.domain_names.records(&domain), &state.toolbox).await;
    let write = effect.begin(&state.databases.main).await?;
    let reason = LookReason::Requested(asked_at);
    let made = DomainLook { reason, sight, at: state.guard.judged_now() };
    // The domain may have been checked or detached meanwhile.
    let outcome = record_look(&write, &domain, made).await?.ok_or(ApiError::NotFound)?;
    let committed = write.commit(Reply::data(shown(&state, &page, &outcome.domain))).await?;
    state.announcer.host_changes.note();
    Ok(committed)
}

/// Page and domain in the path (step 8 of contract 1.8).
async fn find(call: &Call<AppState>) -> Result<(Statuspage, Domain), ApiError> {
    let page = in_path::find(call, statuspages::find).await?;
    let id = call.path.id(1)?;
    let main = call.state.databases.main.reader();
    let found = custom_domains::find(main, page.key, id).await?;
    Ok((page, found.ok_or(ApiError::NotFound)?))
}

/// Reads the domain again and locks it until the transaction ends.
async fn find_for_update(transaction: &Transaction, page: &Statuspage, id: Id) -> Result<Domain, ApiError> {
    let found = custom_domains::find_for_update(transaction, page.key, id).await?;
    found.ok_or(ApiError::NotFound)
}

fn demand_waiting(domain: &Domain) -> Result<(), ApiError> {
    if domain.status == DomainStatus::PendingVerification {
        return Ok(());
    }
    Err(FieldErrors::of("domain", FieldRule::DomainState).into())
}

fn shown(state: &AppState, page: &Statuspage, domain: &Domain) -> Value {
    to_json(&DomainView::of(page.id, domain, &state.domain_names.records(domain)))
}
