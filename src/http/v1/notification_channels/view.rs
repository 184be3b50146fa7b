//! Channels as clients see them, with a placeholder in place of secrets.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, anything, enum_of, id, integer, list_of, map_of, text_in, timestamp,
};
use crate::http::v1::quiet_hours::{QuietHoursView, quiet_hours};
use crate::http::v1::routed_services::APPLIES_TO;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::digest::ABOVE;
use crate::model::notification::routing::{ResourceReference, SERVICES_MAX, TAGS_MAX};
use crate::model::notification::{ChannelKind, NAME_LENGTH, NotificationChannel, NotificationEvent};
use crate::notify::kinds::definition;

/// A notification channel: a destination of messages.
#[derive(Serialize, ToSchema)]
pub(super) struct NotificationChannelView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = name)]
    name: &'a str,
    /// True if messages are sent. If false, nothing is sent, and waiting messages are kept for a day.
    is_enabled: bool,
    #[schema(schema_with = settings)]
    settings: Map<String, Value>,
    #[schema(schema_with = events)]
    events: Vec<&'static str>,
    #[schema(schema_with = min_severity)]
    min_severity: &'static str,
    #[schema(schema_with = applies_to)]
    applies_to: &'static str,
    #[schema(schema_with = tag_ids)]
    tag_ids: Vec<Id>,
    #[schema(schema_with = service_ids)]
    service_ids: Vec<Id>,
    #[schema(schema_with = quiet_hours, required)]
    quiet_hours: Option<QuietHoursView>,
    #[schema(schema_with = digest_above, required)]
    digest_above: Option<u32>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> NotificationChannelView<'a> {
    /// Creates the view of a channel, with `placeholder` in place of secrets.
    pub(super) fn of(channel: &'a NotificationChannel, placeholder: &str) -> Self {
        let definition = definition(channel.kind);
        let is_secret = |name: &str| definition.field(name).is_none_or(|field| field.is_secret);
        let shown = channel.settings.iter().map(|(name, value)| {
            (name.clone(), if is_secret(name) { Value::from(placeholder) } else { value.clone() })
        });
        let routing = &channel.routing;
        let ids = |routed: &[ResourceReference]| routed.iter().map(|routed| routed.id).collect();
        let chosen = routing.selection.as_ref();
        Self {
            id: channel.id,
            kind: channel.kind.as_str(),
            name: &channel.name,
            is_enabled: channel.is_enabled,
            settings: shown.collect(),
            events: routing.events.iter().map(|event| event.as_str()).collect(),
            min_severity: routing.min_severity.as_str(),
            applies_to: APPLIES_TO[usize::from(chosen.is_some())],
            tag_ids: chosen.map(|chosen| ids(&chosen.tags)).unwrap_or_default(),
            service_ids: chosen.map(|chosen| ids(&chosen.services)).unwrap_or_default(),
            quiet_hours: routing.quiet.as_ref().map(QuietHoursView::of),
            digest_above: routing.digest_above,
            created_at: channel.created_at,
            updated_at: channel.updated_at,
        }
    }
}

pub(in crate::http::v1) fn kind() -> ApiSchema {
    enum_of(ChannelKind::WORDS).says("Never changes.")
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn settings() -> ApiSchema {
    map_of(anything())
        .says("As `GET /v1/meta/channel-types` describes them; secrets are shown as the placeholder.")
}

pub(super) fn events() -> ApiSchema {
    let words = "Events that this channel is notified of. A channel that was notified of an incident also gets its later changes.";
    list_of(enum_of(&NotificationEvent::CHOICE_WORDS))
        .items(1, NotificationEvent::CHOICE.len() * 2)
        .says(words)
}

pub(super) fn min_severity() -> ApiSchema {
    enum_of(Severity::WORDS).says("The least severity of which this channel is notified.")
}

pub(super) fn applies_to() -> ApiSchema {
    enum_of(&APPLIES_TO)
        .says("`selected`: only incidents that affect a service of `tag_ids` or `service_ids`.")
}

pub(super) fn tag_ids() -> ApiSchema {
    list_of(id()).items(0, TAGS_MAX).says("Services that carry one of these tags.")
}

pub(super) fn digest_above() -> ApiSchema {
    let words = "Messages a minute that are sent one by one; further ones are combined into one message at the end of the minute. Null: messages are never combined. 20 for a new channel that people read, null for the others.";
    integer().range(*ABOVE.start(), *ABOVE.end()).nullable().says(words)
}

pub(super) fn service_ids() -> ApiSchema {
    list_of(id()).items(0, SERVICES_MAX).says("These services.")
}
