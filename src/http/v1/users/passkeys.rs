//! The passkeys of a user: listed, and deleted. Only the user adds one, at the device.

use serde_json::json;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::users::draft::refuse_beyond;
use crate::http::v1::users::view::PasskeyView;
use crate::store::{console_users, passkeys};

pub(in crate::http) async fn list_passkeys(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let user = resource_lookup::find_or_404(&call, console_users::find).await?;
    let passkeys = passkeys::of_user(call.state.databases.main.reader(), user.key).await?;
    Ok(ApiReply::data(passkeys.iter().map(|passkey| to_json(&PasskeyView::of(passkey))).collect()))
}

pub(in crate::http) async fn delete_passkey(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let user = resource_lookup::find_or_404(&call, console_users::find).await?;
    let id = call.path.id(1)?;
    refuse_beyond(&call.caller, &user).map_err(ApiError::Fields)?;
    let ApiCall { state, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let passkeys = passkeys::of_user(&*write, user.key).await?;
    let passkey = passkeys.iter().find(|passkey| passkey.id == id).ok_or(ApiError::NotFound)?;
    let mut replaced = to_json(&PasskeyView::of(passkey));
    // The entry in the audit log says whose passkey it was.
    replaced["user"] = json!(user.name);
    write.replaces(replaced);
    if !passkeys::delete(&*write, user.key, id).await? {
        return Err(ApiError::NotFound);
    }
    write.commit(ApiReply::deleted(id)).await
}
