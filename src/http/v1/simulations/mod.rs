//! `POST /v1/services/{id}/simulate`: replays the stored results of a period with other settings and another policy.
//!
//! Nothing is stored. `draft` reads the request, `recorded_history` the stored data. On a separate thread,
//! `simulated_period` computes both the recorded and the simulated result.

mod draft;
pub(in crate::http) mod openapi;
mod recorded_history;
mod simulated_period;
mod view;

use std::sync::Arc;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::organisation_slots::OrganisationSlots;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::simulations::recorded_history::RecordedHistory;
use crate::http::v1::simulations::view::SimulationView;
use crate::http::v1::state::AppState;
use crate::store::services;

/// Seconds after which a refused client should try again.
const RETRY_SECONDS: u64 = 5;
/// Maximum number of concurrent simulations: each holds up to half a million results, about 20 MB.
const AT_A_TIME: usize = 2;

/// Returns the slots of simulations: one per organisation.
pub(super) const fn simulation_slots() -> OrganisationSlots {
    OrganisationSlots::new(AT_A_TIME, 1)
}

pub(super) async fn simulate_service(
    simulations: Arc<OrganisationSlots>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let question = draft::read(&state, &caller, &service, &body).await?;
    effect.check()?;
    let slot = simulations.take(caller.organisation.key);
    let _slot = slot.ok_or(ApiError::Simulating(RETRY_SECONDS))?;
    let past = RecordedHistory::read(&state, &caller, &service, &question).await?;
    let work = tokio::task::spawn_blocking(move || simulated_period::simulate_period(&question, &past));
    let accounts = work.await.map_err(|error| ApiError::Internal(error.into()))?;
    let accounts = accounts.map_err(|_| FieldErrors::of("from", FieldRule::TooManyLooks))?;
    let reply = ApiReply::data(to_json(&SimulationView::of(&accounts)));
    effect.begin(&state.databases.main).await?.commit(reply).await
}
