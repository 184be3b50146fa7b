//! The sessions of a user: listed, and ended.

use serde_json::json;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::users::draft::refuse_beyond;
use crate::http::v1::users::view::SessionView;
use crate::store::{console_sessions, console_users};

pub(in crate::http) async fn list_sessions(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let user = resource_lookup::find_or_404(&call, console_users::find).await?;
    let now = call.state.now();
    let sessions = console_sessions::of_user(call.state.databases.main.reader(), user.key).await?;
    let valid = sessions.iter().filter(|session| session.is_valid(now));
    Ok(ApiReply::data(valid.map(|session| to_json(&SessionView::of(session))).collect()))
}

pub(in crate::http) async fn delete_session(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let user = resource_lookup::find_or_404(&call, console_users::find).await?;
    let id = call.path.id(1)?;
    refuse_beyond(&call.caller, &user).map_err(ApiError::Fields)?;
    let ApiCall { state, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let sessions = console_sessions::of_user(&*write, user.key).await?;
    let session = sessions.iter().find(|session| session.id == id).ok_or(ApiError::NotFound)?;
    let mut replaced = to_json(&SessionView::of(session));
    // The entry in the audit log says whose session it was.
    replaced["name"] = json!(user.name);
    write.replaces(replaced);
    console_sessions::delete(&*write, user.key, id).await?;
    write.commit(ApiReply::deleted(id)).await
}
