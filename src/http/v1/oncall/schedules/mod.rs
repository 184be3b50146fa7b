//! `/v1/oncall/schedules`: layers of rotations in a time zone.
//!
//! Reading a body is in `draft`, its layers in `layers`, the view in `view`. The resulting shifts are in `duty`.

pub(super) mod draft;
mod layers;
pub(in crate::http) mod openapi;
mod view;

pub(in crate::http::v1::oncall) use openapi::{example_layers, write};

use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::quota::Quota;
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::slot::take_slot;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::oncall::schedules::draft::Draft;
use crate::http::v1::oncall::schedules::view::ScheduleView;
use crate::http::v1::state::AppState;
use crate::model::oncall::schedule::{SCHEDULES_MAX, Schedule};
use crate::store::escalation_policies;
use crate::store::oncall::schedules;

pub(in crate::http::v1) async fn list_oncall_schedules(call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let (schedules, total) = schedules::list(main, caller.sight(), request.window()).await?;
    let rows = schedules.iter().map(|schedule| to_json(&ScheduleView::of(schedule))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(in crate::http::v1) async fn show_oncall_schedule(call: Call<AppState>) -> Result<Reply, ApiError> {
    let schedule = in_path::find(&call, schedules::find).await?;
    Ok(Reply::data(to_json(&ScheduleView::of(&schedule))))
}

pub(in crate::http::v1) async fn create_oncall_schedule(call: Call<AppState>) -> Result<Committed, ApiError> {
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let draft = Draft::begin(&*write, &caller, state.created_at()).await?;
    let schedule = draft.create(&body).map_err(ApiError::Fields)?;
    let count = schedules::count(&*write, caller.organisation.key).await?;
    let usage = async { Ok::<_, ApiError>(count) };
    take_slot(Quota::OncallSchedules, caller.limits.oncall_schedules, usage).await?;
    if count >= SCHEDULES_MAX {
        return Err(ApiError::Fields(FieldErrors::of("name", FieldRule::TooMany(SCHEDULES_MAX))));
    }
    let schedule = schedules::insert(&*write, schedule).await?;
    let location = format!("{}/v1/oncall/schedules/{}", state.base_url, schedule.id);
    write.commit(Reply::created(to_json(&ScheduleView::of(&schedule)), &location)).await
}

pub(in crate::http::v1) async fn update_oncall_schedule(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, schedules::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, schedules::find).await?;
    let now = state.now();
    let draft = Draft::begin(&*write, &caller, now).await?;
    let mut schedule = draft.update(&body, &stored).map_err(ApiError::Fields)?;
    if schedule != stored {
        schedule = Schedule { updated_at: now, ..schedule };
        schedules::update(&*write, &schedule).await?;
    }
    write.commit(Reply::data(to_json(&ScheduleView::of(&schedule)))).await
}

pub(in crate::http::v1) async fn delete_oncall_schedule(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, schedules::find).await?.id;
    let Call { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let schedule = in_path::find_for_update(&write, &caller, id, schedules::find).await?;
    let owner = caller.organisation.key;
    let users = escalation_policies::names_of_schedule(&*write, owner, schedule.key).await?;
    if !users.is_empty() {
        let rule = FieldRule::ScheduleInUse(users.join(", "));
        return Err(ApiError::Fields(FieldErrors::of("oncall_schedule", rule)));
    }
    schedules::delete(&*write, schedule.key).await?;
    write.commit(Reply::deleted(id)).await
}
