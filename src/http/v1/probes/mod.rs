//! `GET /v1/probes`: the active monitoring locations (contract 4.1), as a whole collection.

pub(super) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::page::{PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::probes::view::ProbeView;
use crate::http::v1::state::AppState;

pub(super) async fn list_probes(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let mut known = state.compiler.roster.all();
    known.sort_by(|left, right| left.location.code.cmp(&right.location.code));
    let total = known.len() as u64;
    let request = PageRequest::read_whole(&query, total);
    let now = state.now();
    let known = request.slice_rows(known);
    let rows = known.iter().map(|known| to_json(&ProbeView::of(known, &caller, now))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}
