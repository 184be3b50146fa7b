//! The catalogue entry of a kind of channel: its settings, how a message is composed for it, and the meaning of answers.

use std::fmt;

use super::answer::{ChannelReply, ReplyMeaning};
use super::field::ChannelField;
use super::outgoing::{MessageEnvelope, OutgoingDelivery, UnusableSetting};
use crate::model::notification::ChannelKind;

/// The definition of one kind of channel.
pub struct ChannelDefinition {
    /// The kind of channel that is defined.
    pub kind: ChannelKind,
    /// Short name, shown in forms.
    pub label: &'static str,
    /// One or two sentences, shown in forms: what the channel does, and where to find its settings.
    pub description: &'static str,
    /// Use of digests, which combine several messages.
    pub digests: DigestPolicy,
    /// The settings of this kind, in the order of the form.
    pub fields: &'static [ChannelField],
    /// Creates the request for a message.
    pub compose: fn(&MessageEnvelope<'_>) -> Result<OutgoingDelivery, UnusableSetting>,
    /// Returns the meaning of an answer; most kinds use `meaning_of_status`.
    pub judge: fn(&ChannelReply<'_>) -> ReplyMeaning,
}

/// Use of digests, which combine several messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestPolicy {
    /// Digests by default when messages are frequent, because people read them.
    Usual,
    /// Digests on request only, because a program reads the messages.
    IfWanted,
    /// No digests, because each message changes an alert of its own.
    Never,
}

impl fmt::Debug for ChannelDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl ChannelDefinition {
    /// Returns the setting with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static ChannelField> {
        self.fields.iter().find(|field| field.name == name)
    }
}
