//! `/v1/oncall/cover-requests`: a contact asks another one, or all contacts of a schedule, to take over duty for a period.
//!
//! Bodies are read in `draft`, `view` is the JSON, and `answer` accepts, declines and cancels.

pub(in crate::http::v1) mod answer;
mod draft;
pub(in crate::http) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::oncall::cover_requests::draft::CoverRequestParser;
use crate::http::v1::oncall::cover_requests::view::CoverRequestView;
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::oncall::{check_entry_limit, filter};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::oncall::cover::CoverStatus;
use crate::store::oncall::{cover_requests, schedules};

pub(in crate::http::v1) async fn list_cover_requests(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let mut errors = FieldErrors::default();
    let statuses = query.words("status", CoverStatus::WORDS, &mut errors);
    let asked = filter::read(&query, &mut errors);
    let asked = errors.into_result(asked).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (main, now) = (state.databases.main.reader(), state.now());
    let filter = asked.resolve(&OncallLinks::find(main, &caller).await?);
    let (requests, total) =
        cover_requests::list(main, caller.visibility(), &filter, &statuses, now, request.window()).await?;
    let rows = requests.iter().map(|request| to_json(&CoverRequestView::of(request, now))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(in crate::http::v1) async fn show_cover_request(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let request = resource_lookup::find_or_404(&call, cover_requests::find).await?;
    Ok(ApiReply::data(to_json(&CoverRequestView::of(&request, call.state.now()))))
}

pub(in crate::http::v1) async fn create_cover_request(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let now = state.created_at();
    let owner = caller.organisation.key;
    let draft = CoverRequestParser {
        organisation: owner,
        known: OncallLinks::find(&*write, &caller).await?,
        schedules: schedules::all(&*write, owner).await?,
        now,
    };
    let request = draft.read_new(&body).map_err(ApiError::Fields)?;
    check_entry_limit(cover_requests::make_room(&*write, owner, state.guard.trusted_now()).await?)?;
    let request = cover_requests::insert(&*write, request).await?;
    let location = format!("{}/v1/oncall/cover-requests/{}", state.base_url, request.id);
    write.commit(ApiReply::created(to_json(&CoverRequestView::of(&request, now)), &location)).await
}
