//! Subscribers of a status page as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, string, string_or_null, text_in, timestamp, timestamp_or_null,
};
use crate::id::Id;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{ADDRESS_LENGTH, COMPONENTS_MAX, PageSubscriber, SubscriberStatus};

/// An address to which news of a status page are sent.
#[derive(Serialize, ToSchema)]
pub(super) struct SubscriberView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = channel)]
    channel: &'static str,
    #[schema(schema_with = shown_address)]
    address: &'a str,
    #[schema(schema_with = shown_component_ids, required)]
    component_ids: Option<Vec<Id>>,
    #[schema(schema_with = language)]
    language: &'a str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = disabled_reason, required)]
    disabled_reason: Option<&'a str>,
    #[schema(schema_with = id)]
    statuspage_id: Id,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp_or_null, required)]
    confirmed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = secret)]
    secret: Option<&'a str>,
}

impl<'a> SubscriberView<'a> {
    /// Creates the view of a subscriber of this page.
    pub(super) fn of(page: Id, subscriber: &'a PageSubscriber) -> Self {
        Self::with_secret(page, subscriber, None)
    }

    /// Creates the view of a new subscriber, with the secret of a webhook in clear.
    pub(super) fn with_secret(page: Id, subscriber: &'a PageSubscriber, secret: Option<&'a str>) -> Self {
        let components = subscriber.components.as_ref();
        Self {
            id: subscriber.id,
            channel: subscriber.channel.as_str(),
            address: &subscriber.address.shown,
            component_ids: components.map(|chosen| chosen.iter().map(|component| component.id).collect()),
            language: &subscriber.language,
            status: subscriber.status.as_str(),
            disabled_reason: subscriber.disabled_reason.as_deref(),
            statuspage_id: page,
            created_at: subscriber.created_at,
            confirmed_at: subscriber.confirmed_at,
            secret,
        }
    }
}

pub(super) fn channel() -> ApiSchema {
    enum_of(SubscriberChannel::WORDS).says("One of the `subscriber_channels` of the page.")
}

fn shown_address() -> ApiSchema {
    string().says("Without the secret part: of Slack, Teams and Discord only the host, of Telegram no token.")
}

pub(super) fn address() -> ApiSchema {
    text_in(&ADDRESS_LENGTH).says(
        "An e-mail address; a URL for `webhook`, `slack`, `teams` and `discord`; for `telegram` the token of a bot, a slash \
         and a chat, as in `123456:ABC/@channel`, or `https://bots.example.com/bot123456:ABC/@channel` for a Bot API \
         server of your own.",
    )
}

fn shown_component_ids() -> ApiSchema {
    component_ids().says("Null: news of all components. Components that were deleted are no longer named.")
}

pub(super) fn component_ids() -> ApiSchema {
    let words = "Only news that affect these components, or components in these groups. Null or empty: all.";
    list_of(id()).items(0, COMPONENTS_MAX).nullable().says(words)
}

pub(super) fn language() -> ApiSchema {
    string().says("A language of the page; its default unless given.").example("en")
}

fn status() -> ApiSchema {
    enum_of(SubscriberStatus::WORDS).says(
        "`pending`: not confirmed yet, gets nothing; removed after a day. `disabled`: messages were refused, gets nothing.",
    )
}

fn disabled_reason() -> ApiSchema {
    string_or_null().says("The answer because of which the address was disabled.")
}

fn secret() -> ApiSchema {
    string().says("Signs the messages to a webhook (Standard Webhooks). Only in the answer that creates it.")
}
