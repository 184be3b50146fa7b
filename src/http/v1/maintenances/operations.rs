//! Operations on a maintenance (contract 4.11.3): start, complete, cancel, extend.
//!
//! A wrong state is a conflict before the body is checked; the bodies of all but `extend` are not read.

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::gate::write::{Committed, Write};
use crate::http::kit::error::{ApiError, Conflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::Languages;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::in_path;
use crate::http::v1::maintenances::sharing::Hidden;
use crate::http::v1::maintenances::{extension, shown, stamp, tell_engine};
use crate::http::v1::state::AppState;
use crate::lifecycle::maintenances::carry_out;
use crate::model::maintenance::step::{Stamp, Step};
use crate::model::maintenance::{Maintenance, MaintenanceStatus, Operation, WrongState};
use crate::model::timeline_size::TimelineSize;
use crate::store::maintenances;
use crate::store::maintenances::series::occurrences;
use crate::store::maintenances::timeline;

pub(in crate::http) async fn start_maintenance(call: Call<AppState>) -> Result<Committed, ApiError> {
    operate(call, Step::start).await
}

pub(in crate::http) async fn complete_maintenance(call: Call<AppState>) -> Result<Committed, ApiError> {
    operate(call, Step::complete).await
}

pub(in crate::http) async fn cancel_maintenance(call: Call<AppState>) -> Result<Committed, ApiError> {
    operate(call, Step::cancel).await
}

pub(in crate::http) async fn extend_maintenance(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, maintenances::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, maintenances::find_for_update).await?;
    Hidden::of(&*write, &caller, stored.key).await?.refuse_shared()?;
    stored.allow(Operation::Extend)?;
    let now = state.now();
    let extension = extension::read(&body, stored.schedule, (&caller.organisation, now))?;
    if let Some(message) = &extension.message {
        let size = TimelineSize::of(&timeline::of(&*write, stored.key).await?);
        if !size.has_room_for(message) {
            return Err(ApiError::Fields(FieldErrors::of("message", FieldRule::TimelineFull)));
        }
    }
    let step = Step::extend(&stored, extension, stamp(&caller, now))?;
    let step = Step { after: step.after.adjusted(), entries: step.entries };
    finish((&state, &caller), write, step, &languages).await
}

async fn operate(
    call: Call<AppState>,
    act: impl FnOnce(&Maintenance, Stamp<'_>) -> Result<Step, WrongState>,
) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, maintenances::find).await?.id;
    let Call { state, caller, headers, effect, .. } = call;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, maintenances::find_for_update).await?;
    Hidden::of(&*write, &caller, stored.key).await?.refuse_shared()?;
    let step = act(&stored, stamp(&caller, state.now()))?;
    finish((&state, &caller), write, step, &languages).await
}

/// Stores the result of an operation, notifies the engine, and responds with the maintenance.
async fn finish(
    (state, caller): (&AppState, &Caller),
    write: Write,
    step: Step,
    languages: &Languages,
) -> Result<Committed, ApiError> {
    let now = state.now();
    let after = Maintenance { updated_at: now, ..step.after };
    let step = Step { after, entries: step.entries };
    if step.after.status == MaintenanceStatus::Cancelled {
        // An occurrence of a series is not created again.
        occurrences::skip(&*write, &step.after).await?;
    }
    let touched = carry_out(&write, &step, now).await?;
    let reply = shown(&*write, caller.sight(), &step.after, languages).await?;
    let reply = write.commit(reply).await?;
    tell_engine(state, caller, &touched).await;
    Ok(reply)
}

impl From<WrongState> for ApiError {
    fn from(WrongState { status, needed }: WrongState) -> Self {
        Self::Conflict(Conflict::Transition { status: status.as_str(), needed })
    }
}
