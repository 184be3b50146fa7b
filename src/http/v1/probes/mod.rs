//! `GET /v1/probes`: the active monitoring locations (contract 4.1), as a whole collection.

pub(super) mod openapi;
mod view;

use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::page::{Page, PageRequest};
use crate::http::kit::reply::Reply;
use crate::http::kit::view::to_json;
use crate::http::v1::probes::view::ProbeView;
use crate::http::v1::state::AppState;

pub(super) async fn list_probes(call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, query, canonical_path, .. } = call;
    let mut known = state.definer.roster.all();
    known.sort_by(|left, right| left.location.code.cmp(&right.location.code));
    let total = known.len() as u64;
    let request = PageRequest::read_whole(&query, total);
    let now = state.now();
    let known = request.cut(known);
    let rows = known.iter().map(|known| to_json(&ProbeView::of(known, &caller, now))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}
