//! Describes `/v1/meta/channel-types`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiOperation, enveloped};
use crate::http::openapi::shape::{ApiSchema, map_of, named, view};
use crate::http::v1::channel_types::view::{ChannelFieldView, ChannelTypeView};

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, ApiSchema)> {
    vec![("ChannelType", view::<ChannelTypeView>()), ("ChannelField", view::<ChannelFieldView>())]
}

pub(in crate::http::v1) fn show_channel_types() -> ApiOperation {
    let types = map_of(named("ChannelType")).says("By key.");
    let shown = json!({"data": {"webhook": {
        "key": "webhook", "label": "Webhook", "description": "Sends signed JSON to a program of yours.",
        "fields": [{"name": "url", "type": "url", "label": "Address", "help": "Where the messages go.",
            "required": true, "secret": false, "max_length": 2048}],
    }}});
    ApiOperation::new(
        HttpVerb::Get,
        "/v1/meta/channel-types",
        "show_channel_types",
        "Show the kinds of notification channels",
    )
    .answers(200, "The channel kinds and their settings.", enveloped(types), Some(shown))
}
