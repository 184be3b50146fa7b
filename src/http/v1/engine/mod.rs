//! `GET /v1/engine`: the state of this process, and its share of a cluster, for operators. Contains no data of
//! organisations. `/v1/engine/backups`: backups of this server.

mod backups;
pub(super) mod openapi;
mod ownership;
mod queues;
mod view;

pub(super) use backups::{create_backup, list_backups};

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::engine::ownership::OwnershipView;
use crate::http::v1::engine::queues::QueuesView;
use crate::http::v1::engine::view::{ActorView, EngineView};
use crate::http::v1::state::AppState;
use crate::http::v1::warnings::warnings;

pub(super) async fn show_engine(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let state = call.state;
    let is_alive = state.engine.is_alive().await;
    let (states, figures) = (state.supervisor.states(), state.figures.read());
    Ok(ApiReply::data(to_json(&EngineView {
        started_at: state.engine.started_at(),
        is_alive,
        warnings: warnings(&state).await,
        actors: ActorView::all(&states),
        ownership: OwnershipView::of(&state.router.ownership, figures.share),
        queues: QueuesView::of(&figures, &state.compiler.roster, state.now()),
    })))
}
