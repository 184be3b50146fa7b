//! Operations on a maintenance (contract 4.11.3): start, complete, cancel, extend.
//!
//! A wrong state is reported as a conflict before the body is checked. Only `extend` reads its body.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::{CommittedReply, WriteTransaction};
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::maintenances::sharing::HiddenMaintenancePart;
use crate::http::v1::maintenances::{extension, notify_engine_of_window, shown, stamp, view};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::lifecycle::maintenances::carry_out;
use crate::model::maintenance::transition::{MaintenanceTransition, OperationContext};
use crate::model::maintenance::{
    Maintenance, MaintenanceOperation, MaintenanceStateError, MaintenanceStatus,
};
use crate::model::timeline_size::TimelineSize;
use crate::store::maintenances;
use crate::store::maintenances::series::occurrences;
use crate::store::maintenances::timeline;

pub(in crate::http) async fn start_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    operate(call, MaintenanceTransition::start).await
}

pub(in crate::http) async fn complete_maintenance(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    operate(call, MaintenanceTransition::complete).await
}

pub(in crate::http) async fn cancel_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    operate(call, MaintenanceTransition::cancel).await
}

pub(in crate::http) async fn extend_maintenance(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, maintenances::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, maintenances::find_for_update).await?;
    write.replaces(view::one(&*write, caller.visibility(), &stored, &languages).await?);
    HiddenMaintenancePart::of(&*write, &caller, stored.key).await?.refuse_shared()?;
    stored.allow(MaintenanceOperation::Extend)?;
    let now = state.now();
    let extension = extension::read(&body, stored.schedule, &caller.organisation, now)?;
    if let Some(message) = &extension.message {
        let size = TimelineSize::of(&timeline::of(&*write, stored.key).await?);
        if !size.has_room_for(message) {
            return Err(ApiError::Fields(FieldErrors::of("message", FieldRule::TimelineFull)));
        }
    }
    let step = MaintenanceTransition::extend(&stored, extension, stamp(&caller, now))?;
    let step = MaintenanceTransition { after: step.after.adjusted(), entries: step.entries };
    finish(&state, &caller, write, step, &languages).await
}

async fn operate(
    call: ApiCall<AppState>,
    act: impl FnOnce(&Maintenance, OperationContext<'_>) -> Result<MaintenanceTransition, MaintenanceStateError>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, maintenances::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, maintenances::find_for_update).await?;
    write.replaces(view::one(&*write, caller.visibility(), &stored, &languages).await?);
    HiddenMaintenancePart::of(&*write, &caller, stored.key).await?.refuse_shared()?;
    let step = act(&stored, stamp(&caller, state.now()))?;
    finish(&state, &caller, write, step, &languages).await
}

/// Stores the result of an operation, notifies the engine, and responds with the maintenance.
async fn finish(
    state: &AppState,
    caller: &Caller,
    write: WriteTransaction,
    step: MaintenanceTransition,
    languages: &AnswerLanguage,
) -> Result<CommittedReply, ApiError> {
    let now = state.now();
    let after = Maintenance { updated_at: now, ..step.after };
    let step = MaintenanceTransition { after, entries: step.entries };
    if step.after.status == MaintenanceStatus::Cancelled {
        // The series must not create a cancelled occurrence again.
        occurrences::skip(&*write, &step.after).await?;
    }
    let touched = carry_out(&write, &step, now).await?;
    let reply = shown(&*write, caller.visibility(), &step.after, languages).await?;
    let reply = write.commit(reply).await?;
    notify_engine_of_window(state, caller, &touched).await;
    Ok(reply)
}

impl From<MaintenanceStateError> for ApiError {
    fn from(MaintenanceStateError { status, needed }: MaintenanceStateError) -> Self {
        Self::Conflict(StateConflict::Transition { status: status.as_str(), needed })
    }
}
