//! The shifts of a schedule in a period, and a preview of the shifts of a schedule in a body, which is not stored.
//!
//! The calculation takes a while for long periods. It runs on a separate thread, before the transaction that stores the
//! response begins.

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::duty::view::DutyView;
use crate::http::v1::oncall::period::{read_asked, read_sent};
use crate::http::v1::oncall::schedules::draft::OncallScheduleParser;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::oncall::schedule::OncallSchedule;
use crate::model::time_range::TimeRange;
use crate::store::oncall::{rosters, schedules};
use crate::store::{StoreConnection, contacts};

pub(in crate::http::v1) async fn show_oncall_shifts(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let schedule = resource_lookup::find_or_404(&call, schedules::find).await?;
    let ApiCall { state, query, .. } = call;
    let range = read_asked(&query, state.now()).map_err(ApiError::Fields)?;
    reply_with_duty(state.databases.main.reader(), schedule, range).await
}

pub(in crate::http::v1) async fn preview_new_schedule(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let now = state.now();
    let main = state.databases.main.reader();
    let draft = OncallScheduleParser::begin(main, &caller, now).await?;
    let (schedule, range) = both(draft.read_new(&body), read_sent(&body, now))?;
    let reply = reply_with_duty(main, schedule, range).await?;
    effect.begin(&state.databases.main).await?.commit(reply).await
}

pub(in crate::http::v1) async fn preview_changed_schedule(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let stored = resource_lookup::find_or_404(&call, schedules::find).await?;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let now = state.now();
    let main = state.databases.main.reader();
    let draft = OncallScheduleParser::begin(main, &caller, now).await?;
    let (schedule, range) = both(draft.read_changes(&body, &stored), read_sent(&body, now))?;
    let reply = reply_with_duty(main, schedule, range).await?;
    effect.begin(&state.databases.main).await?.commit(reply).await
}

/// Returns both values, or the errors of both.
fn both(
    schedule: Result<OncallSchedule, FieldErrors>,
    range: Result<TimeRange, FieldErrors>,
) -> Result<(OncallSchedule, TimeRange), ApiError> {
    match (schedule, range) {
        (Ok(schedule), Ok(range)) => Ok((schedule, range)),
        (Err(mut errors), range) => {
            errors.extend(range.err().unwrap_or_default());
            Err(ApiError::Fields(errors))
        }
        (Ok(_), Err(errors)) => Err(ApiError::Fields(errors)),
    }
}

/// Responds with 200 and the duty of a schedule; overrides and absences take precedence over its layers.
async fn reply_with_duty(
    connection: &dyn StoreConnection,
    schedule: OncallSchedule,
    range: TimeRange,
) -> Result<ApiReply, ApiError> {
    let stored = rosters::of_schedules(connection, vec![schedule], range).await?;
    let work = tokio::task::spawn_blocking(move || {
        let duties: Vec<_> = stored.iter().map(|stored| stored.roster().duty(range)).collect();
        (stored, duties)
    });
    let (stored, duties) = work.await.map_err(|error| ApiError::Internal(error.into()))?;
    let found = stored.iter().zip(duties).next();
    let (stored, duty) = found.ok_or(ApiError::NotFound)?;
    let names = contacts::by_key(connection, duty.shifts.iter().map(|shift| shift.contact)).await?;
    Ok(ApiReply::data(to_json(&DutyView::of(&stored.schedule, range, &duty, &names))))
}
