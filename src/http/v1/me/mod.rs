//! `GET /v1/me`: the calling token and its permissions (contract 4.17), without `data` around them. Available on every plan.

pub(super) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::me::view::{CallerDetails, MeView};
use crate::http::v1::state::AppState;
use crate::store::{access_scopes, usage};

pub(super) async fn show_me(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, .. } = call;
    let main = state.databases.main.reader();
    let scope = access_scopes::find_confining(main, caller.visibility()).await?;
    // Usage counts rows of the whole organisation, so it is hidden from confined callers.
    let usage = match caller.visibility().is_confined() {
        true => None,
        false => Some(usage::count(main, caller.organisation.key).await?),
    };
    let beside = CallerDetails { scope: scope.as_ref(), usage };
    Ok(ApiReply::ok(to_json(&MeView::of(&caller, state.config.rate_limit_per_minute, beside))))
}
