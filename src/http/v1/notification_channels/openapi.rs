//! Describes `/v1/notification-channels`.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, boolean, object, view};
use crate::http::v1::channel_types;
use crate::http::v1::notification_channels::test::ChannelTestView;
use crate::http::v1::notification_channels::view::{
    NotificationChannelView, applies_to, digest_above, events, kind, min_severity, name, service_ids,
    settings, tag_ids,
};
use crate::http::v1::quiet_hours::quiet_hours;

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/notification-channels";
const ITEM: &str = "/v1/notification-channels/{id}";
const TEST: &str = "/v1/notification-channels/{id}/test";

pub(in crate::http) fn chapter() -> ApiChapter {
    let mut schemas = vec![
        ("NotificationChannel", view::<NotificationChannelView<'_>>()),
        ("ChannelTest", view::<ChannelTestView>()),
        ("CreateNotificationChannel", write().may_have("kind", kind()).needs(&["kind", "name", "settings"])),
        ("UpdateNotificationChannel", write().may_have("kind", kind())),
    ];
    schemas.extend(channel_types::openapi::schemas());
    let about = "Where notifications are sent: e-mail, chat, webhooks and others.";
    ApiChapter { name: "Notification channels", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let channel = example(EXAMPLE);
    let name = "NotificationChannel";
    let create = json!({
        "kind": "webhook", "name": "Our own program",
        "settings": {"url": "https://hooks.example.com/watchkeeper",
            "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
    });
    let tested = json!({"outcome": "delivered", "status_code": 204, "detail": "", "took_ms": 84});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_notification_channels", "List notification channels")
            .paged(DEFAULT_PER_PAGE)
            .lists("Channels, the oldest first.", name, &channel),
        ApiOperation::new(HttpVerb::Post, LIST, "create_notification_channel", "Create a notification channel")
            .takes("CreateNotificationChannel", Some(create))
            .creates("The new channel.", name, &channel)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_notification_channel", "Show a notification channel").shows(
            "The channel.",
            name,
            &channel,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_notification_channel", "Change a notification channel")
            .says("`settings` change key by key; null removes one. Waiting messages are retried at once.")
            .takes("UpdateNotificationChannel", Some(json!({"min_severity": "critical"})))
            .shows("The changed channel.", name, &channel)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_notification_channel", "Delete a notification channel")
            .says("Deletes its waiting and sent messages as well. 422 while a step of an escalation policy names it.")
            .deletes("Deleted.")
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, TEST, "test_notification_channel", "Send a test message")
            .says("Sent at once, without retries, and also through a disabled channel; `/v1/notifications` does not show it.")
            .shows("The outcome.", "ChannelTest", &tested),
        channel_types::openapi::show_channel_types(),
    ]
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("name", name())
        .may_have("is_enabled", boolean())
        .may_have("settings", settings())
        .may_have("events", events())
        .may_have("min_severity", min_severity())
        .may_have("applies_to", applies_to())
        .may_have("tag_ids", tag_ids())
        .may_have("service_ids", service_ids())
        .may_have("quiet_hours", quiet_hours())
        .may_have("digest_above", digest_above())
}
