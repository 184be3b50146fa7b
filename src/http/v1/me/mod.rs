//! `GET /v1/me`: what the calling token is and may (contract 4.17). The bare object, on every plan.

pub(super) mod openapi;
mod view;

use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::Reply;
use crate::http::kit::view::to_json;
use crate::http::v1::me::view::MeView;
use crate::http::v1::state::AppState;
use crate::store::usage;

pub(super) async fn show_me(call: Call<AppState>) -> Result<Reply, ApiError> {
    let Call { state, caller, .. } = call;
    let main = state.databases.main.reader();
    let usage = usage::count(main, caller.organisation.key).await?;
    Ok(Reply::ok(to_json(&MeView::of(&caller, state.config.rate_limit_per_minute, usage))))
}
