//! `/v1/statuspages/{id}/custom-domains` (contract 4.15): list, read, attach, detach and verify domains.
//!
//! DNS lookups are made outside of any transaction. Their result is then applied to the current state of the domain.

mod cooldown;
pub(in crate::http) mod openapi;
mod view;

use std::sync::Arc;

use serde_json::Value;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::page::{PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::custom_domains::view::{DomainView, HOSTNAME_LENGTH};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::lifecycle::custom_domains::record_check;
use crate::model::certificate::CertificateSummary;
use crate::model::domain::claims::{DomainCheckReason, DomainRecordsCheck, may_attach};
use crate::model::domain::{CustomDomain, DomainStatus};
use crate::model::domain_names::is_hostname;
use crate::model::statuspage::Statuspage;
use crate::probe::domain_check::check_domain;
use crate::store::{MainError, StoreConnection, Transaction, certificates, custom_domains, statuspages};

pub(super) use cooldown::VerificationCooldowns;

pub(super) async fn list_domains(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let ApiCall { state, query, canonical_path, .. } = call;
    let main = state.databases.main.reader();
    let domains = custom_domains::list(main, page.key).await?;
    let total = u64::try_from(domains.len()).unwrap_or(u64::MAX);
    let request = PageRequest::read_whole(&query, total);
    let domains = request.slice_rows(domains);
    let certificates = certificates_of(&state, main, &domains).await?;
    let rows = domains.iter().zip(certificates);
    let rows = rows.map(|(domain, certificate)| shown(&state, &page, domain, certificate)).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_domain(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let (page, domain) = find(&call).await?;
    let certificate = certificate_of(&call.state, call.state.databases.main.reader(), &domain).await?;
    Ok(ApiReply::data(shown(&call.state, &page, &domain, certificate)))
}

pub(super) async fn attach_domain(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let errors = ErrorCollector::default();
    let hostname = BodyFields::new(&body, "", &errors)
        .required("hostname")
        .and_then(|field| field.text(HOSTNAME_LENGTH));
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
    let page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let claims = custom_domains::claims_for_update(&*write, &hostname).await?;
    if !may_attach(caller.organisation.key, &claims) {
        return Err(FieldErrors::of("hostname", FieldRule::HostnameTaken).into());
    }
    let usage = custom_domains::count(&*write, page.key);
    take_slot(PlanQuota::CustomDomains, caller.limits.custom_domains, usage).await?;
    // If the clock is behind, the week for verification must not end before it has started.
    let created_at = state.created_at().max(state.guard.judged_now().best);
    let domain = CustomDomain::attached(page.key, hostname, created_at);
    let domain = custom_domains::insert(&*write, domain).await?;
    let location = format!("{}/v1/statuspages/{}/custom-domains/{}", state.base_url, page.id, domain.id);
    let domain = shown(&state, &page, &domain, CertificateSummary::none());
    write.commit(ApiReply::created(domain, &location)).await
}

pub(super) async fn detach_domain(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let (page, domain) = find(&call).await?;
    let ApiCall { state, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let domain = find_for_update(&write, &page, domain.id).await?;
    let certificate = certificate_of(&state, &*write, &domain).await?;
    write.replaces(shown(&state, &page, &domain, certificate));
    custom_domains::delete(&*write, domain.key).await?;
    let committed = write.commit(ApiReply::deleted(domain.id)).await?;
    state.router.host_changes.note();
    Ok(committed)
}

pub(super) async fn verify_domain(
    cooldowns: Arc<VerificationCooldowns>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let (page, domain) = find(&call).await?;
    let ApiCall { state, effect, .. } = call;
    require_waiting(&domain)?;
    effect.check()?;
    let asked_at = state.now();
    cooldowns.claim(&domain, asked_at).map_err(ApiError::VerifyCooldown)?;
    let records_state = check_domain(&state.domain_names.records(&domain), &state.toolbox).await;
    let write = effect.begin(&state.databases.main).await?;
    let reason = DomainCheckReason::Requested(asked_at);
    let made = DomainRecordsCheck { reason, records_state, at: state.guard.judged_now() };
    // The domain may have been checked or detached meanwhile.
    let outcome = record_check(&write, &domain, made).await?.ok_or(ApiError::NotFound)?;
    let certificate = certificate_of(&state, &*write, &outcome.domain).await?;
    let domain = shown(&state, &page, &outcome.domain, certificate);
    let committed = write.commit(ApiReply::data(domain)).await?;
    state.router.host_changes.note();
    Ok(committed)
}

/// Finds the page and the domain in the path (step 8 of contract 1.8).
async fn find(call: &ApiCall<AppState>) -> Result<(Statuspage, CustomDomain), ApiError> {
    let page = resource_lookup::find_or_404(call, statuspages::find).await?;
    let id = call.path.id(1)?;
    let main = call.state.databases.main.reader();
    let found = custom_domains::find(main, page.key, id).await?;
    Ok((page, found.ok_or(ApiError::NotFound)?))
}

/// Reads the domain again and locks it until the transaction ends.
async fn find_for_update(
    transaction: &Transaction,
    page: &Statuspage,
    id: Id,
) -> Result<CustomDomain, ApiError> {
    let found = custom_domains::find_for_update(transaction, page.key, id).await?;
    found.ok_or(ApiError::NotFound)
}

fn require_waiting(domain: &CustomDomain) -> Result<(), ApiError> {
    if domain.status == DomainStatus::PendingVerification {
        return Ok(());
    }
    Err(FieldErrors::of("domain", FieldRule::DomainState).into())
}

/// Reads the certificate of a domain, as its owner is shown it.
async fn certificate_of(
    state: &AppState,
    connection: &dyn StoreConnection,
    domain: &CustomDomain,
) -> Result<CertificateSummary, MainError> {
    let found = certificates_of(state, connection, std::slice::from_ref(domain)).await?;
    Ok(found.into_iter().next().unwrap_or_else(CertificateSummary::none))
}

/// Reads the certificates of these domains, in their order.
async fn certificates_of(
    state: &AppState,
    connection: &dyn StoreConnection,
    domains: &[CustomDomain],
) -> Result<Vec<CertificateSummary>, MainError> {
    if state.certificates.is_none() {
        return Ok(vec![CertificateSummary::none(); domains.len()]);
    }
    let keys: Vec<i64> = domains.iter().map(|domain| domain.key).collect();
    let mut facts = certificates::facts_of(connection, &keys).await?;
    let now = state.now();
    let summary = |domain: &CustomDomain| match domain.status {
        DomainStatus::Active => CertificateSummary::of(facts.remove(&domain.key), now),
        DomainStatus::PendingVerification | DomainStatus::Failed => CertificateSummary::none(),
    };
    Ok(domains.iter().map(summary).collect())
}

fn shown(
    state: &AppState,
    page: &Statuspage,
    domain: &CustomDomain,
    certificate: CertificateSummary,
) -> Value {
    to_json(&DomainView::of(page.id, domain, &state.domain_names.records(domain), certificate))
}
