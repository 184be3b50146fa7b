//! Describes `/v1/notifications`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::{DEFAULT_PER_PAGE, MAX_PER_PAGE};
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, integer, list_of, named, object, string, string_or_null, url_or_null, view,
};
use crate::http::v1::notifications::view::{ChannelView, NotificationView, TryView};
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::DeliveryStatus;

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/notifications";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Notification", view::<NotificationView>()),
        ("NotificationChannelRef", view::<ChannelView>()),
        ("NotificationTry", view::<TryView>()),
        ("NotificationPage", page()),
        ("RedeliverNotifications", object().may_have("channel_id", id().nullable())),
    ];
    let about = "Every message for a channel, with each delivery attempt and its response.";
    ApiChapter { name: "Notifications", about, schemas, operations: operations() }
}

fn page() -> ApiSchema {
    let links = ["first", "last", "prev", "next"];
    let links = links.into_iter().fold(object(), |object, name| object.has(name, url_or_null()));
    let meta = object()
        .has("per_page", integer().range(1, u32::try_from(MAX_PER_PAGE).unwrap_or(u32::MAX)))
        .has("next_cursor", string_or_null());
    enveloped(list_of(named("Notification"))).has("links", links).has("meta", meta)
}

fn operations() -> Vec<ApiOperation> {
    let shown = example(EXAMPLE);
    let listed = json!({
        "data": [shown], "links": {"first": null, "last": null, "prev": null, "next": null},
        "meta": {"per_page": 15, "next_cursor": null},
    });
    let rows =
        integer().range(1, u32::try_from(MAX_PER_PAGE).unwrap_or(u32::MAX)).default_value(DEFAULT_PER_PAGE);
    let redelivered = enveloped(object().has("redelivered", integer().at_least(0)));
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_notifications", "List notifications")
            .says("The newest first. Walk the pages by `links.next`, or by `cursor`.")
            .asks_list(
                "status",
                list_of(enum_of(DeliveryStatus::WORDS)),
                "Only messages in one of these states.",
            )
            .asks_list("event", list_of(enum_of(NotificationEvent::WORDS)), "Only these events.")
            .asks("channel_id", id(), "Only messages for this channel.")
            .asks("incident_id", id(), "Only messages about this incident.")
            .asks("per_page", rows, "Rows per page; clamped.")
            .asks("cursor", string(), "The `next_cursor` of the page before.")
            .answers(200, "A page of messages.", named("NotificationPage"), Some(listed))
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Get, "/v1/notifications/{id}", "show_notification", "Show a notification")
            .shows("The message.", "Notification", &shown),
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/notifications/{id}/redeliver",
            "redeliver_notification",
            "Retry a dead notification",
        )
        .says("Answers 409 if a later message about the same subject has been delivered: it would arrive out of order.")
        .answers(
            200,
            "It is retried for another day.",
            redelivered.clone(),
            Some(json!({"data": {"redelivered": 1}})),
        )
        .refuses(&[409, 422]),
        ApiOperation::new(
            HttpVerb::Post,
            "/v1/notifications/redeliver",
            "redeliver_notifications",
            "Retry all dead notifications",
        )
        .says(
            "Without `channel_id` those of all channels. Messages that would arrive after a later one about the same subject \
             stay dead.",
        )
        .may_take("RedeliverNotifications", Some(json!({"channel_id": "sKq0Zb3vRrX8nWmT1dYcE"})))
        .answers(
            200,
            "They are retried for another day.",
            redelivered,
            Some(json!({"data": {"redelivered": 3}})),
        )
        .refuses(&[422]),
    ]
}
