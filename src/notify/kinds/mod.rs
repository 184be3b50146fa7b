//! The kinds of channels: the settings of each, the request for a message, and the meaning of an answer. One file per kind.
//!
//! The kinds form a catalogue like that of check types: from the same definitions the API lists the kinds and validates
//! requests of clients, and the courier builds its requests. Nothing here opens a connection.

mod answer;
mod definition;
mod discord;
mod email;
mod field;
#[cfg(test)]
mod fixture;
mod gotify;
mod matrix;
mod ntfy;
mod opsgenie;
mod outgoing;
mod pagerduty;
mod settings;
mod slack;
mod summary;
mod teams;
mod telegram;
mod template;
mod webhook;

pub use answer::{ChannelReply, ReplyMeaning, meaning_of_status};
pub use definition::{ChannelDefinition, DigestPolicy};
pub use field::{ChannelField, FieldShape, HEADER_LENGTH, any_line, is_header_name, is_header_value, is_url};
pub use outgoing::{
    MailCredentials, MailEncryption, MessageEnvelope, OutgoingDelivery, OutgoingMail, OutgoingRequest,
    UnusableSetting,
};
pub use settings::OpenSettings;
pub use template::template_flaw;

use crate::model::notification::ChannelKind;

/// Returns the catalogue's entry for a kind.
#[must_use]
pub const fn definition(kind: ChannelKind) -> &'static ChannelDefinition {
    match kind {
        ChannelKind::Webhook => &webhook::DEFINITION,
        ChannelKind::Slack => &slack::DEFINITION,
        ChannelKind::Discord => &discord::DEFINITION,
        ChannelKind::Teams => &teams::DEFINITION,
        ChannelKind::Telegram => &telegram::DEFINITION,
        ChannelKind::Pagerduty => &pagerduty::DEFINITION,
        ChannelKind::Opsgenie => &opsgenie::DEFINITION,
        ChannelKind::Ntfy => &ntfy::DEFINITION,
        ChannelKind::Gotify => &gotify::DEFINITION,
        ChannelKind::Matrix => &matrix::DEFINITION,
        ChannelKind::Email => &email::DEFINITION,
        ChannelKind::Template => &template::DEFINITION,
    }
}
