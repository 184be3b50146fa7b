//! `GET /v1/meta/channel-types`: the kinds of notification channels and their settings.
//!
//! The same definitions validate the input of clients, so the shown settings are the accepted ones.

pub(super) mod openapi;
mod view;

use serde_json::Value;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::channel_types::view::ChannelTypeView;
use crate::http::v1::state::AppState;
use crate::model::notification::ChannelKind;
use crate::notify::kinds::definition;

pub(super) async fn show_channel_types(_: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let entries = ChannelKind::ALL
        .into_iter()
        .map(|kind| (kind.as_str().to_owned(), to_json(&ChannelTypeView::of(definition(kind)))));
    Ok(ApiReply::data(Value::Object(entries.collect())))
}
