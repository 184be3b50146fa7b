//! `GET /v1/engine`: how the parts of this process are doing, for operators. Nothing of any organisation is in it.

pub(super) mod openapi;
mod view;

use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::Reply;
use crate::http::kit::view::to_json;
use crate::http::v1::engine::view::EngineView;
use crate::http::v1::state::AppState;

pub(super) async fn show_engine(call: Call<AppState>) -> Result<Reply, ApiError> {
    let state = call.state;
    let is_alive = state.engine.is_alive().await;
    let states = state.supervisor.states();
    Ok(Reply::data(to_json(&EngineView::of(state.engine.started_at(), is_alive, &states))))
}
