//! `GET /v1/oncall/current`: the contact on duty in each schedule, the end of the shift, and the next contact.

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::duty::view::CurrentView;
use crate::http::v1::state::AppState;
use crate::model::oncall::duty_status::DutyStatus;
use crate::model::time_range::TimeRange;
use crate::store::contacts;
use crate::store::oncall::{rosters, schedules};

pub(in crate::http::v1) async fn show_current_duty(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, .. } = call;
    let now = state.now();
    let main = state.databases.main.reader();
    let all = schedules::all(main, caller.organisation.key).await?;
    let stored = rosters::of_schedules(main, all, TimeRange { from: now, to: now.plus_ms(1) }).await?;
    let work = tokio::task::spawn_blocking(move || {
        let presents: Vec<DutyStatus> = stored.iter().map(|stored| stored.roster().present(now)).collect();
        (stored, presents)
    });
    let (stored, presents) = work.await.map_err(|error| ApiError::Internal(error.into()))?;
    let shifts = presents.iter().flat_map(|present| [present.on_duty, present.next]).flatten();
    let names = contacts::by_key(main, shifts.map(|shift| shift.contact)).await?;
    let shown = stored.iter().zip(&presents);
    let rows: Vec<_> =
        shown.map(|(stored, present)| to_json(&CurrentView::of(&stored.schedule, present, &names))).collect();
    Ok(ApiReply::data(rows.into()))
}
