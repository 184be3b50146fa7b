//! `POST /v1/trials`: runs one check with settings that are not stored, and returns what it found.
//!
//! The body is read as that of a service. The check runs in this process, over the same gate of outbound connections as every
//! check; nothing is stored, and there is no entry in the audit log.

pub(in crate::http) mod openapi;
mod view;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::organisation_slots::OrganisationSlots;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::services::read_unstored;
use crate::http::v1::state::AppState;
use crate::http::v1::trials::view::TrialView;
use crate::model::access::Permission;
use crate::model::check::{CheckOutcome, LocalFault};
use crate::model::service::Service;
use crate::model::service_secrets::kept_leaves;
use crate::probe::target::is_same_place;
use crate::probe::{CheckInspection, inspect};
use crate::store::services;

/// Maximum number of concurrent trials in this process.
const AT_A_TIME: usize = 16;
/// Maximum number of concurrent trials of an organisation.
const PER_ORGANISATION: usize = 4;
/// Seconds after which a refused client should try again.
const RETRY_SECONDS: u64 = 2;
/// Longest time that a trial may take, in seconds; a longer timeout of the service is cut to it.
const TIMEOUT_MAX_SECONDS: u8 = 30;
/// Time after the timeout of the check within which a trial ends in any case.
const GRACE: Duration = Duration::from_secs(2);

/// Returns the slots of trials.
pub(super) const fn trial_slots() -> OrganisationSlots {
    OrganisationSlots::new(AT_A_TIME, PER_ORGANISATION)
}

pub(super) async fn run_trial(
    trials: Arc<OrganisationSlots>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let stored = stored_service(&state, &caller, &body).await?;
    let service = tried_service(&state, &caller, &body, stored.as_ref())?;
    if let Some(stored) = &stored {
        refuse_secrets_elsewhere(&service, stored)?;
    }
    effect.check()?;
    let spec = state.compiler.spec_of(&service, caller.organisation.id);
    let spec = spec.map_err(|error| ApiError::Internal(error.into()))?;
    let spec = spec.ok_or_else(|| FieldErrors::of("target", FieldRule::Required))?;
    let slot = trials.take(caller.organisation.key);
    let _slot = slot.ok_or(ApiError::TooManyTrials(RETRY_SECONDS))?;
    let started_at = state.now();
    let inspected = timeout(spec.timeout + GRACE, inspect(&spec, &state.toolbox)).await;
    let inspected = inspected.unwrap_or_else(|_elapsed| CheckInspection {
        outcome: CheckOutcome::Unmeasured(LocalFault::Overrun),
        findings: Vec::new(),
        conditions: Vec::new(),
    });
    let reply = ApiReply::data(to_json(&TrialView::of(started_at, &inspected)));
    effect.commit_outcome(&state.databases.main, reply).await
}

/// Returns the service that the body names, whose fields apply where the body has none. Its secrets are used, which only those
/// may do who could change it.
async fn stored_service(
    state: &AppState,
    caller: &Caller,
    body: &Map<String, Value>,
) -> Result<Option<Service>, ApiError> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let Some(sent) = fields.optional("service_id").and_then(|field| field.string().map(str::to_owned)) else {
        return errors.into_inner().into_result(None).map_err(ApiError::Fields);
    };
    caller.require(Permission::ServicesEdit)?;
    let found = match sent.parse() {
        Ok(id) => services::find(state.databases.main.reader(), caller.visibility(), id).await?,
        Err(_) => None,
    };
    let unknown = FieldRule::UnknownId { kind: "service", id: sent };
    found.map(Some).ok_or_else(|| FieldErrors::of("service_id", unknown).into())
}

/// Refuses to send stored secrets to another scheme, host or port than the service does: a trial leaves no trace, so nobody
/// would see where they went.
fn refuse_secrets_elsewhere(tried: &Service, stored: &Service) -> Result<(), FieldErrors> {
    let (tried_at, stored_at) = (tried.target.as_deref(), stored.target.as_deref());
    let is_same = match (tried_at, stored_at) {
        (Some(tried_at), Some(stored_at)) => is_same_place(stored.check_type, tried_at, stored_at),
        _ => false,
    };
    let (Some(tried), Some(stored)) = (&tried.settings, &stored.settings) else { return Ok(()) };
    // Several sites may share an address: the header says which of them gets the request.
    if is_same && host_header(&tried.config) == host_header(&stored.config) {
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    for path in kept_leaves(&tried.config, &stored.config) {
        errors.add(path, FieldRule::SecretElsewhere);
    }
    errors.into_result(())
}

/// The value of the header `Host` in the settings of a check.
fn host_header(config: &Map<String, Value>) -> Option<&Value> {
    let mut headers = config.get("headers").and_then(Value::as_object)?.iter();
    headers.find(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value)
}

/// Reads the service that is tried: one that locations could check.
fn tried_service(
    state: &AppState,
    caller: &Caller,
    body: &Map<String, Value>,
    stored: Option<&Service>,
) -> Result<Service, FieldErrors> {
    let service = read_unstored(state, caller, body, stored)?;
    if !service.check_type.is_probed() {
        return Err(FieldErrors::of("check_type", FieldRule::NothingToTry));
    }
    let mut settings =
        service.settings.clone().ok_or_else(|| FieldErrors::of("settings", FieldRule::Required))?;
    settings.timeout_seconds = settings.timeout_seconds.min(TIMEOUT_MAX_SECONDS);
    Ok(Service { settings: Some(settings), pause: None, ..service })
}
