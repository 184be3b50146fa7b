//! `/v1/notices`: events other than incidents, current and past.

pub(in crate::http) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::notices::view::NoticeView;
use crate::http::v1::state::AppState;
use crate::store::notices;

pub(super) async fn list_notices(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let mut errors = FieldErrors::default();
    let lasts = query.boolean("lasts", &mut errors);
    let lasts = errors.into_result(lasts).map_err(ApiError::Fields)?;
    let main = state.databases.main.reader();
    let (rows, total) = notices::list(main, caller.visibility(), lasts, request.window()).await?;
    let rows = rows.iter().map(|notice| to_json(&NoticeView::of(notice))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}
