//! Reads a subscriber from a request body. Every field is read and every error collected; nothing is stored.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::field::BodyField;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::{LinkedIds, NullEntries};
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::statuspage::{Statuspage, used_locale};
use crate::model::subscriber::{
    ADDRESS_LENGTH, COMPONENTS_MAX, ChosenComponent, PageSubscriber, SubscriberOrigin, SubscriberStatus,
};
use crate::subscribers::address::{AddressFlaw, EnteredAddress, SubscriberVault, draw_webhook_secret};

/// A subscriber to be stored.
pub(super) struct SubscriberDraft {
    pub(super) subscriber: PageSubscriber,
    /// The secret of a webhook in clear, which is shown once.
    pub(super) secret: Option<String>,
}

/// Reads subscribers of one page.
pub(super) struct SubscriberParser<'a> {
    pub(super) sealer: &'a SecretSealer,
    pub(super) organisation: &'a Organisation,
    pub(super) page: &'a Statuspage,
    /// Database keys of the components of the page, by id.
    pub(super) components: HashMap<Id, i64>,
    /// True if the server has a mail server to send through.
    pub(super) sends_mails: bool,
    pub(super) now: Timestamp,
}

impl SubscriberParser<'_> {
    /// Reads the body of a create request.
    ///
    /// # Errors
    /// 422 with the errors of all fields; 500 if the operating system provides no randomness.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<SubscriberDraft, ApiError> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let channel = fields.required("channel").and_then(|field| self.read_channel(&field));
        let address = fields.required("address").and_then(|field| read_address(&field, channel));
        let components = self.read_components(&fields, &errors);
        let language = fields.optional("language").and_then(|field| self.read_language(&field));
        let skips = fields.optional("skip_confirmation").and_then(|field| field.boolean()).unwrap_or(false);
        if skips && channel.is_some_and(|channel| channel != SubscriberChannel::Email) {
            fields.refuse("skip_confirmation", FieldRule::NotConfirmed);
        }
        let read = errors.into_inner().into_result(channel.zip(address))?;
        // Without channel or address there are errors.
        let (channel, entered) = read.ok_or(ApiError::NotFound)?;
        let id = Id::random();
        let vault =
            SubscriberVault { sealer: self.sealer, organisation: self.organisation.id, subscriber: id };
        let secret = (channel == SubscriberChannel::Webhook).then(draw_webhook_secret).transpose();
        let secret = secret.map_err(|error| ApiError::Internal(anyhow::anyhow!("no randomness: {error}")))?;
        let status = if skips { SubscriberStatus::Active } else { SubscriberStatus::Pending };
        let subscriber = PageSubscriber {
            key: 0,
            id,
            page: self.page.key,
            channel,
            address: vault.seal_address(&entered),
            components,
            language: language.unwrap_or_else(|| self.page.effective_default_locale(self.organisation)),
            status,
            disabled_reason: None,
            refusals: 0,
            secret: secret.as_deref().map(|secret| vault.seal_secret(secret)),
            origin: SubscriberOrigin::Client,
            asked_at: (!skips).then_some(self.now),
            confirmed_at: skips.then_some(self.now),
            created_at: self.now,
        };
        Ok(SubscriberDraft { subscriber, secret })
    }

    /// Reads a channel that the page offers and this server can send through.
    fn read_channel(&self, field: &BodyField<'_>) -> Option<SubscriberChannel> {
        let offered: Vec<&str> =
            self.page.subscriber_channels.iter().map(|channel| channel.as_str()).collect();
        let channel = field.word(&offered)?.parse().ok()?;
        if channel == SubscriberChannel::Email && !self.sends_mails {
            return field.refuse(FieldRule::MailMissing);
        }
        Some(channel)
    }

    /// Reads the chosen components; `None` = all, also for null and an empty list.
    fn read_components(
        &self,
        fields: &BodyFields<'_>,
        errors: &ErrorCollector,
    ) -> Option<Vec<ChosenComponent>> {
        let FieldPatch::Value(field) = fields.nullable("component_ids") else { return None };
        let ids = LinkedIds::read(&field, COMPONENTS_MAX, NullEntries::Refused)?;
        let keys = ids.resolve("component", &self.components, errors);
        let chosen = ids.ids().into_iter().zip(keys).map(|(id, key)| ChosenComponent { key, id });
        Some(chosen.collect::<Vec<_>>()).filter(|chosen| !chosen.is_empty())
    }

    fn read_language(&self, field: &BodyField<'_>) -> Option<String> {
        let language = field.string()?.trim();
        let offered = self.page.effective_locales(self.organisation);
        used_locale(language, &offered).cloned().or_else(|| field.refuse(FieldRule::LocaleSubset))
    }
}

/// Reads the address of the channel. Without a valid channel only the length is checked.
fn read_address(field: &BodyField<'_>, channel: Option<SubscriberChannel>) -> Option<EnteredAddress> {
    let text = field.text(ADDRESS_LENGTH)?;
    match EnteredAddress::read(channel?, &text) {
        Ok(entered) => Some(entered),
        Err(AddressFlaw::Email) => field.refuse(FieldRule::Email),
        Err(AddressFlaw::Url) => field.refuse(FieldRule::TargetUrl),
        Err(AddressFlaw::Telegram) => field.refuse(FieldRule::Form("the token of a bot, a slash and a chat")),
    }
}
