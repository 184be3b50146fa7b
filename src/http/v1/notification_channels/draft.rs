//! Reads a channel from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::notification_channels::settings::read_settings;
use crate::http::v1::notification_channels::template_flaws::TemplateFlaws;
use crate::http::v1::quiet_hours::read_quiet_hours;
use crate::http::v1::routed_services::{APPLIES_TO, RoutingLinks};
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notification::digest::{ABOVE, USUAL_ABOVE};
use crate::model::notification::routing::{ChannelRouting, RoutedServices};
use crate::model::notification::{ChannelKind, NAME_LENGTH, NotificationChannel, NotificationEvent};
use crate::notify::kinds::{DigestPolicy, definition};
use crate::notify::sealed::ChannelVault;

/// Reads channels of one organisation.
pub(super) struct ChannelParser<'a> {
    /// State with the key that seals secrets.
    pub(super) state: &'a AppState,
    /// The caller, whose organisation owns the channel.
    pub(super) caller: &'a Caller,
    /// The tags and services that the body names, if they exist.
    pub(super) named: RoutingLinks,
    /// Errors of the templates in the body.
    pub(super) template_flaws: TemplateFlaws,
    pub(super) now: Timestamp,
}

impl ChannelParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<NotificationChannel, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH)).unwrap_or_default();
        let kind = fields.required("kind").and_then(|field| field.word(ChannelKind::WORDS)?.parse().ok());
        let usual = kind.filter(|kind| definition(*kind).digests == DigestPolicy::Usual).map(|_| USUAL_ABOVE);
        let channel = NotificationChannel {
            key: 0,
            id: Id::random(),
            organisation: self.caller.organisation.key,
            kind: kind.unwrap_or(ChannelKind::Webhook),
            name,
            is_enabled: true,
            settings: Map::new(),
            routing: ChannelRouting { digest_above: usual, ..ChannelRouting::default() },
            created_at: self.now,
            updated_at: self.now,
        };
        let settings = fields.required("settings").filter(|_| kind.is_some());
        let channel = self.read(&fields, settings.as_ref(), channel);
        errors.into_inner().into_result(channel)
    }

    /// Reads the body of an update request, and returns the stored channel with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &NotificationChannel,
    ) -> Result<NotificationChannel, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        if let Some(kind) = fields.optional("kind")
            && kind.word(ChannelKind::WORDS).is_some_and(|kind| kind != stored.kind.as_str())
        {
            fields.refuse("kind", FieldRule::Immutable);
        }
        let channel =
            NotificationChannel { name: name.unwrap_or_else(|| stored.name.clone()), ..stored.clone() };
        let channel = self.read(&fields, fields.optional("settings").as_ref(), channel);
        errors.into_inner().into_result(channel)
    }

    /// Reads all fields except name and kind.
    fn read(
        &self,
        fields: &BodyFields<'_>,
        settings: Option<&BodyField<'_>>,
        channel: NotificationChannel,
    ) -> NotificationChannel {
        let vault = ChannelVault {
            sealer: &self.state.compiler.sealer,
            organisation: self.caller.organisation.id,
            channel: channel.id,
        };
        let keep = &self.state.config.compat.secret_placeholder;
        let settings = settings.and_then(|field| {
            let definition = definition(channel.kind);
            read_settings(field, definition, &channel.settings, &self.template_flaws, vault, keep)
        });
        let is_enabled = fields.optional("is_enabled").and_then(|field| field.boolean());
        NotificationChannel {
            is_enabled: is_enabled.unwrap_or(channel.is_enabled),
            settings: settings.unwrap_or(channel.settings),
            routing: self.read_routing(fields, channel.kind, channel.routing),
            ..channel
        }
    }

    fn read_routing(
        &self,
        fields: &BodyFields<'_>,
        kind: ChannelKind,
        stored: ChannelRouting,
    ) -> ChannelRouting {
        let events = fields.optional("events").and_then(|field| read_events(&field));
        let severity =
            fields.optional("min_severity").and_then(|field| field.word(Severity::WORDS)?.parse().ok());
        ChannelRouting {
            events: events.unwrap_or(stored.events),
            min_severity: severity.unwrap_or(stored.min_severity),
            selection: self.read_selection(fields, stored.selection),
            digest_above: fields
                .nullable("digest_above")
                .read(|field| read_digest_above(&field, kind))
                .or_stored(stored.digest_above),
            quiet: fields
                .nullable("quiet_hours")
                .read(|field| read_quiet_hours(&field))
                .or_stored(stored.quiet),
        }
    }

    /// Reads the services of the channel (`None` = all). `applies_to` decides whether services are selected; without it,
    /// they are selected if the body names tags or services.
    fn read_selection(
        &self,
        fields: &BodyFields<'_>,
        stored: Option<RoutedServices>,
    ) -> Option<RoutedServices> {
        let word = fields.optional("applies_to").and_then(|field| field.word(&APPLIES_TO).map(str::to_owned));
        let (tags, services) = (self.named.read_tags(fields), self.named.read_services(fields));
        let names_some = [&tags, &services].into_iter().flatten().any(|named| !named.is_empty());
        match word.as_deref() {
            Some("all") => None,
            None if stored.is_none() && !names_some => None,
            _ => {
                let stored = stored.unwrap_or_default();
                let chosen = RoutedServices {
                    tags: tags.unwrap_or(stored.tags),
                    services: services.unwrap_or(stored.services),
                };
                Some(chosen)
            }
        }
    }
}

fn read_digest_above(field: &BodyField<'_>, kind: ChannelKind) -> Option<u32> {
    if definition(kind).digests == DigestPolicy::Never {
        return field.refuse(FieldRule::NoDigests);
    }
    let number = field.integer(i64::from(*ABOVE.start())..=i64::from(*ABOVE.end()))?;
    u32::try_from(number).ok()
}

fn read_events(field: &BodyField<'_>) -> Option<Vec<NotificationEvent>> {
    let mut chosen = Vec::new();
    for entry in field.list(NotificationEvent::CHOICE.len() * 2)? {
        chosen.extend(
            entry
                .word(&NotificationEvent::CHOICE_WORDS)
                .and_then(|word| word.parse::<NotificationEvent>().ok()),
        );
    }
    let in_order: Vec<NotificationEvent> =
        NotificationEvent::CHOICE.into_iter().filter(|event| chosen.contains(event)).collect();
    if field.value().as_array().is_some_and(Vec::is_empty) {
        return field.refuse(FieldRule::MinItems(1));
    }
    Some(in_order)
}
