//! `/v1/oncall/schedules`: layers of rotations in a time zone.
//!
//! Bodies are read in `draft`, their layers in `layers`; `view` is the JSON. The resulting shifts are in `duty`.

pub(super) mod draft;
mod layers;
pub(in crate::http) mod openapi;
mod view;

pub(in crate::http::v1::oncall) use openapi::{example_layers, write};

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::quota::PlanQuota;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::schedules::draft::OncallScheduleParser;
use crate::http::v1::oncall::schedules::view::ScheduleView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::oncall::schedule::{OncallSchedule, SCHEDULES_MAX};
use crate::store::escalation_policies;
use crate::store::oncall::schedules;

pub(in crate::http::v1) async fn list_oncall_schedules(
    call: ApiCall<AppState>,
) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (schedules, total) = schedules::list(main, caller.visibility(), request.window()).await?;
    let rows = schedules.iter().map(|schedule| to_json(&ScheduleView::of(schedule))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(in crate::http::v1) async fn show_oncall_schedule(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let schedule = resource_lookup::find_or_404(&call, schedules::find).await?;
    Ok(ApiReply::data(to_json(&ScheduleView::of(&schedule))))
}

pub(in crate::http::v1) async fn create_oncall_schedule(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let draft = OncallScheduleParser::begin(&*write, &caller, state.created_at()).await?;
    let schedule = draft.read_new(&body).map_err(ApiError::Fields)?;
    let count = schedules::count(&*write, caller.organisation.key).await?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(PlanQuota::OncallSchedules, caller.limits.oncall_schedules, usage).await?;
    if count >= SCHEDULES_MAX {
        return Err(ApiError::Fields(FieldErrors::of("name", FieldRule::TooMany(SCHEDULES_MAX))));
    }
    let schedule = schedules::insert(&*write, schedule).await?;
    let location = format!("{}/v1/oncall/schedules/{}", state.base_url, schedule.id);
    write.commit(ApiReply::created(to_json(&ScheduleView::of(&schedule)), &location)).await
}

pub(in crate::http::v1) async fn update_oncall_schedule(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, schedules::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, schedules::find).await?;
    write.replaces(to_json(&ScheduleView::of(&stored)));
    let now = state.now();
    let draft = OncallScheduleParser::begin(&*write, &caller, now).await?;
    let mut schedule = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if schedule != stored {
        schedule = OncallSchedule { updated_at: now, ..schedule };
        schedules::update(&*write, &schedule).await?;
    }
    write.commit(ApiReply::data(to_json(&ScheduleView::of(&schedule)))).await
}

pub(in crate::http::v1) async fn delete_oncall_schedule(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, schedules::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let schedule = resource_lookup::lock_or_404(&write, &caller, id, schedules::find).await?;
    write.replaces(to_json(&ScheduleView::of(&schedule)));
    let owner = caller.organisation.key;
    let users = escalation_policies::names_of_schedule(&*write, owner, schedule.key).await?;
    if !users.is_empty() {
        let rule = FieldRule::ScheduleInUse(users.join(", "));
        return Err(ApiError::Fields(FieldErrors::of("oncall_schedule", rule)));
    }
    schedules::delete(&*write, schedule.key).await?;
    write.commit(ApiReply::deleted(id)).await
}
