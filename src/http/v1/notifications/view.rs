//! Messages to channels as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, integer, named, object, string, timestamp, timestamp_or_null,
};
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::notification::delivery::{Delivery, DeliveryAttempt, DeliveryOutcome, DeliveryStatus};
use crate::model::notification::digest::HoldReason;
use crate::model::notification::{ChannelKind, NotificationChannel, NotificationEvent};

#[derive(Serialize)]
pub(super) struct NotificationPageView {
    pub(super) data: Vec<NotificationView>,
    pub(super) links: NotificationLinksView,
    pub(super) meta: NotificationMetaView,
}

/// URLs of other pages; only the URL of the next page is ever set.
#[derive(Serialize)]
pub(super) struct NotificationLinksView {
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
    pub(super) prev: Option<String>,
    pub(super) next: Option<String>,
}

/// The size of the page, and the cursor of the next page.
#[derive(Serialize)]
pub(super) struct NotificationMetaView {
    pub(super) per_page: u64,
    pub(super) next_cursor: Option<String>,
}

/// A message to a channel.
#[derive(Serialize, ToSchema)]
pub(super) struct NotificationView {
    #[schema(schema_with = own_id)]
    id: Id,
    #[schema(schema_with = event)]
    event: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = channel)]
    channel: ChannelView,
    #[schema(schema_with = contact, required)]
    contact: Option<RecipientView>,
    #[schema(schema_with = incident_id, required)]
    incident_id: Option<String>,
    /// Summary of the message in one line.
    headline: String,
    tries: Vec<TryView>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = held_by, required)]
    held_by: Option<&'static str>,
    #[schema(schema_with = digest_id, required)]
    digest_id: Option<Id>,
    #[schema(schema_with = next_try_at, required)]
    next_try_at: Option<Timestamp>,
    #[schema(schema_with = timestamp_or_null, required)]
    ended_at: Option<Timestamp>,
}

/// The schema of a message's channel. It is a named schema, because code generators would name an inline one
/// `NotificationChannel`, which is the name of the whole channel.
fn channel() -> ApiSchema {
    named("NotificationChannelRef")
}

/// The channel that a message is sent to.
#[derive(Serialize, ToSchema)]
pub(super) struct ChannelView {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = kind)]
    kind: &'static str,
    name: String,
}

/// The contact that a message is sent to.
#[derive(Serialize)]
struct RecipientView {
    id: Id,
    name: String,
}

/// Channel and contact of a message.
#[derive(Clone, Copy)]
pub(super) struct NotificationTarget<'a> {
    pub(super) channel: &'a NotificationChannel,
    pub(super) contact: Option<&'a NamedContact>,
}

/// An attempt to deliver a message.
#[derive(Serialize, ToSchema)]
#[schema(as = NotificationTry)]
pub(super) struct TryView {
    #[schema(schema_with = number)]
    number: u32,
    #[schema(schema_with = timestamp)]
    at: Timestamp,
    #[schema(schema_with = took_ms)]
    took_ms: i64,
    #[schema(schema_with = outcome)]
    outcome: &'static str,
    #[schema(schema_with = status_code, required)]
    status_code: Option<u16>,
    /// The response or the error, truncated and without secrets.
    detail: String,
}

impl NotificationView {
    /// Creates the view of a message.
    pub(super) fn of(
        delivery: &Delivery,
        NotificationTarget { channel, contact }: NotificationTarget<'_>,
        tries: &[DeliveryAttempt],
    ) -> Self {
        let contact = contact.map(|contact| RecipientView { id: contact.id, name: contact.name.clone() });
        Self {
            id: delivery.id,
            event: delivery.message.event.as_str(),
            status: delivery.status.as_str(),
            channel: ChannelView { id: channel.id, kind: channel.kind.as_str(), name: channel.name.clone() },
            contact,
            incident_id: delivery.message.incident().map(|facts| facts.id.clone()),
            headline: delivery.message.headline(),
            tries: tries.iter().map(TryView::of).collect(),
            created_at: delivery.created_at,
            held_by: delivery.hold.map(|hold| hold.by.as_str()),
            digest_id: delivery.digest,
            next_try_at: delivery.due_at,
            ended_at: delivery.ended_at,
        }
    }
}

impl TryView {
    fn of(attempt: &DeliveryAttempt) -> Self {
        Self {
            number: attempt.number,
            at: attempt.at,
            took_ms: attempt.took_ms,
            outcome: attempt.outcome.as_str(),
            status_code: attempt.status_code,
            detail: attempt.detail.clone(),
        }
    }
}

fn own_id() -> ApiSchema {
    id().says("The receiver sees it too; it is the same for every attempt.")
}

fn event() -> ApiSchema {
    enum_of(NotificationEvent::WORDS)
}

fn status() -> ApiSchema {
    enum_of(DeliveryStatus::WORDS)
        .says("`dead`: given up, after a day or because the receiver refused it permanently; `gathered`: included in a digest.")
}

fn kind() -> ApiSchema {
    enum_of(ChannelKind::WORDS)
}

fn contact() -> ApiSchema {
    let words = "The contact that it is for; null: it is for everyone who reads the channel.";
    object().has("id", id()).has("name", string()).nullable().says(words)
}

fn incident_id() -> ApiSchema {
    id().nullable().says("The incident of the message.")
}

fn held_by() -> ApiSchema {
    enum_of(HoldReason::WORDS).nullable().says(
        "Why it was not sent at once: quiet hours, a digest, or a batch that waits for further services; null: it was not \
         held.",
    )
}

fn digest_id() -> ApiSchema {
    id().nullable().says("The digest that includes this message.")
}

fn next_try_at() -> ApiSchema {
    timestamp_or_null().says("Time of the next attempt. Null when there is none, or an earlier message about the same incident is still waiting.")
}

fn number() -> ApiSchema {
    integer().at_least(1)
}

fn took_ms() -> ApiSchema {
    integer().at_least(0)
}

fn outcome() -> ApiSchema {
    enum_of(DeliveryOutcome::WORDS)
}

fn status_code() -> ApiSchema {
    integer().nullable().says("HTTP status of the response; null without one.")
}
